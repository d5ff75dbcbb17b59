import { createLeases, createLog, createFeed, createOwnedJob, isLeaseLost, type Store } from '@parley/core';
import { callerOf, creating, posting } from '@parley/core/store-contract';
import { openPostgres } from '@parley/store-postgres';
import { randomBytes, randomInt } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { type PostgresServer, startPostgres } from '../harness/start-postgres.ts';
import { describeWith } from '../tools/describe-with.ts';

const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const chance = { bytes: (count: number) => randomBytes(count), below: (bound: number) => randomInt(bound) };
const ann = callerOf('ann', 'w');

describeWith(['postgres'], 'leases over one PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server.close());

  async function open(schema: string): Promise<Store> {
    const { store } = await openPostgres({
      url: server.url,
      schema,
      onFault: () => {},
      onRecovery: () => {},
    });
    onTestFinished(() => store.close().catch(() => {}));
    return store;
  }

  const leasesOf = (store: Store, owner: string, ttlMs: number) =>
    createLeases({ store, clock, chance, owner, ttlMs });

  test('[R2] a write under a lease and the taking of that lease never pass each other', async () => {
    const [a, b] = [await open('fence'), await open('fence')];
    await a.transact(creating('t', ann));
    const first = await leasesOf(a, 'a', 400).take('queue', new AbortController().signal);
    // The owner has found its epoch on record, and is kept from writing: somebody else has the row of the thread.
    const other = new Client({
      connectionString: server.url,
      options: '-c search_path=fence -c parley.every_workspace=on',
    });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query('BEGIN');
    await other.query("SELECT 1 FROM threads WHERE thread_id = 't' FOR UPDATE");
    const order: string[] = [];
    const writing = a
      .transact({ ...posting('t', 'from the first', ann), fence: first.fence })
      .then(() => order.push('written'));
    await new Promise((resolve) => setTimeout(resolve, 600));
    first.lose();
    // Its time is over, but what it has begun counts: whoever is next has the lease after that, and not before.
    const taking = leasesOf(b, 'b', 900)
      .take('queue', new AbortController().signal)
      .then(() => order.push('taken'));
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(order).toEqual([]);
    await other.query('COMMIT');
    await Promise.all([writing, taking]);
    expect(order).toEqual(['written', 'taken']);
    const late = a.transact({ ...posting('t', 'too late', ann), fence: first.fence });
    expect(isLeaseLost(await late.catch((error: unknown) => error))).toBe(true);
  }, 30_000);

  test('[R2] changes of owner under writes of both: every write stands under the epoch of its moment', async () => {
    const stores = [await open('race'), await open('race')] as const;
    await stores[0].transact(creating('t', ann));
    const ending = new AbortController();
    let written = 0;
    const seen = new Set<number>();
    const run = async (store: Store, owner: string): Promise<void> => {
      const leases = leasesOf(store, owner, 30);
      while (!ending.signal.aborted) {
        const lease = await leases.take('queue', ending.signal).catch(() => undefined);
        if (lease === undefined) return;
        // It writes on although its time may be over, as one that has slept does.
        for (let i = 0; i < 20; i++) {
          const body = `${lease.fence.epoch} ${owner}`;
          const is = await store.transact({ ...posting('t', body, ann), fence: lease.fence }).then(
            () => true,
            (error: unknown) => (isLeaseLost(error) ? false : Promise.reject(error as Error)),
          );
          if (!is) break;
          written++;
          seen.add(lease.fence.epoch);
        }
        lease.lose();
        // Whoever takes it again before its time is over keeps its epoch; on a quick machine the other would wait long.
        await new Promise((resolve) => setTimeout(resolve, randomInt(60)));
      }
    };
    const running = [run(stores[0], 'a'), run(stores[1], 'b')];
    await expect.poll(() => seen.size, { timeout: 50_000, interval: 100 }).toBeGreaterThan(5);
    ending.abort();
    await Promise.all(running);
    const all = { workspace_id: 'w', thread_id: 't', after: 0, limit: 100_000, max_bytes: 1e9 };
    const { entries } = await stores[0].page(all);
    const epochs = entries.map(({ body }) => Number(body.split(' ')[0]));
    expect(epochs.length).toBe(written);
    expect(epochs).toEqual(epochs.toSorted((x, y) => x - y));
    expect(new Set(epochs).size).toBeGreaterThan(5);
    // Nobody else has written under an epoch.
    expect(new Set(entries.map(({ body }) => body)).size).toBe(new Set(epochs).size);
  }, 90_000);

  test('[R2] a job goes to another within ten seconds of the death of its owner, and at once when it is given back', async () => {
    const [a, b] = [await open('jobs'), await open('jobs')];
    const faults: unknown[] = [];
    const jobOf = (store: Store, owner: string) =>
      createOwnedJob(
        { leases: leasesOf(store, owner, 6_000), onFault: (error) => faults.push(error) },
        'wakes',
      );
    const begun: string[] = [];
    const first = jobOf(a, 'a');
    await first.start(async () => void begun.push('a'));
    const second = jobOf(b, 'b');
    await second.start(async () => void begun.push('b'));
    expect(begun).toEqual(['a']);
    const given = performance.now();
    await first.close();
    await expect.poll(() => begun, { timeout: 10_000 }).toEqual(['a', 'b']);
    expect(performance.now() - given).toBeLessThan(3_500);
    // The store of the second ends without a word, as its process would.
    const log = second.log(createLog(b, createFeed()));
    await b.close();
    const died = performance.now();
    const third = jobOf(a, 'c');
    await third.start(async () => void begun.push('c'));
    await expect.poll(() => begun, { timeout: 12_000 }).toEqual(['a', 'b', 'c']);
    expect(performance.now() - died).toBeLessThan(10_000);
    await expect(log.append(posting('t', 'late', ann))).rejects.toThrow();
    await third.close();
    await second.close();
  }, 40_000);
});
