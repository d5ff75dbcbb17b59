import { readdirSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

import { fieldsOf, type InputOf, isFields } from '@parley/protocol';
import type { ReadFiles, RecordedSession } from '@parley/runtimes';

import { readPrivateFile, writePrivateFile } from '../data-folder.ts';

/** How far the record of one session was read, and what of it the hub does not know yet. */
export interface SessionProgress {
  session: RecordedSession;
  /** What was used before it was seen for the first time counts for nothing. */
  after: string;
  files: ReadFiles;
  waiting: { agent: string; report: InputOf<'report_usage'> }[];
}

/** What this release writes; what another wrote is begun anew. */
const VERSION = 2;
const NAME = /^(?:claude_code|codex_cli)-[0-9a-f-]{36}\.json$/;
const OLD_MS = 30 * 86_400_000;
const MOST = 300;

/** How far the sessions of a folder were read, each in a file of its own. */
export function sessionProgress(folder: string) {
  const pathOf = ({ runtime, id }: RecordedSession): string => join(folder, `${runtime}-${id}.json`);
  return {
    read: (session: RecordedSession): SessionProgress | undefined => parsed(readPrivateFile(pathOf(session))),
    write(record: SessionProgress): void {
      writePrivateFile(pathOf(record.session), JSON.stringify({ version: VERSION, ...record }));
    },
    /** The sessions that are known, the newest first; what is older than a month goes. */
    sessions(now: number): RecordedSession[] {
      const found = readdirSync(folder).filter((name) => NAME.test(name));
      const dated = found.map((name) => ({ name, at: statSync(join(folder, name)).mtimeMs }));
      for (const { name, at } of dated) if (now - at > OLD_MS) unlinkSync(join(folder, name));
      return dated
        .filter(({ at }) => now - at <= OLD_MS)
        .toSorted((a, b) => b.at - a.at)
        .slice(0, MOST)
        .flatMap(({ name }) => parsed(readPrivateFile(join(folder, name)))?.session ?? []);
    },
  };
}

function parsed(text: string | undefined): SessionProgress | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const { version, session, after, files, waiting } = fieldsOf(value);
    if (
      version !== VERSION ||
      typeof after !== 'string' ||
      !isFields(session) ||
      !isFields(files) ||
      !Array.isArray(waiting)
    )
      return undefined;
    // Only this file writes there.
    return { session, after, files, waiting } as unknown as SessionProgress;
  } catch {
    return undefined;
  }
}
