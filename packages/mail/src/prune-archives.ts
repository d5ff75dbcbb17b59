import { existsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

import { errorText } from '@parley/protocol';
import { type Archive, type ArchiveLine, openArchive, type PrunedHead } from './archive.ts';
import { isClockTrusted } from './clock-mark.ts';
import { idOf, isMailEntry } from './entry.ts';
import { readJson } from './files/read-json.ts';
import { writeWhole } from './files/write-whole.ts';
import { takeOwnLock } from './locks/own-lock.ts';

/** How long mail is kept, and how much of one inbox; null for without end. */
export interface ArchiveLimits {
  days: number | null;
  bytes: number | null;
}

export interface PruneOptions {
  /** Where the archives of all teams are. */
  archive: string;
  /** The folder of all teams: what is in their inboxes is needed. */
  teams: string;
  limits: ArchiveLimits;
  now: () => Date;
}

/** What a pruning did; an archive that could not be pruned stays as it was. */
export interface Pruning {
  mails: number;
  archives: number;
  failed: { path: string; reason: string }[];
}

/** What is known of a mail without its text. */
interface KnownMail {
  id: string;
  seenAt: number;
  bytes: number;
}

const ENDING = '.jsonl';
const DAY_MS = 86_400_000;
const WAIT_MS = 15_000;
/** An archive that is too large is cut below its limit, so that the next mail does not cut it again. */
const CUT_TO = 0.75;

/** Forgets old mail in the archives of every team; whatever is still in an inbox stays, and with it all that is unread. */
export async function pruneArchives({ archive, teams, limits, now }: PruneOptions): Promise<Pruning> {
  const done: Pruning = { mails: 0, archives: 0, failed: [] };
  const folders = await teamsIn(archive);
  if (folders.length === 0) return done;
  const newest = await newestIn(folders.map((team) => join(archive, team)));
  const trusted = (await isClockTrusted(archive, now().getTime(), newest))
    ? limits
    : { ...limits, days: null };
  for (const team of folders) {
    const folder = join(archive, team);
    const hasTeam = existsSync(join(teams, team));
    for (const file of await archivesIn(folder)) {
      const stem = file.slice(0, -ENDING.length);
      const inbox = join(teams, team, 'inboxes', `${stem}.json`);
      try {
        const mails = await pruneOne(join(folder, stem), inbox, { limits: trusted, now: now(), hasTeam });
        done.mails += mails;
        if (mails > 0) done.archives += 1;
      } catch (error) {
        done.failed.push({ path: join(folder, file), reason: errorText(error) });
      }
    }
    // Each session of Claude Code has a team of its own, and leaves nothing but its locks here.
    if (!hasTeam && (await archivesIn(folder)).length === 0)
      await rm(folder, { recursive: true, force: true });
  }
  return done;
}

/** Whatever begins with a dot is no team. */
async function teamsIn(archive: string): Promise<string[]> {
  return (await readdir(archive).catch(() => [])).filter((name) => !name.startsWith('.'));
}

async function newestIn(folders: readonly string[]): Promise<number> {
  let newest = 0;
  for (const folder of folders)
    for (const file of await archivesIn(folder))
      newest = Math.max(newest, (await stat(join(folder, file))).mtimeMs);
  return newest;
}

async function archivesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(ENDING));
}

async function pruneOne(
  stem: string,
  inbox: string,
  { limits, now, hasTeam }: { limits: ArchiveLimits; now: Date; hasTeam: boolean },
): Promise<number> {
  const path = stem + ENDING;
  const lock = await takeOwnLock(`${stem}.lock`, WAIT_MS);
  try {
    const archive = openArchive(path);
    const known: KnownMail[] = [];
    const place = await eachMail(archive, ({ id, at, entry }) => {
      known.push({ id, seenAt: Date.parse(at), bytes: JSON.stringify(entry).length });
    });
    const dropped = chooseDropped(known, await idsIn(inbox), limits, now);
    if (dropped.size === 0) return 0;
    if (dropped.size === known.length && !hasTeam) await rm(path);
    else await writeWhole(path, await textWithout(archive, dropped, place));
    return dropped.size;
  } finally {
    lock.release();
  }
}

/** Mail beyond its time, and of an archive that is too large the oldest; never what is needed. */
function chooseDropped(
  known: readonly KnownMail[],
  needed: ReadonlySet<string>,
  { days, bytes }: ArchiveLimits,
  now: Date,
): Set<string> {
  const oldest = days === null ? Number.NEGATIVE_INFINITY : now.getTime() - days * DAY_MS;
  const free = known.filter(({ id }) => !needed.has(id));
  const dropped = new Set(free.filter(({ seenAt }) => seenAt < oldest).map(({ id }) => id));
  let size = 0;
  for (const one of known) if (!dropped.has(one.id)) size += one.bytes;
  if (bytes === null || size <= bytes) return dropped;
  for (const one of free) {
    if (size <= bytes * CUT_TO) break;
    if (dropped.has(one.id)) continue;
    dropped.add(one.id);
    size -= one.bytes;
  }
  return dropped;
}

/** The archive without these mails: places that somebody remembers lead to the same mail as before. */
async function textWithout(archive: Archive, dropped: ReadonlySet<string>, place: number): Promise<string> {
  await archive.refresh();
  const lines: ArchiveLine[] = [];
  await eachMail(archive, (mail) => {
    if (!dropped.has(mail.id)) lines.push({ kind: 'mail', ...mail });
  });
  const read = lines.flatMap((line) => (line.kind === 'mail' && archive.wasRead(line.id) ? [line.id] : []));
  const at = lines.at(-1)?.at ?? new Date(0).toISOString();
  if (read.length > 0) lines.push({ kind: 'read', ids: read, at });
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const head = (size: number): string => {
    const line: PrunedHead = { kind: 'pruned', place, size: String(size).padStart(15, '0') };
    return `${JSON.stringify(line)}\n`;
  };
  return head(Buffer.byteLength(head(0) + body)) + body;
}

/** Hands every mail over, and returns the place after the last line. */
async function eachMail(
  archive: Archive,
  take: (mail: Awaited<ReturnType<Archive['page']>>['mails'][number]) => void,
): Promise<number> {
  for (let from = 0; ;) {
    const { mails, next } = await archive.page(from);
    for (const mail of mails) take(mail);
    if (next === from) return next;
    from = next;
  }
}

/** What is in an inbox; one that cannot be read makes this fail. */
async function idsIn(inbox: string): Promise<Set<string>> {
  const file = await readJson(inbox);
  await file.close();
  if (file.value === undefined) return new Set();
  if (!Array.isArray(file.value)) throw new Error(`${inbox} holds no list of mail`);
  return new Set(file.value.filter(isMailEntry).map(idOf));
}
