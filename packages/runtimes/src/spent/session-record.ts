import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

import { takeClaudeLine } from './claude-record.ts';
import { takeCodexLine } from './codex-record.ts';
import { codexRollout } from './codex-rollout.ts';
import { readNewLines, type ReadPlace } from './read-new-lines.ts';
import { endTurn, type RecordState } from './record-state.ts';
import type { SpentTurn } from './spent-turn.ts';

/** Whose record of a session it is, and where that runtime keeps all of its own. */
export interface RecordedSession {
  runtime: 'claude_code' | 'codex_cli';
  /** CLAUDE_CONFIG_DIR or CODEX_HOME. */
  home: string;
  id: string;
}

/** How far each file of a session was read, by its path within the runtime's folder. */
export type ReadFiles = Record<string, { place?: ReadPlace; state: RecordState }>;

const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const SUBAGENT = /^agent-[\w-]{1,100}\.jsonl$/;
/** Of more the newest are read. */
const MOST_FILES = 200;

/**
 * Reads what has come to a session's record since, and gives the turns that are over. A turn whose last word was said
 * is over when nothing follows it; with `isLeft`, nobody works on the session any more, and each is.
 */
export async function readSession(
  session: RecordedSession,
  files: ReadFiles,
  { after, isLeft }: { after: string; isLeft: boolean },
): Promise<SpentTurn[]> {
  const turns: SpentTurn[] = [];
  const take = session.runtime === 'claude_code' ? takeClaudeLine : takeCodexLine;
  const add = (turn: SpentTurn | undefined): void => void (turn !== undefined && turns.push(turn));
  for (const name of await filesOf(session, Object.keys(files))) {
    const known = (files[name] ??= { state: { after, reported: [] } });
    const before = known.place;
    for (let isAll = false; !isAll;) {
      const read = await readNewLines({
        folder: session.home,
        path: path.join(session.home, name),
        place: known.place,
        onNew() {
          // Another file in its place may begin with what was read before.
          known.state = { ...known.state, after: known.state.turn?.at ?? known.state.after };
        },
        onLine: (line) => add(take(known.state, line)),
      });
      if (read === undefined) break;
      known.place = { file: read.file, offset: read.offset };
      isAll = read.isAll;
    }
    const isQuiet = before !== undefined && before.offset === known.place?.offset;
    if (isLeft || (isQuiet && known.state.turn?.isOver === true)) add(endTurn(known.state));
  }
  return turns;
}

/** How large the files of a session are: where that is as it was, there is nothing new to read. */
export async function sizesOf(session: RecordedSession, known: string[]): Promise<string> {
  const names = await filesOf(session, known);
  const sizes = names.map((name) => stat(path.join(session.home, name)).catch(() => undefined));
  return (await Promise.all(sizes)).map((found) => `${found?.ino}:${found?.size}`).join(' ');
}

/** The files of a session that are there, each by its path within the runtime's folder. */
async function filesOf({ runtime, home, id }: RecordedSession, known: string[]): Promise<string[]> {
  if (!SESSION_ID.test(id)) return [];
  if (runtime === 'codex_cli') return known.length > 0 ? known : codexRollout(home, id);
  const main = known.find((name) => name.endsWith(`${path.sep}${id}.jsonl`)) ?? (await claudeFile(home, id));
  if (main === undefined) return [];
  const folder = path.join(main.slice(0, -'.jsonl'.length), 'subagents');
  const names = await readdir(path.join(home, folder)).catch(() => []);
  const subagents = names.filter((name) => SUBAGENT.test(name)).slice(-MOST_FILES);
  return [main, ...subagents.map((name) => path.join(folder, name))];
}

async function claudeFile(home: string, id: string): Promise<string | undefined> {
  for (const project of await readdir(path.join(home, 'projects')).catch(() => [])) {
    const name = path.join('projects', project, `${id}.jsonl`);
    if (await isFile(path.join(home, name))) return name;
  }
  return undefined;
}

async function isFile(name: string): Promise<boolean> {
  return (await stat(name).catch(() => undefined))?.isFile() ?? false;
}
