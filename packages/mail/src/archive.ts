import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

import { errorCode } from '@parley/protocol';
import { makeFolderSync, syncFolder } from '@parley/files';

import { isMailEntry, type MailEntry } from './entry.ts';

/** One line of an archive: a mail, or the word that some were read. A mail that outlived a pruning knows its old place. */
export type ArchiveLine =
  | ({ kind: 'mail'; end?: number } & StoredMail)
  | { kind: 'read'; ids: string[]; at: string };

/** A mail, when it was first to be seen, and where it was found if not in the inbox. */
interface StoredMail {
  id: string;
  at: string;
  entry: MailEntry;
  found_in?: 'transcript';
}

/** A mail in the archive, and the place right after it. */
interface ArchivedMail extends StoredMail {
  end: number;
}

/** How much of an archive is read at once; a longer line is read whole all the same. */
const PAGE_BYTES = 1_048_576;

/** All the mail of one inbox that we ever saw or sent; Claude Code deletes what it has read, we do not. */
export interface Archive {
  /** Learns what other processes added. */
  refresh(): Promise<void>;
  has(id: string): boolean;
  wasRead(id: string): boolean;
  /** Every mail, the oldest first. */
  list(): AsyncGenerator<StoredMail>;
  /** A page of mail from a place in the file on, and the place where the next page begins; a place beyond the end means the start. */
  page(from: number): Promise<{ mails: ArchivedMail[]; next: number }>;
  /** Adds lines and settles when they are on disk; only the holder of the inbox's lock may call it. */
  append(lines: readonly ArchiveLine[]): Promise<void>;
}

/** Opens the archive at a path; there need not be a file yet. Only ids are kept in memory. */
export function openArchive(path: string): Archive {
  const known = new Set<string>();
  const read = new Set<string>();
  let inode: number | undefined;
  let offset = 0;

  const learn = (line: ArchiveLine): void => {
    if (line.kind === 'mail') known.add(line.id);
    else for (const id of line.ids) read.add(id);
  };
  const forget = (): void => {
    known.clear();
    read.clear();
    offset = 0;
  };

  return {
    async refresh() {
      const file = await openIfThere(path);
      if (file === undefined) return forget();
      try {
        const { ino, size } = await file.stat();
        if (ino !== inode || size < offset) forget();
        inode = ino;
        if (size === offset) return;
        const fresh = Buffer.alloc(size - offset);
        await file.read(fresh, 0, fresh.length, offset);
        // A line without its end is still being written, or never will be.
        const whole = fresh.lastIndexOf(0x0a) + 1;
        for (const line of fresh.toString('utf8', 0, whole).split('\n')) {
          const parsed = parseLine(line);
          if (parsed !== undefined) learn(parsed);
        }
        offset += whole;
      } finally {
        await file.close();
      }
    },
    has: (id) => known.has(id),
    wasRead: (id) => read.has(id),
    async *list() {
      const file = await openIfThere(path);
      if (file === undefined) return;
      const seen = new Set<string>();
      try {
        for await (const text of createInterface({ input: file.createReadStream({ autoClose: false }) })) {
          const line = parseLine(text);
          if (line?.kind !== 'mail' || seen.has(line.id)) continue;
          seen.add(line.id);
          yield line;
        }
      } finally {
        await file.close();
      }
    },
    async page(from) {
      const file = await openIfThere(path);
      if (file === undefined) return { mails: [], next: 0 };
      try {
        const { size } = await file.stat();
        const places = await readPlaces(file);
        const start = from > places.of(size) ? 0 : from;
        for (let at = places.byteOf(start); ;) {
          const lines = await wholeLines(file, at, size);
          const mails: ArchivedMail[] = [];
          let next = start;
          let stop = 0;
          for (let begin = 0; (stop = lines.indexOf(0x0a, begin)) >= 0; begin = stop + 1) {
            const line = parseLine(lines.toString('utf8', begin, stop));
            const end = (line?.kind === 'mail' ? line.end : undefined) ?? places.of(at + stop + 1);
            next = Math.max(next, end);
            if (line?.kind === 'mail' && end > start) {
              const { kind: _kind, ...mail } = line;
              mails.push({ ...mail, end });
            }
          }
          const taken = lines.lastIndexOf(0x0a) + 1;
          // Of what outlived a pruning a whole page may be known.
          if (mails.length > 0 || taken === 0 || at + taken >= places.kept) return { mails, next };
          at += taken;
        }
      } finally {
        await file.close();
      }
    },
    async append(lines) {
      if (lines.length === 0) return;
      makeFolderSync(dirname(path));
      const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
      const file = await open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
      try {
        const isNew = (await file.stat()).size === 0;
        const start = (await endsTorn(file)) ? '\n' : '';
        await file.appendFile(start + lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
        await file.sync();
        if (isNew) await syncFolder(dirname(path));
      } finally {
        await file.close();
      }
      for (const line of lines) learn(line);
    },
  };
}

/** The line before those that outlived a pruning: where the archive stood then, and in how many bytes it stands now. */
export interface PrunedHead {
  kind: 'pruned';
  place: number;
  /** Of one width always, so that it can count itself. */
  size: string;
}

/** Places in an archive outlive its pruning: they count what was there as well. */
interface Places {
  /** How many bytes of the file outlived a pruning. */
  kept: number;
  of(byte: number): number;
  byteOf(place: number): number;
}

const HEAD_BYTES = 256;

async function readPlaces(file: FileHandle): Promise<Places> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const [line = ''] = buffer.toString('utf8', 0, bytesRead).split('\n', 1);
  const { place, size } = parseHead(line) ?? { place: 0, size: 0 };
  const kept = Number(size);
  return {
    kept,
    // Inside of what outlived it each mail tells its own.
    of: (byte) => (byte < kept ? 0 : place + byte - kept),
    byteOf: (from) => (from < place ? 0 : kept + from - place),
  };
}

function parseHead(text: string): PrunedHead | undefined {
  if (!text.startsWith('{"kind":"pruned"')) return undefined;
  try {
    // The mail itself wrote it.
    return JSON.parse(text) as PrunedHead;
  } catch {
    return undefined;
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The bytes of a page, of which there is at least one whole line if the file has one there. */
async function wholeLines(file: FileHandle, start: number, size: number): Promise<Buffer> {
  for (let most = PAGE_BYTES; ; most *= 4) {
    const bytes = Buffer.alloc(Math.min(most, size - start));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start);
    const read = bytes.subarray(0, bytesRead);
    if (read.includes(0x0a) || most >= size - start) return read;
  }
}

/** True when a crash left the last line without its end. */
async function endsTorn(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  await file.read(last, 0, 1, size - 1);
  return last[0] !== 0x0a;
}

/** A line of an archive; undefined for what is none. */
function parseLine(text: string): ArchiveLine | undefined {
  try {
    // The mail itself wrote it; its chain is checked.
    const line = JSON.parse(text) as ArchiveLine;
    const isWhole = line.kind === 'mail' ? isMailEntry(line.entry) : Array.isArray(line.ids);
    return isWhole ? line : undefined;
  } catch {
    return undefined;
  }
}
