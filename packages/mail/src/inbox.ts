import { ParleyError, fieldsOf } from '@parley/protocol';

import { type Archive, type ArchiveLine, openArchive } from './archive.ts';
import { idOf, isMailEntry, type MailEntry } from './entry.ts';
import { failed, readJson } from './files/read-json.ts';
import { replaceShared } from './files/replace-shared.ts';
import { takeOwnLock } from './locks/own-lock.ts';
import type { TeamFolder } from './team-folder.ts';

/** An inbox while it is being changed. */
interface Draft {
  /** Every entry of the file in its order, also those that are no mail. */
  readonly entries: readonly unknown[];
  isArchived(id: string): boolean;
  wasRead(id: string): boolean;
  add(entry: MailEntry): void;
  /** Marks every entry with one of these ids. */
  markRead(ids: ReadonlySet<string>): void;
  /** Puts a mail into the archive unless it is there: as seen now, unless told otherwise. */
  archive(entry: MailEntry, seen?: { at: string; found_in: 'transcript' }): void;
}

/** One agent's inbox and its archive. */
export interface Inbox {
  /** The mail in the file as it is now. */
  entries(): Promise<MailEntry[]>;
  archive: Archive;
  /** Changes inbox and archive; `change` may run again when another writer was faster, and settles when all is on disk. */
  change<T>(change: (draft: Draft) => T): Promise<T>;
  /** The same for what only the archive takes up: the inbox is not locked and not written. */
  keep<T>(change: (draft: Draft) => T): Promise<T>;
}

export interface InboxOptions {
  folder: TeamFolder;
  agent: string;
  /** The archive's path without its ending. */
  archive: string;
  waitMs: number;
  now: () => Date;
  onNoFlock: () => void;
}

interface Job {
  writes: boolean;
  change: (draft: Draft) => unknown;
  resolve: (outcome: unknown) => void;
  reject: (error: unknown) => void;
}

type WriteOutcome = { value: unknown } | { error: unknown };

/** What waits is written together, but not without end. */
const MOST_AT_ONCE = 256;

/** Opens an inbox; changes that come while one is being written share the next writing. */
export function openInbox({ folder, agent, archive: stem, waitMs, now, onNoFlock }: InboxOptions): Inbox {
  const path = folder.inbox(agent);
  const archive = openArchive(`${stem}.jsonl`);
  const waiting: Job[] = [];
  let running = false;

  const applyAll = (jobs: readonly Job[], value: unknown) => {
    const draft = createDraft(entriesOf(path, value), archive, now);
    const outcomes = jobs.map(({ change }): WriteOutcome => {
      try {
        return { value: change(draft) };
      } catch (error) {
        return { error };
      }
    });
    return { outcomes, draft };
  };
  const writeAll = async (jobs: readonly Job[]) => {
    folder.checkWritable();
    const change = (value: unknown) => {
      const outcome = applyAll(jobs, value);
      const { isChanged, entries } = outcome.draft;
      return isChanged() ? { outcome, value: entries } : { outcome };
    };
    const mayWrite = (): void => folder.checkWritable();
    return replaceShared(path, change, { waitMs, mayWrite, onNoFlock });
  };
  const readAll = async (jobs: readonly Job[]) => {
    const file = await readJson(path);
    await file.close();
    return applyAll(jobs, file.value);
  };
  const pass = async (jobs: readonly Job[]): Promise<WriteOutcome[]> => {
    const own = await takeOwnLock(`${stem}.lock`, waitMs);
    try {
      await archive.refresh();
      const { outcomes, draft } = await (jobs.some((job) => job.writes) ? writeAll(jobs) : readAll(jobs));
      await archive.append(draft.lines());
      return outcomes;
    } catch (error) {
      throw fieldsOf(error)['syscall'] === undefined ? error : failed(stem, error);
    } finally {
      own.release();
    }
  };
  const run = async (): Promise<void> => {
    running = true;
    while (waiting.length > 0) {
      const jobs = waiting.splice(0, MOST_AT_ONCE);
      const outcomes = await pass(jobs).catch((error: unknown) => jobs.map(() => ({ error })));
      for (const [i, outcome] of outcomes.entries()) {
        if ('error' in outcome) jobs[i]?.reject(outcome.error);
        else jobs[i]?.resolve(outcome.value);
      }
    }
    running = false;
  };
  const submit = <T>(change: (draft: Draft) => T, writes: boolean): Promise<T> =>
    new Promise((resolve, reject) => {
      // Its own change gives it.
      waiting.push({ writes, change, resolve: (outcome) => resolve(outcome as T), reject });
      if (!running) void run();
    });

  return {
    async entries() {
      const file = await readJson(path);
      await file.close();
      return entriesOf(path, file.value).filter(isMailEntry);
    },
    archive,
    change: (change) => submit(change, true),
    keep: (change) => submit(change, false),
  };
}

function createDraft(before: readonly unknown[], archive: Archive, now: () => Date) {
  const entries = [...before];
  const mails = new Map<string, ArchiveLine>();
  const readNow = new Set<string>();
  let changed = false;
  const at = now().toISOString();
  const isArchived = (id: string): boolean => archive.has(id) || mails.has(id);
  const keep = (entry: MailEntry, seen: { at: string; found_in?: 'transcript' } = { at }): void => {
    const id = idOf(entry);
    if (!isArchived(id)) mails.set(id, { kind: 'mail', id, ...seen, entry });
  };
  return {
    entries,
    isArchived,
    wasRead: (id: string) => archive.wasRead(id) || readNow.has(id),
    archive: keep,
    add(entry: MailEntry) {
      entries.push(entry);
      keep(entry);
      changed = true;
    },
    markRead(ids: ReadonlySet<string>) {
      for (const [i, entry] of entries.entries()) {
        if (!isMailEntry(entry) || entry.read === true || !ids.has(idOf(entry))) continue;
        entries[i] = { ...entry, read: true };
        changed = true;
      }
      for (const id of ids) if (isArchived(id) && !archive.wasRead(id)) readNow.add(id);
    },
    isChanged: () => changed,
    lines: (): ArchiveLine[] => [
      ...mails.values(),
      ...(readNow.size > 0 ? [{ kind: 'read' as const, ids: [...readNow], at }] : []),
    ],
  };
}

function entriesOf(path: string, value: unknown): unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw new ParleyError(
    'CONFLICT',
    `${path} holds no list of mail and is left as it is; repair it or move it away`,
    { path },
  );
}
