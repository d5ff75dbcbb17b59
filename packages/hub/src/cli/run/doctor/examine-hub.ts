import { fieldsOf } from '@parley/protocol';

import type { Config } from '../../../config/schema.ts';
import type { Check } from './check.ts';
import { findHub } from '../../find-hub.ts';

/** What is said where none runs. */
export const NOT_RUNNING = 'not running';

/** A hub that is not running is no fault; one that runs and does not answer is, and so is one that does not hear the other nodes. */
export async function checkHub({ data }: Config): Promise<{ hub: Check; nodes?: Check }> {
  const name = 'hub';
  const found = findHub(data);
  if (found === undefined) return { hub: { name, ok: true, detail: NOT_RUNNING } };
  const where = `${found.url}, pid ${found.pid}, version ${found.version}`;
  try {
    const response = await fetch(`${found.url}/readyz`, { signal: AbortSignal.timeout(5_000) });
    const { degraded } = fieldsOf(await response.json());
    const hub = response.ok
      ? { name, ok: true, detail: `answers at ${where}` }
      : { name, ok: false, detail: `cannot write (${where}); its log on stderr says why` };
    return Array.isArray(degraded) && degraded.includes('bus') ? { hub, nodes: UNHEARD } : { hub };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { hub: { name, ok: false, detail: `does not answer at ${where}: ${why}` } };
  }
}

const UNHEARD: Check = {
  name: 'nodes',
  ok: false,
  detail:
    'the hub does not hear its other nodes and looks at the log each second instead; parley status says why',
};
