import { readdirSync, readFileSync } from 'node:fs';

/** Asleep, or stopped: what runs, waits for its turn or for a disk may be about to read. */
const AT_REST: ReadonlySet<string> = new Set(['S', 'T', 't', 'I']);

/** True when no thread of a process, nor of those it started, is doing anything; false where the system does not tell. */
export function isAtRest(pid: number | string): boolean {
  const tasks = `/proc/${pid}/task`;
  try {
    return readdirSync(tasks).every((task) => {
      const state = readFileSync(`${tasks}/${task}/stat`, 'latin1').replace(/^.*\) /s, '')[0] ?? '';
      const children = readFileSync(`${tasks}/${task}/children`, 'latin1').trim();
      return AT_REST.has(state) && (children === '' || children.split(' ').every(isAtRest));
    });
  } catch {
    return false;
  }
}
