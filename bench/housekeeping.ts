import { hubCaller, journalId } from '@parley/core';
import { openSqliteStore } from '@parley/store-sqlite';

import { freshFolder, removeFolder, startHub } from './hub-process.ts';
import type { LoadReport } from './load-worker.ts';
import { load } from './load.ts';
import { preparePosts } from './posts.ts';
import { hold, line } from './report.ts';

const DELIVERIES = 100_000;
const AT_ONCE = 1_000;

/** So many short pieces of reading at each hub, in turns: whatever else the machine does falls on both. */
const PIECES = 8;
const PIECE_MS = 1_500;

/** Reads while the hub looks again and again for what it may forget: beside nothing, and beside 100,000 that it may not. */
export async function benchHousekeeping(): Promise<void> {
  const readers = [await openReader(0), await openReader(DELIVERIES)];
  try {
    for (const { read } of readers) await read(2_000);
    for (let i = 0; i < PIECES; i++)
      for (const { read, pieces } of readers) pieces.push(await read(PIECE_MS));
  } finally {
    for (const reader of readers) await reader.close();
  }
  const [quiet = 1, busy = 1] = readers.map(({ count, pieces }) => {
    const p50 = median(pieces.map((piece) => piece.p50));
    const p99 = median(pieces.map((piece) => piece.p99));
    const reads = pieces.reduce((sum, { requests }) => sum + requests, 0);
    const figures = `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, ${reads} reads`;
    line(`read beside ${count} ended deliveries`, figures);
    return p99;
  });
  hold('housekeeping.p99', busy / quiet);
}

/** A hub with so many deliveries that ended, and one who reads there. */
async function openReader(count: number) {
  const data = freshFolder();
  await (await startHub(data)).stop();
  await fillDeliveries(data, count);
  const hub = await startHub(data, { 'knowledge.sweep_ms': 200 });
  const { token, threads } = await preparePosts(hub);
  const head = `GET /v1/threads/${threads[0]}/messages?limit=10 HTTP/1.1\r\nhost: 127.0.0.1:${hub.port}\r\nauthorization: Bearer ${token}\r\n`;
  const reading = { host: '127.0.0.1', port: hub.port, connections: 1, head, bodies: [''], seed: 'r' };
  return {
    count,
    pieces: [] as LoadReport[],
    read: (ms: number) => load({ ...reading, ms }),
    async close() {
      await hub.stop();
      removeFolder(data);
    },
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Deliveries that ended a moment ago, over ten workspaces. */
async function fillDeliveries(data: string, count: number): Promise<void> {
  const store = await openSqliteStore({
    folder: data,
    maxQueue: 100_000,
    maxBatch: 1_000,
    onFault: () => {},
  });
  const now = Date.now();
  const at = new Date(now + 86_400_000).toISOString();
  for (let done = 0; done < count; done += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, i) => {
        const caller = hubCaller(`bench-${i % 10}`);
        const head = { caller, now, salt: done + i };
        const delivery_id = `dlv_${String(done + i).padStart(8, '0')}`;
        await store.transact({
          type: 'accept_delivery',
          ...head,
          delivery: { delivery_id, eta: at, expires_at: at, idempotency_key: delivery_id },
          input: { action: 'knowledge.get_document', args: {} },
        });
        const outcome = { is: 'done', result: {} } as const;
        const thread_id = journalId(caller.workspace_id, caller.agent_id);
        const input = { delivery_id, outcome };
        await store.transact({ type: 'settle_delivery', ...head, thread_id, input });
      }),
    );
  await store.close();
}
