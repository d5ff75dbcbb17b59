import { hash } from 'node:crypto';

import {
  CHAIN_START,
  type Command,
  type Committed,
  type Decision,
  type Entry,
  isForeign,
  type Loaded,
  type Located,
  OWN_WORKSPACE,
  type Reached,
  type RecordName,
  seal,
  type ThreadState,
  loadedRecord,
} from '@parley/core';
import { decide, fingerprint, type IdempotencyRecord, needs, replay } from '@parley/core/rules';
import { type Cursor } from '@parley/protocol';
import { checkedEntry, type LinkedRow, damaged, rowSum, unpackAnswer } from '@parley/store-rows';

import { KnownRecords, type WantedRecords } from './known-records.ts';
import {
  checkCursor,
  CURSOR_COLUMNS,
  cursorName,
  type CursorRecord,
  readCount,
  readThread,
  sumOfCount,
  type ThreadRecord,
} from './rows.ts';
import { type LoadedThread, PendingWrites, type SenderPlace } from './pending-writes.ts';
import { settingOf } from './scope.ts';
import { type Ask, sql } from './sql.ts';

/** A rule that still lacks something after so many rounds asks in circles. */
const MOST_ROUNDS = 5_000;

/**
 * What the commands of one transaction read and write. All that they are known to need is loaded at once, behind the
 * locks of their workspaces; each is then decided in its turn, on what those before it have left. A rule that looks up
 * more is told that there is nothing, and run again when that is loaded: it is pure, and has written nothing. So it
 * takes as many rounds as what it looks up is deep, not as it is wide.
 */
export class WorkingSet {
  readonly #ask: Ask;
  readonly #threads = new Map<string, LoadedThread | undefined>();
  readonly #cursors = new Map<string, Cursor | undefined>();
  readonly #entries = new Map<string, Entry | undefined>();
  readonly #records: KnownRecords;
  readonly #keys = new Map<string, IdempotencyRecord | undefined>();
  readonly #counts = new Map<string, number>();
  #hasThreads = false;
  #lockedAt = 0;
  /** Threads that are there, be it in another workspace. */
  readonly #known = new Set<string>();
  /** Entries that a rule has asked for in this round and that are not loaded yet, by name. */
  readonly #lackedEntries = new Map<string, { thread: string; seq: number }>();
  readonly #writes: PendingWrites;

  constructor(ask: Ask) {
    this.#ask = ask;
    this.#records = new KnownRecords(ask);
    this.#writes = new PendingWrites(ask);
  }

  /** When the locks were taken, by the clock of the database: what one transaction of a workspace decides, the next decides later. */
  get lockedAt(): number {
    return this.#lockedAt;
  }

  /** How far each workspace of the transaction has come. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** Locks the workspaces of some commands, in the order of their names, and loads what the commands name. */
  async load(commands: readonly Command[]): Promise<void> {
    // Nobody else takes a lease while one who has it writes.
    const locked = commands.flatMap(({ caller, fence }) =>
      fence === undefined ? [caller.workspace_id] : [caller.workspace_id, OWN_WORKSPACE],
    );
    const workspaces = [...new Set(locked)].toSorted();
    const wanted = commands.map((command) => ({ command, ...needs(command) }));
    const threads = [...new Set(wanted.flatMap(({ thread, other }) => [thread, other]))].filter(isText);
    const keys = commands.map(keyName).filter(isText);
    const sums = workspaces.map((one) => sumOfCount(one, 0));
    const senders = wanted.flatMap(({ command, thread, other }): SenderPlace[] =>
      [thread, other].filter(isText).map((thread_id) => ({ thread_id, sender: command.caller.agent_id })),
    );
    const [, , counts, [elsewhere]] = await Promise.all([
      this.#ask(settingOf(workspaces, 'transaction')),
      this.#ask(sql`INSERT INTO workspaces SELECT u.id, 0, u.sum FROM unnest(${workspaces}::text[], ${sums}::text[]) AS u (id, sum)
         ORDER BY u.id ON CONFLICT DO NOTHING`),
      this.#ask<{ workspace_id: string; pos: number; sum: string }>(sql`
        SELECT workspace_id, pos, sum FROM workspaces WHERE workspace_id = ANY(${workspaces}) ORDER BY workspace_id FOR UPDATE`),
      this.#ask<{ any_thread: boolean; known: string[]; time: number }>(
        sql`SELECT any_thread, known, extract(epoch FROM clock_timestamp())::float8 * 1000 AS time
          FROM parley_elsewhere(${threads}::text[])`,
      ),
      this.#loadThreads(threads),
      this.#loadKeys(keys),
      this.#loadCursors(
        wanted.flatMap(({ command, thread, cursor }) =>
          thread === undefined || cursor !== true ? [] : [{ thread, agent: command.caller.agent_id }],
        ),
      ),
      this.#loadEntries(
        wanted.flatMap(({ thread, entry_seq: seq }) =>
          thread === undefined || seq === undefined ? [] : [{ thread, seq }],
        ),
      ),
      this.#records.load(wantedRecords(commands)),
      this.#writes.loadNumbers(senders),
    ]);
    for (const row of counts) this.#counts.set(row.workspace_id, readCount(row));
    this.#hasThreads = elsewhere?.any_thread === true;
    this.#lockedAt = Math.floor(elsewhere?.time ?? 0);
    for (const id of elsewhere?.known ?? []) this.#known.add(id);
  }

  /** Carries out one command; a refused one leaves no trace. */
  async attempt(command: Command): Promise<Committed> {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const isOver = this.#run(command);
      if (isOver !== undefined) return isOver();
      const entries = [...this.#lackedEntries.values()];
      this.#lackedEntries.clear();
      await Promise.all([
        // What those before it have put must be found too.
        this.#writes.flushRecords(),
        this.#loadEntries(entries),
        this.#records.loadLacks(),
      ]);
    }
    throw new Error(`the rule of ${command.type} asks in circles`);
  }

  /** One round: how the command came out, or undefined where the rule did not know enough. */
  #run(command: Command): (() => Committed) | undefined {
    try {
      const committed = this.#transact(command);
      return committed && (() => committed);
    } catch (error) {
      if (this.#lacks) return undefined;
      return () => {
        throw error;
      };
    }
  }

  get #lacks(): boolean {
    return this.#records.hasLacks || this.#lackedEntries.size > 0;
  }

  #transact(command: Command): Committed | undefined {
    const { idempotency, now } = command;
    const name = keyName(command);
    const print = name === undefined ? '' : fingerprint(command);
    if (name !== undefined && idempotency !== undefined) {
      const result = replay(this.#keys.get(name), idempotency, print);
      if (result !== undefined) return { result, replayed: true };
    }
    const decision = decide(this.#loadedFor(command), command);
    if (this.#lacks) return undefined;
    const reached = this.#apply(decision);
    const { result } = decision;
    if (name !== undefined && idempotency?.peek !== true) {
      const record = { fingerprint: print, at: now, result };
      this.#keys.set(name, record);
      this.#writes.keys.set(name, { ...record, workspace_id: command.caller.workspace_id });
    }
    return reached.length === 0 ? { result, replayed: false } : { result, replayed: false, reached };
  }

  #loadedFor(command: Command): Loaded {
    const { thread, other, entry_seq, cursor, record, records, lease } = needs(command);
    const { workspace_id, agent_id } = command.caller;
    const found = thread === undefined ? undefined : this.#threads.get(thread);
    const loaded: Loaded = {
      located:
        thread === undefined ? { thread: undefined, foreign: false } : this.#locate(thread, workspace_id),
      entry: found && entry_seq !== undefined ? this.#entry(found, entry_seq) : undefined,
      cursor:
        found && cursor === true ? this.#cursors.get(cursorName(found.state.thread_id, agent_id)) : undefined,
    };
    if (other !== undefined) loaded.other = this.#locate(other, workspace_id);
    if (record !== undefined) {
      const value = this.#records.value({ ...record, workspace_id });
      if (value !== undefined) loaded.record = loadedRecord(record.kind, value);
    }
    if (records === true) loaded.records = this.#records.readerFor(workspace_id);
    const held = lease === undefined ? undefined : this.#records.readerFor(OWN_WORKSPACE).get('lease', lease);
    if (held !== undefined) loaded.lease = held;
    return loaded;
  }

  #locate(threadId: string, workspaceId: string): Located {
    const state = this.#threads.get(threadId)?.state;
    if (state !== undefined) {
      const main = state.side_of === undefined ? undefined : this.#threads.get(state.side_of)?.state;
      return main === undefined ? { thread: state } : { thread: state, main };
    }
    const isKnown = (this.#counts.get(workspaceId) ?? 0) > 0;
    const foreign = this.#known.has(threadId) || isForeign(isKnown, this.#hasThreads);
    return { thread: undefined, foreign };
  }

  #entry({ state: { thread_id } }: LoadedThread, seq: number): Entry | undefined {
    const name = entryName(thread_id, seq);
    if (!this.#entries.has(name)) this.#lackedEntries.set(name, { thread: thread_id, seq });
    return this.#entries.get(name);
  }

  /** Threads, and with those that are side channels the ones they hang on. */
  async #loadThreads(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    for (const id of ids) this.#threads.set(id, undefined);
    const rows = await this.#ask<ThreadRecord>(sql`
      SELECT thread_id, workspace_id, born, status, state, sum, last_seq, updated_at, hash, head_sum
      FROM threads WHERE thread_id = ANY(${[...ids]})
        OR thread_id IN (SELECT side_of FROM threads WHERE thread_id = ANY(${[...ids]}) AND side_of IS NOT NULL)`);
    for (const row of rows) {
      const { state, head, born } = readThread(row);
      this.#threads.set(row.thread_id, { state, head, born, stored: state });
    }
  }

  async #loadKeys(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const rows = await this.#ask<{
      name: string;
      fingerprint: string;
      at: number;
      result: string;
      sum: string;
    }>(sql`
      SELECT name, fingerprint, at, result, sum FROM idempotency WHERE name = ANY(${[...names]})`);
    for (const { name, fingerprint: print, at, result, sum } of rows) {
      if (rowSum(name, print, at, result) !== sum) throw damaged(`the idempotency key ${name}`);
      this.#keys.set(name, { fingerprint: print, at, result: unpackAnswer(result) });
    }
  }

  async #loadCursors(wanted: readonly { thread: string; agent: string }[]): Promise<void> {
    if (wanted.length === 0) return;
    const [threads, agents] = [wanted.map(({ thread }) => thread), wanted.map(({ agent }) => agent)];
    const rows = await this.#ask<CursorRecord>(sql`
      SELECT ${CURSOR_COLUMNS} FROM cursors c JOIN unnest(${threads}::text[], ${agents}::text[]) AS u (thread, agent)
      ON c.thread_id = u.thread AND c.agent_id = u.agent`);
    for (const row of rows) {
      checkCursor(row);
      const { sum: _sum, ...cursor } = row;
      this.#cursors.set(cursorName(row.thread_id, row.agent_id), cursor);
    }
  }

  async #loadEntries(wanted: readonly { thread: string; seq: number }[]): Promise<void> {
    if (wanted.length === 0) return;
    for (const { thread, seq } of wanted) this.#entries.set(entryName(thread, seq), undefined);
    const [threads, numbers] = [wanted.map(({ thread }) => thread), wanted.map(({ seq }) => seq)];
    const rows = await this.#ask<LinkedRow>(sql`
      SELECT e.thread_id, e.seq, e.hash, e.json, b.hash AS before
      FROM unnest(${threads}::text[], ${numbers}::bigint[]) AS u (thread, seq)
      JOIN entries e ON e.thread_id = u.thread AND e.seq = u.seq
      LEFT JOIN entries b ON b.thread_id = e.thread_id AND b.seq = e.seq - 1`);
    for (const row of rows) this.#entries.set(entryName(row.thread_id, row.seq), checkedEntry(row));
  }

  #apply({ changes, cursor, records = [], drops = [] }: Decision): Reached[] {
    const reached = changes.map(({ thread, entries }) => this.#append(thread, entries));
    if (cursor !== undefined) {
      const name = cursorName(cursor.thread_id, cursor.agent_id);
      this.#cursors.set(name, cursor);
      this.#writes.cursors.set(name, cursor);
    }
    for (const record of records) {
      this.#records.put(record);
      const { kind, workspace_id, key } = record;
      this.#writes.records.set(recordName(record), { record, kind, workspace_id, key });
    }
    for (const name of drops) {
      this.#records.drop(name);
      this.#writes.records.set(recordName(name), { gone: true, ...name });
    }
    return reached;
  }

  #append(state: ThreadState, entries: readonly Entry[]): Reached {
    const { thread_id, last_seq, workspace_id } = state;
    const after = this.#counts.get(workspace_id) ?? 0;
    let pos = after;
    const known = this.#threads.get(thread_id);
    const thread = known ?? { state, head: CHAIN_START, born: pos + 1, stored: undefined };
    for (const entry of entries) {
      const { hash: sealed, json } = seal(thread.head, entry);
      this.#writes.added.push({ thread_id, workspace_id, pos: ++pos, entry, hash: sealed, json });
      this.#entries.set(entryName(thread_id, entry.seq), entry);
      thread.head = sealed;
    }
    this.#counts.set(workspace_id, pos);
    thread.state = state;
    this.#threads.set(thread_id, thread);
    this.#writes.touched.add(thread);
    this.#hasThreads = true;
    return { thread_id, last_seq, workspace_id, pos, after };
  }

  /** Looks up what the writes still need. */
  complete(): Promise<void> {
    return this.#writes.complete();
  }

  /** Sends everything that is to be written, at once. */
  flush(): Promise<void> {
    return this.#writes.flush(this.#counts);
  }
}

/** The name under which a command's key is kept; undefined where it has none. */
function keyName({ idempotency, caller }: Command): string | undefined {
  if (idempotency === undefined) return undefined;
  const tag = hash('sha256', idempotency.scope, 'base64url').slice(0, 22);
  return `${caller.agent_id} ${idempotency.key} ${tag}`;
}

const entryName = (thread: string, seq: number): string => `${thread} ${seq}`;
const recordName = ({ kind, workspace_id, key }: RecordName): string =>
  JSON.stringify([kind, workspace_id, key]);

/** All that the rules of some commands are known to look up beside the log. */
function wantedRecords(commands: readonly Command[]): WantedRecords {
  const all = commands.map((command) => ({ ...needs(command), workspace_id: command.caller.workspace_id }));
  return {
    gets: all.flatMap(({ workspace_id, record, gets = [], lease }) => [
      ...(record === undefined ? gets : [record, ...gets]).map((one) => ({ ...one, workspace_id })),
      ...(lease === undefined ? [] : [{ kind: 'lease', workspace_id: OWN_WORKSPACE, key: lease } as const]),
    ]),
    lists: all.flatMap(({ workspace_id, lists = [] }) => lists.map((asked) => ({ workspace_id, asked }))),
    lines: all.flatMap(({ workspace_id, lines = [] }) => lines.map((id) => ({ workspace_id, id }))),
  };
}

function isText(value: string | undefined): value is string {
  return value !== undefined;
}
