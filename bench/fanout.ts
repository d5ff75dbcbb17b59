import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';

import type { ClientOrder, RoundReport } from './fanout-clients.ts';
import { BIN, freshFolder, type HubProcess, removeFolder, startHub } from './hub-process.ts';
import { residentMb } from './load.ts';
import { hold, line } from './report.ts';

const ROUNDS = 15;
const IDLE = 9_500;
const KID = 'bench-key';
const SETTINGS = { 'log.level': 'warn', 'live.ping_ms': 60_000 };

/** One post to many followers over /ws beside a bare `ws` broadcast of the same frame, and what an idle connection costs. */
export async function benchFanout(): Promise<void> {
  for (const followers of [1_000, 5_000]) await compare(followers);
  await idle();
}

async function compare(followers: number): Promise<void> {
  const data = freshFolder();
  const hub = await startHub(data, SETTINGS);
  const bare = child('./bare-broadcast.ts');
  const barePort = await reply<number>(bare);
  const ours = child('./fanout-clients.ts');
  const theirs = child('./fanout-clients.ts');
  try {
    const token = hub.token('bench');
    const { thread_id } = await hub.call<{ thread_id: string }>(token, 'create_thread', { title: 'bench' });
    await ask(ours, { do: 'open', port: hub.port, count: followers, key: register(hub), thread: thread_id });
    await ask(theirs, { do: 'open', port: barePort, count: followers, key: undefined, thread: '' });
    const text = 'x'.repeat(300);
    const hubRounds: RoundReport[] = [];
    const bareRounds: RoundReport[] = [];
    for (let seq = 1; seq <= ROUNDS; seq++) {
      const marker = `"seq":${seq},"message"`;
      const head = `HTTP/1.1\r\nhost: 127.0.0.1:${hub.port}\r\ncontent-type: application/json\r\nauthorization: Bearer ${token}\r\n`;
      const body = JSON.stringify({ thread_id, schema_version: 1, body: text });
      hubRounds.push(
        await ask(ours, { do: 'round', port: hub.port, head: `POST /v1/post_message ${head}`, body, marker }),
      );
      const frame = sampleFrame(thread_id, seq, text);
      const bareHead = `POST / HTTP/1.1\r\nhost: 127.0.0.1\r\n`;
      bareRounds.push(
        await ask(theirs, { do: 'round', port: barePort, head: bareHead, body: frame, marker }),
      );
    }
    const mine = quartile(hubRounds.slice(3).map(({ sent }) => sent));
    const reference = quartile(bareRounds.slice(3).map(({ sent }) => sent));
    const after = quartile(hubRounds.slice(3).map(({ answered }) => answered));
    line(
      `one post to ${followers} sockets`,
      `${mine.toFixed(0)} ms from sending it, ${after.toFixed(0)} ms from its answer; bare ws ${reference.toFixed(0)} ms: ratio ${(mine / reference).toFixed(2)}`,
    );
    hold('fanout.ratio', mine / reference, { what: `one post to ${followers} sockets, of a bare ws` });
  } finally {
    for (const process of [bare, ours, theirs]) process.kill();
    await hub.stop();
    removeFolder(data);
  }
}

async function idle(): Promise<void> {
  const data = freshFolder();
  const hub = await startHub(data, SETTINGS);
  const clients = child('./fanout-clients.ts');
  try {
    const key = register(hub);
    await ask(clients, { do: 'open', port: hub.port, count: 500, key, thread: '' });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    const before = residentMb(hub.pid);
    const more = child('./fanout-clients.ts');
    try {
      // Other names, or they would take the place of the first.
      await ask(more, { do: 'open', port: hub.port, count: IDLE, key, thread: '', from: 500 });
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      const each = ((residentMb(hub.pid) - before) * 1_024) / IDLE;
      hold('fanout.idle', each);
    } finally {
      more.kill();
    }
  } finally {
    clients.kill();
    await hub.stop();
    removeFolder(data);
  }
}

function child(path: string): ChildProcess {
  return fork(new URL(path, import.meta.url), { execArgv: ['--import', 'tsx'] });
}

function reply<T>(process: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void =>
      reject(new Error(`a process of the bench ended with ${code}`));
    process.once('exit', ended);
    process.once('message', (answer) => {
      process.off('exit', ended);
      resolve(answer as T);
    });
  });
}

function ask<T = RoundReport>(process: ChildProcess, order: ClientOrder): Promise<T> {
  const answer = reply<T>(process);
  process.send(order);
  return answer;
}

/** A key whose tokens the hub accepts: each follower needs an identity of its own. */
function register({ data }: HubProcess): { kid: string; pem: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  execFileSync(
    process.execPath,
    [BIN, 'key', 'add', '--public', '-', '--kid', KID, '--data', data, '--json'],
    {
      input: pem,
    },
  );
  return { kid: KID, pem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** A frame of the same size and shape as the hub sends. */
function sampleFrame(thread_id: string, seq: number, body: string): string {
  const message = {
    message_id: 'msg_01M7H07E9600000000001E1T22',
    thread_id,
    schema_version: 1,
    seq,
    sender_agent_id: 'bench',
    sender_session_id: 'bench',
    kind: 'chat',
    body,
    created_at: new Date().toISOString(),
  };
  return JSON.stringify({
    id: '550e8400-e29b-41d4-a716-446655440000',
    type: 'event',
    timestamp: message.created_at,
    source: 'parley',
    payload: { eventType: 'info', agentId: 'bench', data: { thread_id, seq, message } },
  });
}

/** What a quarter of the rounds stayed below: on a shared machine the slow ones tell of others. */
function quartile(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] ?? 0;
}
