import { fork } from 'node:child_process';

import type { OutputOf } from '@parley/protocol';

import { freshFolder, type HubProcess, removeFolder, startHub } from './hub-process.ts';
import { cpuSeconds, load } from './load.ts';
import type { LoadReport } from './load-worker.ts';
import { hold, line } from './report.ts';

type Hub = OutputOf<'describe_hub'>;

const THREADS = 20;
const MS = 4_000;

/** Durable posts over /v1 beside a bare echo of the same body, in alternating rounds. */
export async function benchPosts(): Promise<void> {
  const data = freshFolder();
  const hub = await startHub(data);
  const echo = fork(new URL('./echo-server.ts', import.meta.url), { execArgv: ['--import', 'tsx'] });
  const echoPort = await new Promise<number>((resolve) =>
    echo.once('message', (port) => resolve(port as number)),
  );
  try {
    const { head, bodies } = await preparePosts(hub);
    // Both have compiled their code before anything counts.
    for (const port of [echoPort, hub.port])
      await load({ host: '127.0.0.1', port, connections: 64, ms: MS, head, bodies, seed: `warm${port}` });
    for (const connections of [64, 256]) {
      const ratios: number[] = [];
      let cpu = 0;
      let last: LoadReport | undefined;
      for (let round = 0; round < 3; round++) {
        const reference = await load({
          host: '127.0.0.1',
          port: echoPort,
          connections,
          ms: MS,
          head,
          bodies,
          seed: `e${connections}-${round}`,
        });
        const before = cpuSeconds(hub.pid);
        last = await load({
          host: '127.0.0.1',
          port: hub.port,
          connections,
          ms: MS,
          head,
          bodies,
          seed: `p${connections}-${round}`,
        });
        cpu = ((cpuSeconds(hub.pid) - before) * 1e6) / last.requests;
        ratios.push(last.requests / last.ms / (reference.requests / reference.ms));
        line(
          `posts, ${connections} connections`,
          `${Math.round((last.requests / last.ms) * 1_000)}/s against echo ${Math.round((reference.requests / reference.ms) * 1_000)}/s, ratio ${ratios.at(-1)?.toFixed(2)}, ${cpu.toFixed(0)} µs CPU a post, p50 ${last.p50.toFixed(1)} ms, p99 ${last.p99.toFixed(1)} ms, errors ${last.errors}`,
        );
      }
      const middle = ratios.toSorted((a, b) => a - b)[1] ?? 0;
      hold('posts.echo', middle, { what: `posts of ${connections} connections, of the echo` });
      if (connections === 64) hold('posts.cpu', cpu);
    }
    const { search } = await hub.call<Hub>(hub.token('ann', 'operator'), 'describe_hub', {});
    line('index of words, right after', `${search.behind} entries and ${search.lag_ms} ms behind`);
  } finally {
    echo.kill();
    await hub.stop();
    removeFolder(data);
  }
}

/** Makes threads and the request texts that post 300-byte bodies into them. */
export async function preparePosts(
  hub: HubProcess,
): Promise<{ head: string; bodies: string[]; token: string; threads: string[] }> {
  const token = hub.token('bench');
  const threads: string[] = [];
  for (let i = 0; i < THREADS; i++) {
    threads.push(
      (await hub.call<{ thread_id: string }>(token, 'create_thread', { title: `bench ${i}` })).thread_id,
    );
  }
  const text = 'x'.repeat(300);
  const bodies = threads.map((thread_id) =>
    JSON.stringify({ thread_id, schema_version: 1, body: text, idempotency_key: '{n}' }),
  );
  const head = `POST /v1/post_message HTTP/1.1\r\nhost: 127.0.0.1:${hub.port}\r\ncontent-type: application/json\r\nauthorization: Bearer ${token}\r\n`;
  return { head, bodies, token, threads };
}
