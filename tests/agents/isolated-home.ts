import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A home of its own for one run: nothing of the person's settings, keys or history is seen or touched. */
export interface IsolatedHome {
  /** Unique to this run and present in the environment of all its processes. */
  root: string;
  home: string;
  work: string;
  env: Record<string, string>;
  remove(): Promise<void>;
}

/** Makes the folders and the bare environment of one run. */
export async function openIsolatedHome(): Promise<IsolatedHome> {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'agent-')));
  const home = path.join(root, 'home');
  const work = path.join(root, 'work');
  // Codex wants its home outside of the temporary folder it is told of.
  const tmp = path.join(root, 'tmp');
  for (const folder of [home, work, tmp]) await mkdir(folder);
  return {
    root,
    home,
    work,
    env: {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      HOME: home,
      TMPDIR: tmp,
      XDG_RUNTIME_DIR: tmp,
      LANG: 'C.UTF-8',
      TERM: 'dumb',
    },
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}
