import { setTimeout as sleep } from 'node:timers/promises';

import type { OutputOf } from '@parley/protocol';

import { freshFolder, removeFolder, startHub } from './hub-process.ts';
import { load } from './load.ts';
import { preparePosts } from './posts.ts';
import { hold, line } from './report.ts';

const CONNECTIONS = 32;
const MS = 20_000;
const LOOK_MS = 250;
/** So many texts of so many words: a few of these are common, most are rare. */
const TEXTS = 2_000;
const WORDS = 40;

/** How far the index of words is behind while posts come as fast as the hub takes them. */
export async function benchIndexLag(): Promise<void> {
  const data = freshFolder();
  const hub = await startHub(data);
  try {
    const { head, threads } = await preparePosts(hub);
    const operator = hub.token('ann', 'operator');
    const bodies = Array.from({ length: TEXTS }, (_, i) =>
      JSON.stringify({
        thread_id: threads[i % threads.length],
        schema_version: 1,
        body: text(i),
        idempotency_key: '{n}',
      }),
    );
    const order = { host: '127.0.0.1', port: hub.port, connections: CONNECTIONS, ms: MS, head, bodies };
    const posting = load({ ...order, seed: 'l' });
    const until = performance.now() + MS;
    const lags: number[] = [];
    while (performance.now() < until) {
      const { search } = await hub.call<OutputOf<'describe_hub'>>(operator, 'describe_hub', {});
      lags.push(search.lag_ms);
      await sleep(LOOK_MS);
    }
    const { requests, ms, p50, p99, errors } = await posting;
    const rate = Math.round((requests / ms) * 1_000);
    line('posts', `${rate}/s, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, errors ${errors}`);
    const most = Math.max(...lags);
    const usual = lags.toSorted((a, b) => a - b)[Math.floor(lags.length / 2)] ?? 0;
    hold('index-lag.behind', most, { figure: `p50 ${usual} ms, most ${most} ms` });
  } finally {
    await hub.stop();
    removeFolder(data);
  }
}

function text(n: number): string {
  return Array.from({ length: WORDS }, (_, i) => `w${((n * WORDS + i) * 7_919) % 30_011}`).join(' ');
}
