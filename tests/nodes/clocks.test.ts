import type { OperationName } from '@parley/protocol';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { atClock, CLOCK_ENV } from '../harness/other-clock.ts';
import { type HubProcess, startHub } from '../harness/start-hub.ts';
import { type PostgresServer, startPostgres } from '../harness/start-postgres.ts';
import { registerSigner, type Signer } from '../harness/tokens.ts';
import { succeeded } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { requireTool } from '../tools/tools.ts';

/** How long leases last, and more. */
const A_WHILE_MS = 8_000;

describeWith(['postgres', 'faketime'], 'nodes whose clocks differ', () => {
  let server: PostgresServer;
  let hubs: HubProcess[] = [];
  let signer: Signer;
  beforeAll(async () => {
    server = await startPostgres();
    const flags = ['--store', server.url];
    const shifted = (time: string) =>
      startHub({
        flags,
        env: CLOCK_ENV,
        readyMs: 60_000,
        wrapper: atClock(requireTool('faketime'), time),
      });
    // One after the other: the first has all jobs.
    hubs = [await startHub({ flags, readyMs: 60_000 }), await shifted('+10m'), await shifted('-10m')];
    signer = await registerSigner('test-key', { data: hubs[0]?.data ?? '' });
  }, 120_000);
  afterAll(async () => {
    await Promise.all(hubs.map((hub) => hub.stop()));
    await server.close();
  }, 60_000);

  const call = <N extends OperationName>(node: number, token: string, operation: N, input: unknown) =>
    v1Driver.call(hubs[node]?.url ?? '', token, operation, input);

  /** The epoch of each lease: it rises with each change of owner. */
  async function epochs(): Promise<Record<string, number>> {
    const client = new Client({
      connectionString: server.url,
      options: '-c parley.every_workspace=on -c search_path=parley',
    });
    await client.connect();
    const { rows } = await client.query<{ json: string }>("SELECT json FROM records WHERE kind = 'lease'");
    await client.end();
    const leases = rows.map(({ json }) => JSON.parse(json) as { name: string; epoch: number });
    return Object.fromEntries(leases.map(({ name, epoch }) => [name, epoch]));
  }

  test('[R2] no lease changes hands because one node is ten minutes ahead and another ten behind', async () => {
    const before = await epochs();
    expect(Object.keys(before).length).toBeGreaterThan(5);
    await new Promise((resolve) => setTimeout(resolve, A_WHILE_MS));
    expect(await epochs()).toEqual(before);
  }, 60_000);

  test('tokens, asks and keys run out by one clock, and what is said at any node bears its time', async () => {
    const token = signer.token({ agent: 'alice' });
    const { thread_id } = succeeded(await call(1, token, 'create_thread', { title: 'x' }));
    const keyed = { thread_id, schema_version: 1, body: 'one', idempotency_key: 'k' };
    for (const node of [2, 0, 1])
      expect(succeeded(await call(node, token, 'post_message', keyed)).seq).toBe(1);
    for (const [i, node] of [0, 1, 2].entries()) {
      const sent = await call(node, token, 'post_message', { thread_id, schema_version: 1, body: `${i}` });
      const { created_at } = succeeded(sent);
      expect(Math.abs(Date.parse(created_at) - Date.now())).toBeLessThan(30_000);
    }
    for (const node of [0, 1, 2]) {
      const raised = await call(node, token, 'raise_ask', { prompt: 'may I?', expires_in_ms: 120_000 });
      const { ask_id, expires_at } = succeeded(raised).ask;
      expect(Math.abs(Date.parse(expires_at) - Date.now() - 120_000)).toBeLessThan(30_000);
      for (const other of [0, 1, 2])
        expect(succeeded(await call(other, token, 'get_ask', { ask_id })).ask.status).toBe('open');
    }
  }, 60_000);
});
