import { setTimeout as sleep } from 'node:timers/promises';

import type { HubProcess } from './hub-process.ts';

/** Nodes tell each other of what was spent every 50 ms (decision 0085); on a busy machine it takes some more. */
const TOLD_MS = 500;

/** Until each node of a hub knows what was spent at the others. */
export async function toldToAll({ pids }: Pick<HubProcess, 'pids'>): Promise<void> {
  if (pids.length > 1) await sleep(TOLD_MS);
}
