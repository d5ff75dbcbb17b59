import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { runJson } from '../harness/run-cli.ts';
import { send } from '../harness/send.ts';
import { freshFolder, type HubProcess, startHub } from '../harness/start-hub.ts';
import { type PostgresServer, startPostgres } from '../harness/start-postgres.ts';
import { issueByCommand } from '../harness/tokens.ts';
import { describeWith } from '../tools/describe-with.ts';

describeWith(['postgres'], 'hubs on one PostgreSQL', () => {
  let server: PostgresServer;
  const hubs: HubProcess[] = [];
  /** What they said before anybody called. */
  let said: string[];
  beforeAll(async () => {
    server = await startPostgres();
    const env = { PARLEY_STORE: server.url };
    const flags = ['--store', server.url];
    // All at once, over an empty database; by the flag and by the variable alike.
    hubs.push(...(await Promise.all([startHub({ flags }), startHub({ env }), startHub({ flags })])));
    // Longer than a lease lasts: each job has found its owner.
    await sleep(7_000);
    said = hubs.map((hub) => hub.stderr());
  }, 90_000);
  afterAll(async () => {
    const codes = await Promise.all(hubs.map((hub) => hub.stop()));
    await server.close();
    expect(codes).toEqual([0, 0, 0]);
  });

  test('three that begin at once on an empty database start without a fault, with one migration', async () => {
    expect(said).toEqual(['', '', '']);
    const versions = await server.query('SELECT version FROM parley.parley_schema');
    expect(versions).toHaveLength(1);
  });

  test('three hubs that begin at once on one database show one record, each with a folder of its own', async () => {
    const made = await Promise.all(
      hubs.map(({ data }, i) => runJson<{ thread_id: string }>(['thread', 'new', `thread ${i}`], { data })),
    );
    for (const { data } of hubs) {
      const { threads } = await runJson<{ threads: { thread_id: string }[] }>(['thread', 'list'], { data });
      expect(threads.map(({ thread_id }) => thread_id).toSorted()).toEqual(
        made.map(({ thread_id }) => thread_id).toSorted(),
      );
    }
    expect(new Set(hubs.map(({ data }) => data)).size).toBe(3);
  });

  test('[C-AUTH-11] [C-AUTH-12] on every node a token of any of them is good, and refused from the request after its revocation on', async () => {
    const [first, second, third] = hubs as [HubProcess, HubProcess, HubProcess];
    const ask = (hub: HubProcess, token: string) =>
      send(`${hub.url}/v1/list_threads`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{}',
      });
    for (let round = 0; round < 2; round++) {
      const { token, jti } = await issueByCommand({ agent: `agent-${round}` }, { data: first.data });
      for (const hub of hubs) expect((await ask(hub, token)).status).toBe(200);
      // The database alone is named: no folder of a node is needed to take a token back.
      const elsewhere = { data: freshFolder() };
      await runJson(['token', 'revoke', jti, '--store', server.url], elsewhere);
      const answers = await Promise.all([first, second, third].map((hub) => ask(hub, token)));
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
    }
    const kids = async (data: string) =>
      (await runJson<{ keys: { kid: string }[] }>(['key', 'list'], { data })).keys.map(({ kid }) => kid);
    const [kid = ''] = await kids(first.data);
    expect(await kids(second.data)).toEqual([kid]);
    const { token } = await issueByCommand({ agent: 'late' }, { data: third.data });
    expect((await ask(second, token)).status).toBe(200);
    await runJson(['key', 'retire', kid], { data: first.data });
    for (const hub of hubs) expect((await ask(hub, token)).status).toBe(401);
  });

  test('the keys of a hub stand in its database, and in no folder of a node', async () => {
    const rows = await server.query<{ name: string }>('SELECT name FROM parley.kept_files ORDER BY name');
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(['auth.json', 'push.json']));
    for (const { data } of hubs) expect(readdirSync(data)).not.toContain('auth.json');
  });
});
