import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where Codex keeps a file for each thread that is open, as long as it is. */
export const THREAD_LOCKS = 'thread-writer-locks';
const LOCK = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.lock$/;
/** Codex opens a thread, and then starts the servers of it. */
const BEFORE_MS = 10_000;
const AFTER_MS = 2_000;
const LOOK_MS = 50;

/** The thread that the file of this name stands for. */
export function lockedThread(name: string): string | undefined {
  return LOCK.exec(name)?.[1];
}

/**
 * The thread for which Codex has started a process at a moment: the one it opened last before. Undefined where it
 * keeps no such files, or none of that time.
 */
async function codexThreadOf(home: string, startedAt: number): Promise<string | undefined> {
  const folder = path.join(home, THREAD_LOCKS);
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const id = lockedThread(name);
      const { mtimeMs } = await stat(path.join(folder, name)).catch(() => ({ mtimeMs: -Infinity }));
      return { id, before: startedAt - mtimeMs };
    }),
  );
  const near = found.filter(({ before }) => before < BEFORE_MS && before > -AFTER_MS);
  return near.toSorted((a, b) => Math.abs(a.before) - Math.abs(b.before)).find(({ id }) => id !== undefined)
    ?.id;
}

/** The same, looked for until it is there, Codex has named one, or the time is up. */
export async function awaitCodexThread(
  home: string,
  { startedAt, withinMs, named }: { startedAt: number; withinMs: number; named: () => string | undefined },
): Promise<string | undefined> {
  const until = performance.now() + withinMs;
  for (;;) {
    const id = named() ?? (await codexThreadOf(home, startedAt));
    if (id !== undefined || performance.now() > until) return named() ?? id;
    await sleep(LOOK_MS);
  }
}
