import { readdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';

import { liveClaudeSessions } from '../claude/live-sessions.ts';
import { lockedThread, THREAD_LOCKS } from '../codex/own-thread.ts';
import { kindOf } from '../terminal/programs.ts';
import { codexFolderOf } from './codex-rollout.ts';
import type { RecordedSession } from './session-record.ts';

type Records = Pick<RecordedSession, 'runtime' | 'home'>;

/** A program that was started here, and where. */
export interface StartedProgram extends Records {
  pid: number;
  cwd: string;
  /** By the clock of the file system. */
  startedAt: number;
}

/** Between a launcher and the program itself there are no more processes than this. */
const MOST_PARENTS = 4;

/** Where a program keeps its record of sessions; undefined for one that keeps none which tells tokens. */
export function recordsOf(program: string, env: Readonly<Record<string, string>>): Records | undefined {
  const home = env['HOME'] ?? homedir();
  const kind = kindOf(program);
  if (kind === 'claude')
    return { runtime: 'claude_code', home: env['CLAUDE_CONFIG_DIR'] ?? path.join(home, '.claude') };
  if (kind === 'codex') return { runtime: 'codex_cli', home: env['CODEX_HOME'] ?? path.join(home, '.codex') };
  return undefined;
}

/** The sessions that a program has open now, as far as its runtime shows whose they are. */
export async function sessionsOfProgram(program: StartedProgram): Promise<RecordedSession[]> {
  const { runtime, home } = program;
  const ids = runtime === 'claude_code' ? await claudeSessions(program) : await codexThreads(program);
  return ids.map((id) => ({ runtime, home, id }));
}

async function claudeSessions({ home, pid }: StartedProgram): Promise<string[]> {
  const live = await liveClaudeSessions(home);
  const own = await Promise.all(live.map((session) => isWithin(session.pid, pid)));
  return live.filter((_, i) => own[i]).map(({ sessionId }) => sessionId);
}

/** Codex does not say which process a thread belongs to: those that were opened since, in the folder of the program. */
async function codexThreads({ home, cwd, startedAt }: StartedProgram): Promise<string[]> {
  const folder = path.join(home, THREAD_LOCKS);
  const names = await readdir(folder).catch(() => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const id = lockedThread(name);
      const { mtimeMs } = await stat(path.join(folder, name)).catch(() => ({ mtimeMs: -Infinity }));
      const isOwn = id !== undefined && mtimeMs >= startedAt && (await codexFolderOf(home, id)) === cwd;
      return isOwn ? [id] : [];
    }),
  );
  return found.flat();
}

/** True where a process is another or was started by it; where the system does not tell, only the same one. */
async function isWithin(pid: number, ancestor: number): Promise<boolean> {
  let at = pid;
  for (let i = 0; at !== ancestor && i < MOST_PARENTS; i++) {
    const status = await readFile(`/proc/${at}/stat`, 'utf8').catch(() => '');
    // Its name stands in brackets and may hold anything.
    at = Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[1] ?? 0);
    if (!(at > 1)) return false;
  }
  return at === ancestor;
}
