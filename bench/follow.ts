import { connect, type Socket } from 'node:net';

import { freshFolder, removeFolder, startHub } from './hub-process.ts';
import { preparePosts } from './posts.ts';
import { hold, line } from './report.ts';

const FOLLOWERS = 1_000;
const MESSAGES = 20;

/** A committed message on its way to 1,000 followers of one thread over server-sent events. */
export async function benchFollow(): Promise<void> {
  const data = freshFolder();
  const hub = await startHub(data);
  try {
    const { token, threads } = await preparePosts(hub);
    const [thread = ''] = threads;
    const arrivals = new Map<number, number[]>();
    const sockets = await Promise.all(
      Array.from({ length: FOLLOWERS }, () => follow(hub.port, thread, token, arrivals)),
    );
    const delays: number[] = [];
    for (let i = 1; i <= MESSAGES; i++) {
      const { seq } = await hub.call<{ seq: number }>(token, 'post_message', {
        thread_id: thread,
        schema_version: 1,
        body: `${i}`,
      });
      const committed = performance.now();
      while ((arrivals.get(seq)?.length ?? 0) < FOLLOWERS)
        await new Promise((resolve) => setTimeout(resolve, 5));
      delays.push(...(arrivals.get(seq) ?? []).map((at) => Math.max(0, at - committed)));
    }
    delays.sort((a, b) => a - b);
    const at = (share: number): number => Math.round(delays[Math.floor(delays.length * share)] ?? 0);
    line(`${FOLLOWERS} followers`, `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, all ${at(0.9999)} ms`);
    hold('follow.p99', at(0.99));
    for (const socket of sockets) socket.destroy();
  } finally {
    await hub.stop();
    removeFolder(data);
  }
}

function follow(
  port: number,
  thread: string,
  token: string,
  arrivals: Map<number, number[]>,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', reject);
    socket.write(
      `GET /v1/threads/${thread}/messages HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\naccept: text/event-stream\r\nauthorization: Bearer ${token}\r\n\r\n`,
    );
    socket.on('data', (chunk) => {
      const text = chunk.toString();
      if (text.includes(': stream')) resolve(socket);
      for (const match of text.matchAll(/^id: (\d+)$/gm)) {
        const seq = Number(match[1]);
        arrivals.set(seq, [...(arrivals.get(seq) ?? []), performance.now()]);
      }
    });
  });
}
