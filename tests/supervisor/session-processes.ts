import { readdirSync, readFileSync } from 'node:fs';

/** Marks every process of a session, whatever it became. */
export const MARK = 'PARLEY_TEST_MARK';

/** The living processes of a session. */
export function running(mark: string): { pid: number; line: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        if (!readFileSync(`/proc/${name}/environ`, 'latin1').includes(`${MARK}=${mark}`)) return [];
        const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        return line === '' ? [] : [{ pid: Number(name), line }];
      } catch {
        // It ended while we looked.
        return [];
      }
    });
}
