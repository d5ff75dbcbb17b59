import type { TeamMail } from '@parley/mail';
import { ParleyError } from '@parley/protocol';

import type { Log } from '../logger.ts';

/** Keeps the team's list of members true for the identities of this proxy. */
export interface Membership {
  join(identity: string, more: { cwd: string; model: string | undefined }): void;
  /** Takes those off the list whose proxy is gone and had no time for it. */
  sweep(isGone: (identity: string) => boolean): void;
  /** The proxy's own identity stays a member as long as it runs. */
  leave(identity: string): void;
  /** The proxy ends; settles when the list is as it should be, or was found impossible to write. */
  close(): Promise<void>;
}

/** The type of members that are sessions. */
export const SESSION_TYPE = 'codex';

/** Without a team there is nobody to tell; a list that cannot be written is told to the log. */
export function createMembership(
  mail: Pick<TeamMail, 'join' | 'leave' | 'members'>,
  log: Log,
  own: string,
): Membership {
  let last: Promise<void> = Promise.resolve();

  const then = (what: string, identity: string, act: () => Promise<unknown>): void => {
    last = last.then(act).then(
      () => {},
      (error: Error) => {
        const isTeamless = error instanceof ParleyError && error.code === 'NOT_FOUND';
        log(isTeamless ? 'debug' : 'warn', `the team was not told that an agent ${what}`, {
          identity,
          reason: error.message,
        });
      },
    );
  };

  const remove = (identity: string): void => then('leaves', identity, () => mail.leave(identity));

  return {
    sweep(isGone) {
      then('is gone', own, async () => {
        for (const { name, agent_type, is_ours } of await mail.members())
          if (is_ours && agent_type === SESSION_TYPE && isGone(name)) await mail.leave(name);
      });
    },
    join(identity, { cwd, model }) {
      then('joins', identity, () =>
        mail.join(identity, { agentType: SESSION_TYPE, cwd, ...(model === undefined ? {} : { model }) }),
      );
    },
    leave(identity) {
      if (identity !== own) remove(identity);
    },
    close() {
      remove(own);
      return last;
    },
  };
}
