import { execFile } from 'node:child_process';
import { closeSync, constants, openSync, readSync, statSync } from 'node:fs';
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

/**
 * Looks afresh, without a shell and, but for rare kinds of repository, without a process. It stands before every turn:
 * these few small reads take less time at once than one way through the thread pool, which a registry may be using.
 */
export async function readContext(cwd: string): Promise<WorkContext> {
  const found = findGit(cwd);
  if (found === undefined) return { cwd, repo_root: null, repo_name: null, branch: null };
  const { root, gitFolder } = found;
  return {
    cwd,
    repo_root: root,
    repo_name: nameOf(root, gitFolder),
    branch: await branchOf(root, gitFolder),
  };
}

function findGit(cwd: string): { root: string; gitFolder: string } | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const gitFolder = gitFolderOf(folder);
    if (gitFolder !== undefined) return { root: folder, gitFolder };
    if (folder === dirname(folder)) return undefined;
  }
}

/** In a worktree or a submodule `.git` is a file that names the folder. */
function gitFolderOf(folder: string): string | undefined {
  const path = join(folder, '.git');
  const found = kindOf(path);
  if (found === 'folder') return firstLine(join(path, 'HEAD')) === undefined ? undefined : path;
  if (found !== 'file') return undefined;
  const named = /^gitdir: (.+)$/.exec(firstLine(path) ?? '')?.[1];
  return named === undefined ? undefined : resolve(folder, named);
}

/** A worktree goes by the name of the repository it belongs to. */
function nameOf(root: string, gitFolder: string): string {
  const common = firstLine(join(gitFolder, 'commondir'));
  if (common === undefined) return basename(root);
  const main = resolve(gitFolder, common);
  return basename(main) === '.git' ? basename(dirname(main)) : basename(main, '.git');
}

async function branchOf(root: string, gitFolder: string): Promise<string | null> {
  const branch = /^ref: refs\/heads\/(.+)$/.exec(firstLine(join(gitFolder, 'HEAD')) ?? '')?.[1];
  // Where references stand in a table, this file holds a dummy.
  if (branch === '.invalid') return askGit(root, ['symbolic-ref', '--quiet', '--short', 'HEAD']);
  return branch ?? null;
}

function kindOf(path: string): 'folder' | 'file' | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory() === true) return 'folder';
    return found?.isFile() === true ? 'file' : undefined;
  } catch {
    return undefined;
  }
}

/** The same for every read, as none waits for another. */
const buffer = Buffer.alloc(8_192);

function firstLine(path: string): string | undefined {
  // Most that is looked for is not there: asking first is cheaper than failing. A pipe would wait for its writer.
  if (kindOf(path) !== 'file') return undefined;
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const size = readSync(file, buffer, 0, buffer.length, 0);
    return buffer.toString('utf8', 0, size).split(/\r?\n/, 1)[0]?.trim();
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function askGit(root: string, args: string[]): Promise<string | null> {
  return new Promise((done) => {
    const options = { cwd: root, timeout: GIT_MS, killSignal: 'SIGKILL', maxBuffer: 65_536 } as const;
    execFile('git', args, options, (error, stdout) => done(error === null ? stdout.trim() || null : null));
  });
}
