import { connect, type Socket } from 'node:net';

import { freshFolder, type HubProcess, removeFolder, startHub } from './hub-process.ts';
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
    const crowd = await gather(hub, token, threads[0] ?? '');
    const delays = await crowd.post(MESSAGES);
    const at = (share: number): number => Math.round(delays[Math.floor(delays.length * share)] ?? 0);
    line(`${FOLLOWERS} followers`, `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, all ${at(0.9999)} ms`);
    hold('follow.p99', at(0.99));
    crowd.leave();
  } finally {
    await hub.stop();
    removeFolder(data);
  }
}

/** Followers of one thread: posts so many messages to it, and says how long each took to each of them, the shortest first. */
export interface Crowd {
  post(messages: number): Promise<number[]>;
  leave(): void;
}

/** Opens a thousand followers of a thread. */
export async function gather(hub: HubProcess, token: string, thread: string): Promise<Crowd> {
  const arrivals = new Map<number, number[]>();
  const sockets = await Promise.all(
    Array.from({ length: FOLLOWERS }, () => follow(hub.port, thread, token, arrivals)),
  );
  return {
    async post(messages) {
      const delays: number[] = [];
      for (let i = 1; i <= messages; i++) {
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
      return delays.toSorted((a, b) => a - b);
    },
    leave: () => sockets.forEach((socket) => socket.destroy()),
  };
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
