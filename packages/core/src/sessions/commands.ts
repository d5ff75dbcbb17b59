import type { ManagementMode, OutputOf, Session } from '@parley/protocol';

import type { Base } from '../command.ts';

export type Heartbeat = Base<
  'heartbeat',
  {
    runtime: string;
    status: Session['status'];
    resumable: boolean;
    management_mode: ManagementMode;
    native_session_id?: string | undefined;
  },
  OutputOf<'heartbeat_session'>
>;

/** What changes sessions. */
export type SessionCommands = Heartbeat;
