import { execFile } from 'node:child_process';
import { open, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** Where a turn happens; everything of the repository is null outside of one. */
export interface WorkContext {
  cwd: string;
  repo_root: string | null;
  repo_name: string | null;
  /** Null on a detached HEAD too. */
  branch: string | null;
}

const GIT_MS = 2_000;

/** Looks afresh, without a shell and, but for rare kinds of repository, without a process. */
export async function readContext(cwd: string): Promise<WorkContext> {
  const found = await findGit(cwd);
  if (found === undefined) return { cwd, repo_root: null, repo_name: null, branch: null };
  const { root, gitFolder } = found;
  return {
    cwd,
    repo_root: root,
    repo_name: await nameOf(root, gitFolder),
    branch: await branchOf(root, gitFolder),
  };
}

async function findGit(cwd: string): Promise<{ root: string; gitFolder: string } | undefined> {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const gitFolder = await gitFolderOf(folder);
    if (gitFolder !== undefined) return { root: folder, gitFolder };
    if (folder === dirname(folder)) return undefined;
  }
}

/** In a worktree or a submodule `.git` is a file that names the folder. */
async function gitFolderOf(folder: string): Promise<string | undefined> {
  const path = join(folder, '.git');
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true)
    return (await firstLine(join(path, 'HEAD'))) === undefined ? undefined : path;
  if (found?.isFile() !== true) return undefined;
  const named = /^gitdir: (.+)$/.exec((await firstLine(path)) ?? '')?.[1];
  return named === undefined ? undefined : resolve(folder, named);
}

/** A worktree goes by the name of the repository it belongs to. */
async function nameOf(root: string, gitFolder: string): Promise<string> {
  const common = await firstLine(join(gitFolder, 'commondir'));
  if (common === undefined) return basename(root);
  const main = resolve(gitFolder, common);
  return basename(main) === '.git' ? basename(dirname(main)) : basename(main, '.git');
}

async function branchOf(root: string, gitFolder: string): Promise<string | null> {
  const branch = /^ref: refs\/heads\/(.+)$/.exec((await firstLine(join(gitFolder, 'HEAD'))) ?? '')?.[1];
  // Where references stand in a table, this file holds a dummy.
  if (branch === '.invalid') return askGit(root, ['symbolic-ref', '--quiet', '--short', 'HEAD']);
  return branch ?? null;
}

async function firstLine(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(8_192), 0, 8_192, 0);
      return buffer.toString('utf8', 0, bytesRead).split(/\r?\n/, 1)[0]?.trim();
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

function askGit(root: string, args: string[]): Promise<string | null> {
  return new Promise((done) => {
    const options = { cwd: root, timeout: GIT_MS, killSignal: 'SIGKILL', maxBuffer: 65_536 } as const;
    execFile('git', args, options, (error, stdout) => done(error === null ? stdout.trim() || null : null));
  });
}
