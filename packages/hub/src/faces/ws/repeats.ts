import { hash } from 'node:crypto';

import { type Caller, LiveError, type LiveMessage } from '@parley/protocol';

/** Sees to it that a message that comes again under its id happens once. */
export interface Repeats {
  /** Does what a message asks for, unless that is done or under way: then it ends as the first did. */
  once(caller: Caller, message: LiveMessage, act: () => Promise<void>): Promise<void>;
}

/** How many messages are remembered; what is older the store still knows by its key. */
const REMEMBERED = 10_000;

export function createRepeats(): Repeats {
  const doneById = new Map<string, { digest: string; done: Promise<void> }>();
  return {
    once({ workspace_id, agent_id }, { id, type, target, payload }, act) {
      const key = `${workspace_id} ${agent_id} ${id}`;
      const digest = hash('sha256', JSON.stringify([type, target, payload]), 'base64');
      const known = doneById.get(key);
      if (known !== undefined) {
        if (known.digest === digest) return known.done;
        throw new LiveError('INVALID_COMMAND', 'another message had this id; use a new one for each', {
          field: 'id',
          reason: 'repeated_id',
        });
      }
      const done = act();
      doneById.set(key, { digest, done });
      // What was refused has not happened and may be tried again.
      done.catch(() => doneById.delete(key));
      const [oldest] = doneById.keys();
      if (doneById.size > REMEMBERED && oldest !== undefined) doneById.delete(oldest);
      return done;
    },
  };
}
