import { loadConfig } from '../../packages/hub/src/config/load.ts';
import { recordPlace, type RecordPlace } from '../../packages/hub/src/record/record-place.ts';

/** The record behind a data folder, wherever it is. */
export function recordOf(data: string): Promise<RecordPlace> {
  return recordPlace(loadConfig({ data }, { XDG_CONFIG_HOME: data }).config);
}

/** Every line of it. */
export async function linesOf(data: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of (await recordOf(data)).lines()) lines.push(line);
  return lines;
}

/** True for what the hub writes in its own time, also for what was said before, and for the line that counts it all. */
export function isOfOwnTime(line: string): boolean {
  return /^\{"type":"(?:parley\.export|agent_state|clock|follower|offer|lease)"/.test(line);
}
