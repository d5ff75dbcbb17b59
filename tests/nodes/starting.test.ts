import { afterAll, beforeAll, expect, test } from 'vitest';

import { type HubProcess, startHub } from '../harness/start-hub.ts';
import { type PostgresServer, startPostgres } from '../harness/start-postgres.ts';
import { describeWith } from '../tools/describe-with.ts';

describeWith(['postgres'], 'hubs that start at the same moment', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.close());

  test('three on an empty database start without a fault, with one migration', async () => {
    const hubs: HubProcess[] = await Promise.all(
      [1, 2, 3].map(() => startHub({ flags: ['--store', server.url], readyMs: 60_000 })),
    );
    // Longer than a lease lasts: each job has found its owner.
    await new Promise((resolve) => setTimeout(resolve, 7_000));
    // Nobody has called, so there is nothing to tell of.
    expect(hubs.map((hub) => hub.stderr())).toEqual(['', '', '']);
    const versions = await server.query('SELECT version FROM parley.parley_schema');
    expect(versions).toHaveLength(1);
    for (const hub of hubs) expect(await hub.stop()).toBe(0);
  }, 120_000);
});
