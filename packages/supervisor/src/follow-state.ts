import type { Agent } from '@parley/client';
import type { Door } from '@parley/runtimes';

type Status = Parameters<Agent['status']>;

const LOOK_MS = 1_000;

/** Tells what the program is at whenever that has changed and stayed so for two looks; returns how to end it. */
export function followState(state: Door['state'], tell: (...status: Status) => void): () => void {
  let before = '';
  let told = JSON.stringify(['idle']);
  const timer = setInterval(() => {
    const { state: at, detail } = state();
    const seen = JSON.stringify([at, ...(detail === undefined ? [] : [detail])]);
    const isSteady = seen === before;
    before = seen;
    if (!isSteady || seen === told) return;
    told = seen;
    if (at === 'idle') tell('online');
    else if (at === 'working') tell('busy');
    else tell('busy', { waiting: 'prompt', ...(detail === undefined ? {} : { currentTask: detail }) });
  }, LOOK_MS);
  return () => clearInterval(timer);
}
