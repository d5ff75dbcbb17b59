import type { Presence } from '@parley/client';
import type { Door } from '@parley/runtimes';

type PresenceStatus = Parameters<Presence['status']>;

const LOOK_MS = 1_000;

/** Tells what the program is at whenever that has changed and stayed so for two looks; returns how to end it. */
export function followState(state: Door['state'], tell: (...status: PresenceStatus) => void): () => void {
  let before = '';
  let reported = JSON.stringify(['idle']);
  const timer = setInterval(() => {
    const { state: at, detail } = state();
    const seen = JSON.stringify([at, ...(detail === undefined ? [] : [detail])]);
    const isSteady = seen === before;
    before = seen;
    if (!isSteady || seen === reported) return;
    reported = seen;
    if (at === 'idle') tell('online');
    else if (at === 'working') tell('busy');
    else tell('busy', { waiting: 'prompt', ...(detail === undefined ? {} : { currentTask: detail }) });
  }, LOOK_MS);
  return () => clearInterval(timer);
}
