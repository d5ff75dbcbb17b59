import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { callerOf, creating, posting } from '@parley/core/store-contract';
import { DATABASE_FILE } from '@parley/store-sqlite';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { recordPlace } from '../../packages/hub/src/record/record-place.ts';
import { fillRecord } from '../harness/fill-record.ts';
import { runCli, runJson } from '../harness/run-cli.ts';
import { freshFolder, HubRefused, type HubProcess, startHub } from '../harness/start-hub.ts';
import { type PostgresServer, startPostgres } from '../harness/start-postgres.ts';
import { succeeded } from '../harness/use-hub.ts';
import { v1Driver } from '../harness/call.ts';
import { issueToken } from '../harness/tokens.ts';
import { describeWith } from '../tools/describe-with.ts';
import { openSilentProxy } from './silent-proxy.ts';

/** A page of the log (500 messages), and not all of the second. */
const HALF = 500_000;

interface Filled {
  token: string;
  thread: string;
  key: string;
  seq: number;
}

describeWith(['postgres'], 'moving house', () => {
  let server: PostgresServer;
  /** A hub that was filled and stopped, and an export of it from when it ran; nobody changes its folder. */
  let house: Filled & { data: string; file: string };
  beforeAll(async () => {
    let hub: HubProcess;
    [server, hub] = await Promise.all([startPostgres(), startHub()]);
    const filled = await fill(hub);
    await call(hub, filled.token, 'raise_ask', { kind: 'question', prompt: 'Which?' });
    const file = `${freshFolder()}.ndjson`;
    await runJson(['export', '--out', file], { data: hub.data });
    await hub.stop();
    house = { ...filled, data: hub.data, file };
  }, 60_000);
  afterAll(() => server.close());

  function copyOfHouse(): string {
    const data = freshFolder();
    cpSync(house.data, data, { recursive: true });
    return data;
  }

  async function database(name: string): Promise<string> {
    await server.query(`CREATE DATABASE ${name}`);
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    return url.href;
  }

  async function call(hub: HubProcess, token: string, operation: string, input: object): Promise<never> {
    return succeeded(await v1Driver.call(hub.url, token, operation as 'post_message', input)) as never;
  }

  /** Some of everything: two workspaces, threads, cursors, keys, documents, an artifact. */
  async function fill(hub: HubProcess): Promise<Filled> {
    const key = randomUUID();
    let last = { token: '', thread: '', key, seq: 0 };
    for (const workspace of ['w1', 'w2']) {
      const { token } = await issueToken({ agent: 'alice', workspace, role: 'operator' }, { data: hub.data });
      const { thread_id: thread } = await call(hub, token, 'create_thread', {
        title: `in ${workspace}`,
        participants: ['bob'],
      });
      const post = (body: string, more = {}) =>
        call(hub, token, 'post_message', { thread_id: thread, schema_version: 1, body, ...more }) as Promise<{
          seq: number;
        }>;
      for (let i = 0; i < 20; i++) await post(`message ${i} of ${workspace}`);
      const { seq } = await post('kept under a key', { idempotency_key: key });
      await call(hub, token, 'ack_read', { thread_id: thread, last_read_seq: 3 });
      await call(hub, token, 'create_document', {
        document_id: randomUUID(),
        parent_id: 'root',
        content: { mime_type: 'text/markdown', body: `# Notes of ${workspace}` },
        metadata: { title: 'Notes' },
      });
      last = { token, thread, key, seq };
    }
    return last;
  }

  /** What an export tells, without the order of the workspaces, and without what the hub writes of itself. */
  async function told(place: { data: string } | { store: string }): Promise<string[]> {
    const lines: string[] = [];
    for await (const line of (await recordPlace({ data: '', ...place })).lines()) lines.push(line);
    return lines
      .filter((line) => !/^\{"type":"(?:parley\.export|clock|lease|follower)"/.test(line))
      .toSorted();
  }

  test('[C-DUR-20] a record moves into PostgreSQL and back whole: ids, positions, hashes, cursors, keys; agents go on where they were', async () => {
    const { token, thread, key, seq } = house;
    const data = copyOfHouse();
    const before = await told({ data });
    expect(before.length).toBeGreaterThan(50);
    const url = await database('moved');
    const moved = await runJson<{ counts: Record<string, number> }>(
      ['migrate', '--from', data, '--to', url],
      { data },
    );
    expect(moved.counts).toMatchObject({ entries: expect.any(Number), threads: expect.any(Number) });
    expect(await told({ store: url })).toEqual(before);

    const second = await startHub({ flags: ['--store', url] });
    // The token of before is good, the key of before is known, and the count goes on.
    const again = { thread_id: thread, schema_version: 1, body: 'kept under a key', idempotency_key: key };
    expect(await call(second, token, 'post_message', again)).toMatchObject({ seq });
    const next = { thread_id: thread, schema_version: 1, body: 'written in PostgreSQL' };
    expect(await call(second, token, 'post_message', next)).toMatchObject({ seq: seq + 1 });
    const refusedWhileItRuns = await runCli(['migrate', '--from', url, '--to', freshFolder()], {
      data: second.data,
    });
    expect([refusedWhileItRuns.code, refusedWhileItRuns.stderr]).toEqual([
      1,
      expect.stringContaining('stop all of them'),
    ]);
    await second.stop();

    const back = freshFolder();
    await runJson(['migrate', '--from', url, '--to', back], { data: second.data });
    expect(await told({ data: back })).toEqual(await told({ store: url }));
    const third = await startHub({ data: back });
    expect(await call(third, token, 'post_message', again)).toMatchObject({ seq });
    expect(await call(third, token, 'post_message', next)).toMatchObject({ seq: seq + 2 });
    await third.stop();
  }, 180_000);

  test('an export is restored into a database and out of it into a folder, with every chain as it was', async () => {
    const { file, thread } = house;
    // What an agent is at is noted a moment later, and the export was made while the hub ran.
    const atMoment = (lines: readonly string[]) =>
      lines.filter((line) => !line.startsWith('{"type":"agent_state"'));
    const before = atMoment(await told({ data: house.data }));
    const url = await database('restored');
    const node = freshFolder();
    const brought = await runJson<{ counts: Record<string, number> }>(['import', file, '--store', url], {
      data: node,
    });
    expect(atMoment(await told({ store: url }))).toEqual(before);
    expect(brought.counts['entries']).toBe(
      before.filter((line) => line.startsWith('{"type":"entry"')).length,
    );

    const again = `${freshFolder()}.ndjson`;
    await runJson(['export', '--out', again, '--store', url], { data: node });
    const folder = freshFolder();
    await runJson(['import', again], { data: folder });
    expect(atMoment(await told({ data: folder }))).toEqual(before);
    expect(await (await recordPlace({ data: folder })).check()).toMatchObject({ ok: true, problems: [] });
    // A hub goes on with it; the keys that sign tokens were left behind, so there are new ones.
    const third = await startHub({ data: folder });
    const { token: fresh } = await issueToken(
      { agent: 'alice', workspace: 'w2', role: 'operator' },
      { data: folder },
    );
    const next = { thread_id: thread, schema_version: 1, body: 'after it was restored' };
    expect(await call(third, fresh, 'post_message', next)).toMatchObject({
      seq: expect.any(Number) as unknown,
    });
    await third.stop();
    const full = await runCli(['import', file], { data: folder });
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('holds a record already')]);
  }, 180_000);

  test('an export that was changed, cut or put in another order is refused, and nothing is left of it', async () => {
    const lines = readFileSync(house.file, 'utf8').trimEnd().split('\n');
    const changed = lines.map((line) => line.replace('message 3 of w1', 'message 4 of w1'));
    const entries = lines.filter((line) => line.startsWith('{"type":"entry"'));
    const swapped = lines.map((line) =>
      line === entries[4] ? (entries[5] ?? '') : line === entries[5] ? (entries[4] ?? '') : line,
    );
    const wrong: [string[], RegExp][] = [
      [changed, /is not the one that was written/],
      [swapped, /is not the one that was written/],
      [lines.slice(0, -1), /records, and there are .* not whole/],
      [lines.filter((line) => line !== entries.at(-1)), /not whole|not the one/],
      [lines.slice(1), /does not begin as one/],
      [['not json'], /no JSON/],
    ];
    for (const [text, reason] of wrong) {
      const path = `${freshFolder()}.ndjson`;
      writeFileSync(path, `${text.join('\n')}\n`);
      const data = freshFolder();
      const { code, stderr } = await runCli(['import', path], { data });
      expect(code, stderr).not.toBe(0);
      expect(stderr).toMatch(reason);
      expect(existsSync(join(data, DATABASE_FILE)), 'nothing was made').toBe(false);
    }
  }, 120_000);

  test('a move that was killed goes on where it was, nobody serves half a record, and what holds something else is refused', async () => {
    const data = copyOfHouse();
    const alice = callerOf('alice', 'w2');
    const now = Date.now();
    await fillRecord(data, [
      creating('long', alice, [], now),
      ...Array.from({ length: 2_000 }, (_, n) => posting('long', `message ${n}`, alice, { now })),
    ]);
    const url = await database('halfway');
    // The link holds still in the midst, with some pages there and others not, and is cut then.
    const link = await openSilentProxy(Number(new URL(url).port), HALF);
    const linked = new URL(url);
    linked.port = `${link.port}`;
    const moving = runCli(['migrate', '--from', data, '--to', linked.href], { data });
    await expect.poll(() => count(url), { timeout: 30_000, interval: 20 }).toBeGreaterThan(0);
    await link.close();
    const cut = await moving;
    expect(cut.code).not.toBe(0);
    expect(await count(url)).toBe(500);
    const half = await startHub({ flags: ['--store', url] }).catch((error: unknown) => error);
    expect(half).toBeInstanceOf(HubRefused);
    expect((half as HubRefused).stdout).toContain('is not complete');
    const other = house.data;
    const wrong = await runCli(['migrate', '--from', other, '--to', url], { data: other });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('is being filled from')]);
    const report = await runJson<{ counts: { entries: number } }>(['migrate', '--from', data, '--to', url], {
      data,
    });
    expect(report.counts.entries).toBeGreaterThan(2_000);
    const full = await runCli(['migrate', '--from', other, '--to', url], { data: other });
    expect([full.code, full.stderr]).toEqual([1, expect.stringContaining('holds a record already')]);
  }, 180_000);

  /** How much of a log is there; none before the tables are. */
  async function count(url: string): Promise<number> {
    const client = new Client({ connectionString: url, options: '-c parley.every_workspace=on' });
    await client.connect();
    try {
      const { rows } = await client.query('SELECT count(*)::int AS count FROM parley.entries');
      return (rows as { count: number }[])[0]?.count ?? 0;
    } catch {
      return 0;
    } finally {
      await client.end();
    }
  }

  test('a backup of a database is a folder that can be served at once; doctor and export look the same on both', async () => {
    const url = await database('backed');
    const hub = await startHub({ flags: ['--store', url] });
    const { token, thread, seq } = await fill(hub);
    const target = `${freshFolder()}-backup`;
    const { counts } = await runJson<{ counts: object }>(['backup', target], { data: hub.data });
    const report = await runJson<{ ok: boolean; counts: object; chain: string }>(['doctor'], {
      data: hub.data,
    });
    expect(report).toMatchObject({ ok: true, chain: 'ok', integrity: 'ok', index: 'ok' });
    expect(report.counts).toEqual(counts);
    await hub.stop();
    const restored = await startHub({ data: target });
    const next = { thread_id: thread, schema_version: 1, body: 'from the backup' };
    expect(await call(restored, token, 'post_message', next)).toMatchObject({ seq: seq + 1 });
    await restored.stop();
    const client = new Client({
      connectionString: url,
      options: '-c search_path=parley -c parley.every_workspace=on',
    });
    await client.connect();
    await client.query('ALTER TABLE entries DISABLE TRIGGER USER');
    await client.query("UPDATE entries SET json = replace(json, 'message 3', 'massage 3')");
    await client.query("UPDATE records SET mark = 'other' WHERE kind = 'document'");
    await client.end();
    const { code, stdout } = await runCli(['doctor', '--json'], { data: hub.data });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      chain: 'broken',
      integrity: 'damaged',
      index: 'differs',
    });
  }, 120_000);
});
