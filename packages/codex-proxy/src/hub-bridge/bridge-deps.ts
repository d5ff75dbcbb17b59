import type { TeamMail } from '@parley/mail';

import type { Log } from '../logger.ts';
import type { StateFile } from './bridge-state.ts';
import type { HubClients } from './hub-clients.ts';

/** What went over the bridge since it was opened. */
export interface BridgeCounts {
  /** Mails that were told at the hub. */
  to_hub: number;
  /** Messages that were put into inboxes. */
  to_mail: number;
  /** Mails that were too long for the hub and were cut there. */
  cut: number;
  /** What one side did not take; the log says why. */
  refused: number;
}

/** What both directions work with. */
export interface BridgeDeps {
  team: string;
  /** The user's home, as the place of members that have none. */
  home: string;
  mail: Pick<TeamMail, 'history' | 'send' | 'markRead' | 'members' | 'join'>;
  hubClients: HubClients;
  file: StateFile;
  counts: BridgeCounts;
  /** Hears why a name cannot speak now; undefined as soon as it can. */
  onProblem: (name: string, reason: string | undefined) => void;
  log: Log;
  stopping: AbortSignal;
}
