import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

import { CHAIN_START, createThreadFold, type Entry, link, type ThreadFold } from '@parley/core';
import { Cursor, fieldsOf, ParleyError } from '@parley/protocol';
import { type CopiedEntry, type RecordColumns, type RecordSource } from '@parley/store-rows';

/** The text of an entry is taken as it stands in the line: its hash is of these very letters. */
const ENTRY = /^\{"type":"entry","workspace_id":("(?:[^"\\]|\\.)*"),"pos":(\d+),"hash":"([^"]+)","entry":/;
const PAGE = 500;

export interface ReadExport extends RecordSource {
  /** How many entries there are. */
  entries_in_all: number;
  /** How many records stay behind, by their kind: something of them was secret. */
  left: Record<string, number>;
}

/**
 * An export as a source of a record. It is read once from end to end before anything is taken of it: every entry is
 * held against its chain, its place in its workspace and its thread, and nothing may be missing.
 */
export async function readExport(path: string): Promise<ReadExport> {
  const folds = new Map<string, ThreadFold>();
  const heads = new Map<string, string>();
  const counts = new Map<string, number>();
  const left: Record<string, number> = {};
  const found = { entries: 0, cursors: 0, records: 0 };
  let head: Record<string, unknown> | undefined;
  for await (const line of linesOf(path)) {
    if (head === undefined) {
      head = headOf(line);
      continue;
    }
    const entry = entryOf(line);
    if (entry !== undefined) {
      const { workspace_id, pos, thread_id, seq, hash, json } = entry;
      const fold = folds.get(thread_id) ?? createThreadFold();
      const isNext = pos === (counts.get(workspace_id) ?? 0) + 1 && seq === (fold.state?.last_seq ?? -1) + 1;
      if (!isNext || link(heads.get(thread_id) ?? CHAIN_START, json) !== hash)
        throw refused(`entry ${seq} of ${thread_id} is not the one that was written there`);
      // Its hash was compared: it is the entry that was sealed.
      fold.see(JSON.parse(json) as Entry);
      folds.set(thread_id, fold);
      heads.set(thread_id, hash);
      counts.set(workspace_id, pos);
      found.entries++;
      continue;
    }
    const other = fieldsOf(parse(line));
    if (other['type'] === 'damaged')
      throw refused('it has entries that were damaged when it was made; restore a backup instead');
    if (other['type'] === 'cursor') found.cursors++;
    else {
      found.records++;
      if (other['row'] === undefined) left[String(other['type'])] = (left[String(other['type'])] ?? 0) + 1;
    }
  }
  if (head === undefined) throw refused('it is empty');
  for (const [name, count] of Object.entries(found))
    if (head[name] !== count)
      throw refused(
        `its first line tells of ${String(head[name])} ${name}, and there are ${count}: it is not whole`,
      );

  return {
    entries_in_all: found.entries,
    left,
    heads: async () => [...counts].map(([workspace_id, pos]) => ({ workspace_id, pos })),
    async *entries(past) {
      yield* inPages(path, (line) => {
        const entry = entryOf(line);
        return entry !== undefined && entry.pos > (past.get(entry.workspace_id) ?? 0) ? entry : undefined;
      });
    },
    async hashAt(workspaceId, pos) {
      for await (const line of linesOf(path)) {
        const entry = entryOf(line);
        if (entry?.workspace_id === workspaceId && entry.pos === pos) return entry.hash;
      }
      return undefined;
    },
    threads: async (ids) =>
      ids.map((id) => {
        const state = folds.get(id)?.state;
        if (state === undefined) throw refused(`there is no thread ${id}`);
        return { state, head: heads.get(id) ?? CHAIN_START };
      }),
    async *cursors() {
      yield* inPages(path, (line) => {
        if (!line.startsWith('{"type":"cursor"')) return undefined;
        const cursor = Cursor.safeParse(fieldsOf(parse(line))['cursor']);
        if (!cursor.success || !folds.has(cursor.data.thread_id)) throw refused('a cursor in it is none');
        return cursor.data;
      });
    },
    async *records() {
      yield* inPages(path, recordOf);
    },
    async *keys() {
      // Answers that are kept for keys are no part of an export.
    },
    async close() {},
  };
}

function refused(why: string): ParleyError {
  return new ParleyError('VALIDATION_ERROR', `this is no export that can be restored: ${why}`);
}

function headOf(line: string): Record<string, unknown> {
  const head = fieldsOf(parse(line));
  if (head['type'] !== 'parley.export') throw refused('it does not begin as one');
  if (head['version'] !== 2 || head['records'] === undefined)
    throw refused('another version of Parley made it; make it anew with this one');
  return head;
}

function entryOf(line: string): CopiedEntry | undefined {
  const [start = '', workspace = '""', pos, hash = ''] = ENTRY.exec(line) ?? [];
  if (start === '') return undefined;
  const json = line.slice(start.length, -1);
  const { thread_id, seq } = fieldsOf(parse(json));
  if (typeof thread_id !== 'string' || typeof seq !== 'number') throw refused('an entry in it is none');
  return { workspace_id: String(parse(workspace)), pos: Number(pos), thread_id, seq, hash, json };
}

function recordOf(line: string): RecordColumns | undefined {
  if (ENTRY.test(line) || line.startsWith('{"type":"cursor"')) return undefined;
  const { type, row, ...rest } = fieldsOf(parse(line));
  if (row === undefined) return undefined;
  const { workspace_id, key, mark, owner } = fieldsOf(row);
  const kind = String(type);
  for (const text of [workspace_id, key, mark, owner])
    if (typeof text !== 'string') throw refused(`a ${kind} in it has no row`);
  return {
    kind,
    workspace_id: String(workspace_id),
    key: String(key),
    mark: String(mark),
    owner: String(owner),
    json: JSON.stringify(rest[kind]),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refused('a line of it is no JSON');
  }
}

async function* linesOf(path: string): AsyncGenerator<string> {
  const input = createReadStream(path, 'utf8');
  // A file that cannot be read ends the lines without a word.
  const failed = new Promise<never>((_resolve, reject) => input.once('error', reject));
  failed.catch(() => {});
  const lines = createInterface({ input, crlfDelay: Infinity })[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await Promise.race([lines.next(), failed]);
      if (next.done === true) return;
      if (next.value !== '') yield next.value;
    }
  } finally {
    input.destroy();
  }
}

async function* inPages<T>(path: string, read: (line: string) => T | undefined): AsyncGenerator<T[]> {
  let page: T[] = [];
  let isFirst = true;
  for await (const line of linesOf(path)) {
    const item = isFirst ? undefined : read(line);
    isFirst = false;
    if (item === undefined) continue;
    page.push(item);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
