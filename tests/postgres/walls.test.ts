import { openPostgres } from '@parley/store-postgres';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import {
  acking,
  ALL,
  beating,
  callerOf,
  creating,
  posting,
} from '../../packages/core/src/store-contract/scene.ts';
import { WALLED } from '../../packages/store-postgres/src/schema.ts';
import { type PostgresServer, startPostgres } from '../harness/start-postgres.ts';
import { describeWith } from '../tools/describe-with.ts';

describeWith(['postgres'], 'the wall between workspaces in PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.close());

  async function connect(options: string): Promise<Client> {
    const client = new Client({ connectionString: server.url, options });
    await client.connect();
    return client;
  }

  /** A record of two tenants. */
  async function tenants(schema: string): Promise<void> {
    const { store } = await openPostgres({ url: server.url, schema, onFault: console.error });
    for (const workspace of ['one', 'two']) {
      const ann = callerOf('ann', workspace);
      await store.transact(creating(`t-${workspace}`, ann));
      await store.transact(posting(`t-${workspace}`, `a secret of ${workspace}`, ann, { key: 'k' }));
      await store.transact(acking(`t-${workspace}`, 1, ann));
      await store.transact(beating(ann, 'idle'));
    }
    await store.close();
  }

  test('[R12] a query that forgets its workspace sees nothing of another tenant, in any table, and without a word nothing at all', async () => {
    await tenants('walls');
    const client = await connect('-c search_path=walls');
    try {
      const { rows } = await client.query(`SELECT c.relname FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'workspace_id' AND NOT a.attisdropped
        WHERE c.relnamespace = 'walls'::regnamespace AND c.relkind = 'r'`);
      // A new table with a workspace is behind the wall, or is named here with the reason.
      const tables = rows.map(({ relname }: { relname: string }) => relname);
      expect(tables.toSorted()).toEqual([...WALLED, 'words'].toSorted());
      for (const table of WALLED) {
        const seen = async (): Promise<string[]> => {
          const found = await client.query(`SELECT DISTINCT workspace_id AS w FROM ${table} ORDER BY 1`);
          return found.rows.map(({ w }: { w: string }) => w);
        };
        await client.query('RESET parley.workspaces; RESET parley.every_workspace');
        expect([table, await seen()]).toEqual([table, []]);
        await client.query("SET parley.workspaces = '{one}'");
        expect([table, await seen()]).toEqual([table, ['one']]);
        const gone = await client.query(
          `UPDATE ${table} SET workspace_id = workspace_id WHERE workspace_id = 'two'`,
        );
        expect([table, gone.rowCount]).toEqual([table, 0]);
        await client.query('SET parley.every_workspace = on');
        expect([table, await seen()]).toEqual([table, expect.arrayContaining(['one', 'two'])]);
      }
      await client.query("RESET parley.every_workspace; SET parley.workspaces = '{one}'");
      // The index of words is not behind it: what it leads to is.
      const found = await client.query(`SELECT e.json FROM words w JOIN entries e USING (thread_id, seq)`);
      expect(found.rows.map(({ json }: { json: string }) => json).join()).not.toContain('secret of two');
      const put = client.query(`INSERT INTO participants VALUES ('two', 'eve', 't-two')`);
      await expect(put).rejects.toThrow('row-level security');
    } finally {
      await client.end();
    }
  });

  test('a role for which no wall holds is told of, and the one of the hubs is none', async () => {
    const told: string[] = [];
    const onNotice = (message: string): void => void told.push(message);
    for (const user of ['parley', 'postgres']) {
      const url = server.url.replace('parley@', `${user}@`);
      const { store } = await openPostgres({ url, schema: `of_${user}`, onFault: console.error, onNotice });
      await store.close();
    }
    expect(told).toEqual([expect.stringContaining('bypasses row-level security')]);
  });

  test('[R12] [C-DUR-19] a database from before the wall gets it at the next start, and keeps all it had', async () => {
    await tenants('older');
    const client = await connect('-c search_path=older -c parley.every_workspace=on');
    for (const table of WALLED)
      await client.query(
        `DROP POLICY workspaces ON ${table}; ALTER TABLE ${table} DISABLE ROW LEVEL SECURITY; ALTER TABLE ${table} NO FORCE ROW LEVEL SECURITY`,
      );
    await client.query(
      'ALTER TABLE cursors DROP COLUMN workspace_id; ALTER TABLE idempotency DROP COLUMN workspace_id',
    );
    await client.query(
      'DROP INDEX agent_states_by_owner; DROP FUNCTION parley_elsewhere; UPDATE parley_schema SET version = 2',
    );
    const { store } = await openPostgres({ url: server.url, schema: 'older', onFault: console.error });
    const ann = callerOf('ann', 'one');
    expect(await store.reading('t-one', 'ann', 'one')).toMatchObject({ last_read_seq: 1 });
    expect(await store.reading('t-one', 'ann', 'two')).toMatchObject({ last_read_seq: 0 });
    // A key of before still binds.
    const again = await store.transact(posting('t-one', 'a secret of one', ann, { key: 'k' }));
    expect(again).toMatchObject({ replayed: true, result: { seq: 1 } });
    const page = await store.page({ workspace_id: 'one', thread_id: 't-one', after: 0, ...ALL });
    expect(page.entries).toHaveLength(1);
    await store.close();
    await client.query('RESET parley.every_workspace');
    await client.query("SELECT set_config('parley.every_workspace', 'off', false)");
    expect((await client.query('SELECT * FROM cursors')).rows).toEqual([]);
    await client.end();
  });
});
