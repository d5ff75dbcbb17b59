import type { Presence } from '@parley/client';
import type { Door } from '@parley/runtimes';

import type { TakeOver } from './take-over.ts';

type PresenceStatus = Parameters<Presence['status']>;

const LOOK_MS = 1_000;

/**
 * Tells what the program is at, and who types there from elsewhere, whenever that has changed and stayed so for two looks;
 * returns how to end it.
 */
export function followState(
  { state, held }: { state: Door['state']; held: () => TakeOver['held'] },
  tell: (...status: PresenceStatus) => void,
): () => void {
  let before = '';
  let reported = JSON.stringify(['idle', {}]);
  const timer = setInterval(() => {
    const { state: at, detail } = state();
    const lock = held();
    const taken = lock === null ? {} : { taken_over_by: lock.holder, taken_over_until: lock.until };
    const seen = JSON.stringify([at, taken, ...(detail === undefined ? [] : [detail])]);
    const isSteady = seen === before;
    before = seen;
    if (!isSteady || seen === reported) return;
    reported = seen;
    if (at === 'idle') tell('online', taken);
    else if (at === 'working') tell('busy', taken);
    else
      tell('busy', { ...taken, waiting: 'prompt', ...(detail === undefined ? {} : { currentTask: detail }) });
  }, LOOK_MS);
  return () => clearInterval(timer);
}
