import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { type Command, journalId, openMemoryStore, type RecordKind, type Store } from '@parley/core';
import { type Control, ParleyError } from '@parley/protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { checkRecord } from './check-record.ts';
import { openReader } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';
import { Reader } from './reader.ts';
import { SampleCommands, sampleSide, sampleThread } from './sample-commands.ts';
import { openSample, removeFolder, sampleFolder } from './sample-record.ts';
import type { DatabaseSync } from './sqlite.ts';
import { Batches } from './batches.ts';

const WAL_HEADER = 32;

/** What somebody asks for, drawn small so that keys, threads and cursors meet again and again. */
const wish = fc.record({
  kind: fc.constantFrom(
    ...(['create', 'post', 'post', 'post', 'ack', 'status', 'heartbeat'] as const),
    ...(['control', 'rename', 'open_side', 'close_side', 'ask', 'answer', 'register'] as const),
  ),
  agent: fc.constantFrom('alice', 'bob'),
  thread: fc.nat(2),
  key: fc.option(fc.constantFrom('k1', 'k2', 'k3'), { nil: undefined }),
  number: fc.nat(6),
});
type Wish = typeof wish extends fc.Arbitrary<infer W> ? W : never;

const step = fc.record({
  wishes: fc.array(wish, { minLength: 1, maxLength: 4 }),
  /** What happens next: nothing, what can wait, a kill after the answers, or a kill within the commit at this part of it. */
  next: fc.oneof(
    fc.constantFrom('nothing', 'idle', 'kill'),
    fc.record({ tornAt: fc.double({ min: 0, max: 1, noNaN: true }) }),
  ),
});

test('[R1] [R2] [R3] [R5] whatever is asked and wherever it is killed, SQLite holds what memory holds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
      const simulation = new Simulation();
      try {
        for (const { wishes, next } of steps) {
          const ask = (): Command[] => wishes.map((one) => simulation.toCommand(one));
          if (typeof next === 'object') await simulation.tear(ask(), next.tornAt);
          await simulation.run(ask());
          if (next === 'idle') simulation.writer.idle();
          if (next === 'kill') simulation.reopen();
          expect(await simulation.inSqlite()).toEqual(await simulation.inMemory());
        }
        simulation.reopen();
        expect(checkRecord(simulation.folder)).toMatchObject({ ok: true, problems: [] });
      } finally {
        simulation.end();
      }
    }),
    { numRuns: 30 },
  );
}, 120_000);

type View = Record<string, unknown>;

/** One of each kind of change to a conversation. */
const CONTROLS: readonly Control[] = [
  { mute: { targets: ['bob'], mode: 'hard' } },
  { unmute: { targets: ['bob'] } },
  { pause: { on: true } },
  { pause: { on: false } },
  { invite: { participant_id: 'carol', profile: { nickname: 'Caro' } } },
  { prod: ['bob'] },
];

class Simulation {
  readonly memory: Store = openMemoryStore();
  readonly #sample = new SampleCommands();
  /** How many threads were asked for; each has its own id, as at the gate. */
  #asked = 0;
  #sides = 0;
  #asks = 0;
  folder = sampleFolder();
  #db: DatabaseSync = openSample(this.folder);
  writer = new Batches(this.#db);

  toCommand({ kind, agent, thread, key, number }: Wish): Command {
    if (kind === 'create') return this.#sample.create(this.#asked++, ['bob'], key);
    if (kind === 'ack') return this.#sample.ack(agent, thread, number);
    if (kind === 'heartbeat') return this.#sample.heartbeat(agent);
    if (kind === 'control')
      return this.#sample.control('user', thread, CONTROLS[number] ?? { done: true }, key);
    if (kind === 'rename') return this.#sample.rename(agent, thread, `title ${number}`);
    if (kind === 'open_side') return this.#sample.openSide(agent, thread, this.#sides++, key);
    if (kind === 'close_side')
      return this.#sample.closeSide('user', thread, number % Math.max(1, this.#sides));
    if (kind === 'ask') return this.#sample.ask(agent, this.#asks++, key);
    if (kind === 'answer') return this.#sample.answer(agent, number);
    if (kind === 'register') return this.#sample.register(agent, `name ${number}`);
    if (kind === 'status') return this.#sample.status(agent, thread, number % 2 === 0 ? 'blocked' : 'active');
    return this.#sample.post(agent, thread, `body ${number}`, key === undefined ? {} : { key });
  }

  /** Both stores run the batch and must say the same. */
  async run(batch: readonly Command[]): Promise<void> {
    const replies = this.writer.run(batch).map(({ ok, error }) => error?.code ?? ok);
    expect(replies).toEqual(await this.#inMemory(batch));
  }

  /** Kills SQLite within the commit of a batch: some of what it writes is on disk, and nobody was answered. */
  async tear(batch: readonly Command[], part: number): Promise<void> {
    const database = readFileSync(join(this.folder, DATABASE_FILE));
    const before = this.#wal();
    this.writer.run(batch);
    const after = this.#wal();
    const cut = WAL_HEADER + Math.floor(part * Math.max(0, after.length - WAL_HEADER));
    this.#moveTo(database, Buffer.concat([after.subarray(0, cut), before.subarray(cut)]));
    // All of the batch or nothing of it: what is there, memory must have too.
    const found = await this.inSqlite();
    if (isDeepStrictEqual(found, await this.inMemory())) return;
    await this.#inMemory(batch);
    expect(found).toEqual(await this.inMemory());
  }

  /** Kills SQLite after its answers: what was written is there, the process and its memory are not. */
  reopen(): void {
    this.#moveTo(readFileSync(join(this.folder, DATABASE_FILE)), this.#wal());
  }

  end(): void {
    this.#db.close();
    removeFolder(this.folder);
  }

  async inMemory(): Promise<View> {
    const { memory } = this;
    return this.#view({
      page: (thread_id) => memory.page({ ...EVERYTHING, thread_id }),
      cursors: (thread_id) => memory.cursors(thread_id, 'w'),
      threads: () => memory.threads(LIST),
      records: (kind) => memory.records({ kind, workspace_id: 'w', limit: 100 }),
      workspace: () => memory.workspace({ ...EVERYTHING, participant: 'bob' }),
    });
  }

  async inSqlite(): Promise<View> {
    const db = openReader(join(this.folder, DATABASE_FILE));
    const reader = new Reader(db);
    try {
      return await this.#view({
        page: (thread_id) => reader.page({ ...EVERYTHING, thread_id }),
        cursors: (thread_id) => reader.cursors(thread_id),
        threads: () => reader.threads(LIST),
        records: (kind) => reader.records({ kind, workspace_id: 'w', limit: 100 }),
        workspace: () => reader.workspace({ ...EVERYTHING, participant: 'bob' }),
      });
    } finally {
      db.close();
    }
  }

  async #view(ask: {
    page: (thread: string) => unknown;
    cursors: (thread: string) => unknown;
    threads: () => unknown;
    records: (kind: RecordKind) => unknown;
    workspace: () => unknown;
  }): Promise<View> {
    const view: View = { threads: await ask.threads(), workspace: await ask.workspace() };
    for (const kind of ['session', 'agent', 'ask'] as const) view[kind] = await ask.records(kind);
    for (let n = 0; n < this.#sides; n++) view[`side ${n}`] = await ask.page(sampleSide(n));
    for (const agent of ['alice', 'bob']) view[`journal ${agent}`] = await ask.page(journalId('w', agent));
    for (let n = 0; n <= this.#asked; n++) {
      const thread = sampleThread(n);
      view[`page ${n}`] = await ask.page(thread);
      view[`cursors ${n}`] = await ask.cursors(thread);
    }
    return JSON.parse(JSON.stringify(view)) as View;
  }

  async #inMemory(batch: readonly Command[]): Promise<unknown[]> {
    const replies: unknown[] = [];
    for (const command of batch) {
      try {
        replies.push(await this.memory.transact(command));
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        replies.push(error.code);
      }
    }
    return replies;
  }

  #wal(): Buffer {
    const path = join(this.folder, `${DATABASE_FILE}-wal`);
    return existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  }

  #moveTo(database: Buffer, wal: Buffer): void {
    const folder = sampleFolder();
    writeFileSync(join(folder, DATABASE_FILE), database);
    writeFileSync(join(folder, `${DATABASE_FILE}-wal`), wal);
    this.end();
    this.folder = folder;
    this.#db = openSample(folder);
    this.writer = new Batches(this.#db);
  }
}

const EVERYTHING = { workspace_id: 'w', after: 0, limit: 1_000, max_bytes: 1_000_000 };
const LIST = {
  workspace_id: 'w',
  participant: 'bob',
  reader: 'alice',
  status: undefined,
  unread: false,
  limit: 50,
  max_bytes: 1_000_000,
  before: undefined,
};
