import { openPostgres } from '@parley/store-postgres';
import type { Store } from '@parley/core';
import { callerOf, creating, posting } from '@parley/core/store-contract';
import { ParleyError } from '@parley/protocol';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { type PostgresServer, startPostgres } from '../harness/start-postgres.ts';
import { describeWith } from '../tools/describe-with.ts';

const THREADS = 4;
const ALL = { limit: 100_000, max_bytes: 1e9 };

describeWith(['postgres'], 'several nodes over one PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.close());

  async function openNodes(count: number, schema: string): Promise<[Store, ...Store[]]> {
    // They all begin at once: one of them makes the tables.
    const open = async () => (await openPostgres({ url: server.url, schema, onFault: () => {} })).store;
    return Promise.all([open(), ...Array.from({ length: count - 1 }, open)]);
  }

  /** Says something to the database as its owner. */
  async function say(schema: string): Promise<(text: string) => Promise<unknown>> {
    const client = new Client({
      connectionString: server.url,
      options: `-c search_path=${schema} -c parley.every_workspace=on`,
    });
    await client.connect();
    onTestFinished(() => client.end());
    return (text) => client.query(text);
  }

  /** Posts until it is told yes: an error means that nobody knows, and the same key settles it. */
  async function keepPosting(store: Store, thread: string, body: string, who: string): Promise<number> {
    const workspace = thread.split('-')[0] ?? '';
    const command = posting(thread, body, callerOf(who, workspace), { key: body });
    for (let tries = 0; ; tries++) {
      try {
        return (await store.transact(command)).result.seq;
      } catch (error) {
        if (!(error instanceof ParleyError) || error.code !== 'UNAVAILABLE' || tries > 400) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  /** Every message once and in its place, seqs and positions without a hole. */
  async function check(store: Store, workspaces: readonly string[], posts: number): Promise<void> {
    let found = 0;
    for (const workspace_id of workspaces) {
      const { rows, has_more } = await store.workspace({
        workspace_id,
        participant: undefined,
        after: 0,
        ...ALL,
      });
      expect(has_more).toBe(false);
      expect(rows.map(({ pos }) => pos)).toEqual(rows.map((_, i) => i + 1));
      expect(await store.position(workspace_id)).toBe(rows.length);
      const bodies: string[] = [];
      for (let i = 0; i < THREADS; i++) {
        const thread_id = `${workspace_id}-${i}`;
        const { entries } = await store.page({ workspace_id, thread_id, after: 0, ...ALL });
        expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, n) => n + 1));
        bodies.push(...entries.map(({ body }) => body));
      }
      expect(new Set(bodies).size).toBe(bodies.length);
      found += bodies.length;
    }
    expect(found).toBe(posts);
  }

  async function load(
    nodes: readonly [Store, ...Store[]],
    workspaces: readonly string[],
    each: number,
  ): Promise<number> {
    const threads = workspaces.flatMap((name) => Array.from({ length: THREADS }, (_, i) => `${name}-${i}`));
    await Promise.all(
      threads.map((id) =>
        nodes[0].transact(creating(id, callerOf('alice', id.split('-')[0] ?? ''), ['bob'])),
      ),
    );
    const writers = nodes.flatMap((store, node) =>
      threads.flatMap((thread) =>
        ['alice', 'bob'].map(async (who) => {
          for (let i = 0; i < each; i++) {
            const body = `${thread} ${who} ${node} ${i}`;
            const seq = await keepPosting(store, thread, body, who);
            expect(seq).toBeGreaterThan(0);
          }
        }),
      ),
    );
    await Promise.all(writers);
    return writers.length * each;
  }

  test('[R1] [R2] [R3] on PostgreSQL, three nodes that write to the same threads at once leave no hole and no repeat', async () => {
    const nodes = await openNodes(3, 'three');
    const posts = await load(nodes, ['one', 'two'], 8);
    for (const node of nodes) await check(node, ['one', 'two'], posts);
    await Promise.all(nodes.map((node) => node.close()));
  }, 120_000);

  test('[R1] [R3] [C-DUR-13] on PostgreSQL, a server that is killed under load loses nothing it has acknowledged, and the nodes heal by themselves', async () => {
    const nodes = await openNodes(2, 'killed');
    const loading = load(nodes, ['one', 'two'], 12);
    for (let kill = 0; kill < 3; kill++) {
      await new Promise((resolve) => setTimeout(resolve, 150));
      await server.kill();
      await server.start();
    }
    const posts = await loading;
    for (const node of nodes) {
      await check(node, ['one', 'two'], posts);
      await expect.poll(() => node.health(), { timeout: 10_000 }).toMatchObject({ writable: true });
    }
    await Promise.all(nodes.map((node) => node.close()));
  }, 120_000);

  test('[HUB-M10] [R4] on PostgreSQL, what comes later is later, also where the clock of a node is as far ahead as it may be', async () => {
    const [ahead, right = ahead] = await openNodes(2, 'clocks');
    const alice = callerOf('alice', 'one');
    for (let i = 0; i < 3; i++) await right.transact(creating(`one-${i}`, alice, [], Date.now()));
    for (let i = 0; i < 6; i++) {
      const now = Date.now() + (i % 2 === 0 ? 200 : 0);
      await (i % 2 === 0 ? ahead : right).transact(posting(`one-${i % 3}`, `${i}`, alice, { now }));
      // The newest stands first at once, whichever node is asked.
      const { rows } = await (i % 2 === 0 ? right : ahead).threads({
        workspace_id: 'one',
        participant: undefined,
        reader: 'alice',
        status: undefined,
        unread: false,
        before: undefined,
        limit: 3,
        max_bytes: 1e9,
      });
      expect(rows[0]?.state.thread_id).toBe(`one-${i % 3}`);
    }
    const { rows } = await right.workspace({ workspace_id: 'one', participant: undefined, after: 0, ...ALL });
    const times = rows.map(({ entry }) => entry.created_at);
    expect(times).toEqual(times.toSorted());
    await Promise.all([ahead.close(), right.close()]);
  });

  test('[R8] while the database is away nothing is acknowledged, and the store says so until it is back', async () => {
    const [node] = await openNodes(1, 'away');
    const alice = callerOf('alice', 'one');
    await node.transact(creating('one-0', alice));
    await server.kill();
    await expect(node.transact(posting('one-0', 'lost', alice))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(node.health()).toMatchObject({ writable: false });
    await server.start();
    await expect
      .poll(
        () =>
          node.transact(posting('one-0', 'kept', alice, { key: 'kept' })).then(
            () => true,
            () => false,
          ),
        {
          timeout: 20_000,
        },
      )
      .toBe(true);
    expect(node.health()).toMatchObject({ writable: true });
    const { entries } = await node.page({ workspace_id: 'one', thread_id: 'one-0', after: 0, ...ALL });
    expect(entries.map(({ body }) => body)).toEqual(['kept']);
    await node.close();
  }, 60_000);

  test('the log is append-only for whoever is connected, and damage is never served', async () => {
    const [node] = await openNodes(1, 'damaged');
    const alice = callerOf('alice', 'one');
    await node.transact(creating('one-0', alice));
    for (const body of ['first', 'second', 'third']) await node.transact(posting('one-0', body, alice));
    const sql = await say('damaged');
    await expect(sql("UPDATE entries SET json = '{}'")).rejects.toThrow('append-only');
    await expect(sql('DELETE FROM entries')).rejects.toThrow('append-only');
    await expect(sql('TRUNCATE entries, words, cursors, participants')).rejects.toThrow('append-only');
    await sql('ALTER TABLE entries DISABLE TRIGGER USER');
    await sql("UPDATE entries SET json = replace(json, 'second', 'sécond') WHERE seq = 2");
    const read = (after: number) =>
      node.page({ workspace_id: 'one', thread_id: 'one-0', after, limit: 1, max_bytes: 1e9 });
    expect((await read(0)).entries).toHaveLength(1);
    await expect(read(1)).rejects.toMatchObject({ code: 'INTERNAL', details: { seq: 2 } });
    await sql('UPDATE threads SET last_seq = 2');
    await expect(read(0)).rejects.toMatchObject({ code: 'INTERNAL' });
    await node.close();
  });

  test('a database of a newer Parley, one that takes no writes, and none at all are refused in a sentence', async () => {
    await (await openNodes(1, 'newer'))[0].close();
    const sql = await say('public');
    await sql('UPDATE newer.parley_schema SET version = 99, oldest = 99');
    const open = (url: string) => openPostgres({ url, schema: 'newer', onFault: () => {} });
    await expect(open(server.url)).rejects.toThrow('the database is of a newer Parley (schema 99');
    await sql('ALTER ROLE parley SET default_transaction_read_only = on');
    await expect(open(server.url)).rejects.toThrow('takes no writes');
    await sql('ALTER ROLE parley RESET default_transaction_read_only').catch(() => {});
    await expect(open('postgres://parley@127.0.0.1:1/postgres')).rejects.toThrow('ECONNREFUSED');
  });
});
