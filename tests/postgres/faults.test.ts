import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { callerOf, creating } from '@parley/core/store-contract';
import { openPostgres } from '@parley/store-postgres';
import { MIGRATIONS } from '../../packages/store-postgres/src/schema.ts';
import { v1Driver } from '../harness/call.ts';
import { runCli } from '../harness/run-cli.ts';
import { send } from '../harness/send.ts';
import { freshFolder, type HubProcess, HubRefused, startHub } from '../harness/start-hub.ts';
import { type PostgresServer, startPostgres } from '../harness/start-postgres.ts';
import { openSilentProxy } from './silent-proxy.ts';
import { issueToken } from '../harness/tokens.ts';
import { succeeded } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';

describeWith(['postgres'], 'a database that is wrong, away or behind', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ wal_level: 'replica' });
  }, 60_000);
  afterAll(() => server.close(), 120_000);

  async function database(name: string): Promise<string> {
    await server.query(`CREATE DATABASE ${name}`);
    return at(name);
  }

  function at(name: string, user = 'parley', password = ''): string {
    const url = new URL(server.url);
    Object.assign(url, { pathname: `/${name}`, username: user, password });
    return url.href;
  }

  async function say(url: string, text: string): Promise<void> {
    const client = new Client({
      connectionString: url,
      options: '-c search_path=parley -c parley.every_workspace=on',
    });
    await client.connect();
    await client.query(text);
    await client.end();
  }

  const ready = async (url: string) => (await send(`${url}/readyz`)).status;

  // They take nothing from each other: one waits long for a link that is dead.
  /* oxlint-disable no-shadow -- Tests that run at the same time have an `expect` each. */
  describe.concurrent('each with a database of its own', () => {
    test('[C-DUR-14] a way to the database that is cut without a word lets no call hang, and what is unknown is settled by its key', async ({
      expect,
    }) => {
      const url = await database('cut');
      const proxy = await openSilentProxy(Number(new URL(url).port));
      const through = new URL(url);
      through.port = String(proxy.port);
      const hub = await startHub({ flags: ['--store', through.href] });
      const { token } = await issueToken({ agent: 'alice' }, { data: hub.data });
      const { thread_id } = succeeded(await v1Driver.call(hub.url, token, 'create_thread', { title: 'x' }));
      const post = (body: string) =>
        v1Driver.call(hub.url, token, 'post_message', {
          thread_id,
          schema_version: 1,
          body,
          idempotency_key: body,
        });
      succeeded(await post('before'));
      proxy.silence(true);
      const at0 = performance.now();
      const answers = await Promise.all(Array.from({ length: 5 }, (_, i) => post(`cut ${i}`)));
      expect(performance.now() - at0).toBeLessThan(60_000);
      for (const { error } of answers) expect(error).toMatchObject({ code: 'UNAVAILABLE' });
      await expect.poll(() => ready(hub.url), { timeout: 20_000 }).toBe(503);
      proxy.silence(false);
      await expect.poll(() => ready(hub.url), { timeout: 20_000 }).toBe(200);
      const seqs = new Set<number>();
      for (let i = 0; i < 5; i++) seqs.add(succeeded(await post(`cut ${i}`)).seq);
      expect([...seqs].toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6]);
      await hub.stop();
      await proxy.close();
    }, 180_000);

    test('[C-LOCAL-01] bad configuration ends with one clear line and an exit code of its own, and no password', async ({
      expect,
    }) => {
      await server.query('CREATE DATABASE config');
      await server.query("CREATE ROLE locked LOGIN PASSWORD 'right-secret-word'");
      await server.admit('host all locked 127.0.0.1/32 scram-sha-256');
      const newer = await database('newer');
      await say(
        newer,
        'CREATE SCHEMA parley; CREATE TABLE parley_schema (version integer NOT NULL, oldest integer); INSERT INTO parley_schema VALUES (99, 99)',
      );
      const readOnly = await database('readonly');
      await server.query('ALTER DATABASE readonly SET default_transaction_read_only = on');
      const cases: [url: string, code: number, text: string][] = [
        ['postgres://parley:s3cret-word@127.0.0.1:1/x', 5, 'cannot be reached: ECONNREFUSED'],
        [at('config', 'locked', 'wr0ng-secret'), 4, 'refuses the user or the password'],
        [at('nowhere', 'parley', 's3cret-word'), 3, 'has no such database'],
        [newer, 1, 'is of a newer Parley (schema 99'],
        [readOnly, 2, 'takes no writes'],
        ['mysql://parley@127.0.0.1/x', 2, 'must begin with postgres:// or postgresql://'],
      ];
      const serving = cases.map(async ([store, code, text]) => {
        const ended = await runCli(['serve', '--port', '0', '--store', store], { data: freshFolder() });
        expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(text)]);
        expect(ended.stderr.trim().split('\n')).toHaveLength(1);
        expect(ended.stdout + ended.stderr).not.toMatch(/s3cret-word|wr0ng-secret/);
      });
      await Promise.all(serving);
      // Other commands go the same way; one is refused at the door, the other by what is behind it.
      for (const [store, code, text] of [cases[1], cases[3]] as typeof cases) {
        const listed = await runCli(['key', 'list', '--store', store], { data: freshFolder() });
        expect([listed.code, listed.stderr]).toEqual([code, expect.stringContaining(text)]);
        expect(listed.stdout + listed.stderr).not.toContain('wr0ng-secret');
      }
      const shown = await runCli(['config', '--store', at('config', 'parley', 's3cret-word')], {
        data: freshFolder(),
      });
      expect([shown.code, shown.stdout]).toEqual([0, expect.not.stringContaining('s3cret-word')]);
    }, 180_000);

    test('[C-DUR-19] a database of an older schema is brought up to date by whichever node comes first', async ({
      expect,
    }) => {
      const url = await database('older');
      const first = `CREATE SCHEMA parley; ${MIGRATIONS[0]}; CREATE TABLE parley_schema (version integer NOT NULL)`;
      await say(url, `${first}; INSERT INTO parley_schema VALUES (1)`);
      const options = { url, onFault: (message: string) => expect(message).toBe('') };
      const stores = await Promise.all([1, 2, 3].map(() => openPostgres(options)));
      for (const [i, { store }] of stores.entries()) {
        await store.transact(creating(`thread ${i}`, callerOf('alice', 'w')));
        await store.close();
      }
    }, 120_000);

    test('[C-DUR-15] a database that was restored from an older copy is refused, by the node that runs and by one that starts', async ({
      expect,
    }) => {
      const url = await database('behind');
      const hub = await startHub({ flags: ['--store', url] });
      const { token } = await issueToken({ agent: 'alice' }, { data: hub.data });
      const { thread_id } = succeeded(await v1Driver.call(hub.url, token, 'create_thread', { title: 'x' }));
      const post = (body: string) =>
        v1Driver.call(hub.url, token, 'post_message', { thread_id, schema_version: 1, body });
      succeeded(await post('kept'));
      const connected = (text: string) => server.query(text);
      const end = () =>
        connected(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname IN ('behind', 'copy') AND pid <> pg_backend_pid()",
        );
      await connected('ALTER DATABASE behind WITH ALLOW_CONNECTIONS false');
      await end();
      await connected('CREATE DATABASE copy TEMPLATE behind');
      await connected('ALTER DATABASE behind WITH ALLOW_CONNECTIONS true');
      await expect.poll(() => ready(hub.url), { timeout: 10_000 }).toBe(200);
      for (const body of ['lost 1', 'lost 2']) succeeded(await post(body));
      // The older copy takes its place under the running hub.
      await connected('ALTER DATABASE behind WITH ALLOW_CONNECTIONS false');
      await end();
      await connected('ALTER DATABASE behind RENAME TO newest');
      await connected('ALTER DATABASE copy RENAME TO behind');
      await connected('ALTER DATABASE behind WITH ALLOW_CONNECTIONS true');
      await expect
        .poll(async () => (await post('again')).error?.message ?? '', { timeout: 15_000 })
        .toContain('is behind what this node has acknowledged');
      // The log says of which workspace; a caller may be of another.
      expect(JSON.stringify((await post('again')).error)).not.toMatch(/w1|acknowledged\)/);
      await expect.poll(() => hub.stderr()).toContain('workspace w1 is at 2, 4 were acknowledged');
      await expect.poll(() => ready(hub.url)).toBe(503);
      await hub.stop();
      const started = await startHub({ data: hub.data }).catch((error: unknown) => error);
      expect(started).toBeInstanceOf(HubRefused);
      expect((started as HubRefused).stdout).toContain('restored from an older copy');
      // The newest one comes back, and nothing is lost.
      await end();
      await connected('ALTER DATABASE behind RENAME TO older_copy');
      await connected('ALTER DATABASE newest RENAME TO behind');
      await connected('ALTER DATABASE behind WITH ALLOW_CONNECTIONS true');
      const again = await startHub({ data: hub.data });
      const answer = await v1Driver.call(again.url, token, 'post_message', {
        thread_id,
        schema_version: 1,
        body: 'on',
      });
      expect(succeeded(answer).seq).toBe(4);
      await again.stop();
    }, 120_000);
  });
  /* oxlint-enable no-shadow */

  describe('a server that goes under a hub', () => {
    let hub: HubProcess;
    let url: string;
    let token: string;
    beforeAll(async () => {
      url = await database('under');
      hub = await startHub({ flags: ['--store', url] });
      ({ token } = await issueToken({ agent: 'alice' }, { data: hub.data }));
    }, 60_000);
    afterAll(async () => {
      expect(await hub.stop()).toBe(0);
      expect(hub.stderr()).not.toContain('"code":"INTERNAL"');
    });

    test('[R8] [C-DUR-13] while the database is away /readyz says so, nothing is acknowledged, and all heals within 10 s without a restart', async () => {
      const { thread_id } = succeeded(await v1Driver.call(hub.url, token, 'create_thread', { title: 'x' }));
      const post = (body: string) =>
        v1Driver.call(hub.url, token, 'post_message', {
          thread_id,
          schema_version: 1,
          body,
          idempotency_key: body,
        });
      succeeded(await post('before'));
      expect(await ready(hub.url)).toBe(200);
      await server.kill();
      await expect.poll(() => ready(hub.url), { timeout: 10_000 }).toBe(503);
      const refused = await post('while away');
      expect(refused.error).toMatchObject({
        code: 'UNAVAILABLE',
        details: { retry_after_ms: expect.any(Number) },
      });
      const read = await v1Driver.call(hub.url, token, 'list_threads', {});
      expect(read.error).toMatchObject({ code: 'UNAVAILABLE' });
      await server.start();
      await expect.poll(() => ready(hub.url), { timeout: 10_000 }).toBe(200);
      expect(succeeded(await post('while away')).seq).toBe(2);
      expect(succeeded(await post('before')).seq).toBe(1);
    }, 120_000);

    test('[R8] [C-LOCAL-01] [C-DUR-13] a replica is refused in one line; a database that becomes one is away until it is promoted, without a restart', async () => {
      const create = (title: string) => v1Driver.call(hub.url, token, 'create_thread', { title });
      succeeded(await create('before'));
      await server.demote();
      await expect.poll(() => ready(hub.url), { timeout: 10_000 }).toBe(503);
      expect((await create('while it is a replica')).error).toMatchObject({ code: 'UNAVAILABLE' });
      const { code, stderr } = await runCli(['serve', '--port', '0', '--store', url], {
        data: freshFolder(),
      });
      expect([code, stderr.trim().split('\n')]).toEqual([2, [expect.stringContaining('takes no writes')]]);
      await server.promote();
      await expect.poll(() => ready(hub.url), { timeout: 10_000 }).toBe(200);
      succeeded(await create('after'));
      const { result } = await v1Driver.call(hub.url, token, 'list_threads', {});
      const titles = result?.threads.map(({ title }) => title);
      expect(titles?.filter((title) => title !== 'x').toSorted()).toEqual(['after', 'before']);
    }, 180_000);

    test('[C-DUR-16] what PostgreSQL ends for its own or another’s sake is tried again or UNAVAILABLE, never INTERNAL', async () => {
      const { thread_id } = succeeded(await v1Driver.call(hub.url, token, 'create_thread', { title: 'x' }));
      const post = (body: string) =>
        v1Driver.call(hub.url, token, 'post_message', {
          thread_id,
          schema_version: 1,
          body,
          idempotency_key: body,
        });
      for (const state of ['40001', '40P01', '57P01', '53300']) {
        // The first two attempts fail, whoever makes them.
        await say(
          url,
          `CREATE SEQUENCE tried; CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN IF nextval('parley.tried') <= 2 THEN RAISE EXCEPTION 'injected' USING ERRCODE = '${state}'; END IF; RETURN NEW; END $$;
          CREATE TRIGGER trouble BEFORE INSERT ON entries FOR EACH STATEMENT EXECUTE FUNCTION trouble()`,
        );
        expect([state, (await post(`once ${state}`)).error]).toEqual([state, undefined]);
        // Now it does not pass.
        await say(
          url,
          `CREATE OR REPLACE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN RAISE EXCEPTION 'injected' USING ERRCODE = '${state}'; END $$`,
        );
        expect((await post(`never ${state}`)).error).toMatchObject({ code: 'UNAVAILABLE' });
        await say(url, 'DROP TRIGGER trouble ON entries; DROP FUNCTION trouble; DROP SEQUENCE tried');
        expect([state, (await post(`never ${state}`)).error]).toEqual([state, undefined]);
      }
      expect(hub.stderr()).not.toContain('"code":"INTERNAL"');
    }, 120_000);
  });
});
