import type { Config } from '../config/schema.ts';
import type { Check } from './examine.ts';
import { findHub } from './find-hub.ts';

/** A hub that is not running is no fault; one that runs and does not answer is. */
export async function checkHub({ data }: Config): Promise<Check> {
  const name = 'hub';
  const found = findHub(data);
  if (found === undefined) return { name, ok: true, detail: 'not running' };
  const where = `${found.url}, pid ${found.pid}, version ${found.version}`;
  try {
    const response = await fetch(`${found.url}/healthz`, { signal: AbortSignal.timeout(5_000) });
    return response.ok
      ? { name, ok: true, detail: `answers at ${where}` }
      : { name, ok: false, detail: `takes no writes (${where}); its log on stderr says why` };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { name, ok: false, detail: `does not answer at ${where}: ${why}` };
  }
}
