import { connect, type Socket } from 'node:net';

import { expect, test, vi } from 'vitest';

import { mainThreadMs, percentile, timed } from '../harness/latency.ts';
import { send } from '../harness/send.ts';
import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { openDescriptors, useHub } from '../harness/use-hub.ts';

/** How much slower than the cases allow a shared test machine may be. */
const { slack: SLACK } = sizeOf('C-LOAD-05');
const { heldMs: HELD_MS } = sizeOf('C-LOAD-06');
const HEADER_TIMEOUT_MS = 3_000;
const MB = 1_000_000;

const scene = useHub({
  settings: { 'http.header_timeout_ms': HEADER_TIMEOUT_MS, 'limits.request_bytes': 2 * MB },
});

test('[C-LOAD-05] 2,000 sockets with slow headers are closed in time and slow nobody down', async () => {
  const alice = scene.as('alice');
  const work = (): Promise<number> => timed(() => alice.ok('list_threads', {}));
  const quiet: number[] = [];
  for (let i = 0; i < 100; i++) quiet.push(await work());
  const before = openDescriptors(scene.hub.pid);

  const port = Number(new URL(scene.hub.url).port);
  let closed = 0;
  const sockets: Socket[] = [];
  for (let i = 0; i < 2_000; i++) {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.once('close', () => closed++);
    socket.resume();
    // Some say nothing at all, some begin and stop, some go on byte by byte.
    if (i % 4 !== 0) socket.write('POST /v1/list_threads HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
    sockets.push(socket);
    if (i % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const drip = setInterval(() => {
    for (const [i, socket] of sockets.entries()) if (i % 2 === 1 && socket.writable) socket.write('x');
  }, 500);
  const busy: number[] = [];
  for (let i = 0; i < 100; i++) {
    busy.push(await work());
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await vi.waitFor(() => expect(closed).toBe(2_000), { timeout: HEADER_TIMEOUT_MS * 5, interval: 50 });
  clearInterval(drip);
  await vi.waitFor(() => expect(openDescriptors(scene.hub.pid)).toBeLessThan(before + 16), 5_000);
  measured(
    'C-LOAD-05',
    'p95 of the others, alone',
    `${percentile(busy, 0.95).toFixed(1)} ms, ${percentile(quiet, 0.95).toFixed(1)} ms`,
  );
  expect(percentile(busy, 0.95)).toBeLessThan(Math.max(10, 2 * percentile(quiet, 0.95)) * SLACK);
});

/** How long the hub's main thread ran for something: its event loop was not held for longer. */
async function ranFor(call: () => Promise<unknown>): Promise<number> {
  const before = mainThreadMs(scene.hub.pid);
  await call();
  return mainThreadMs(scene.hub.pid) - before;
}

/** None of the inputs held the loop for longer than it may. */
function expectNotHeld(worst: readonly [number, string][]): void {
  const [longest = 0, input] = worst.toSorted(([a], [b]) => b - a)[0] ?? [];
  measured('C-LOAD-06', 'longest', `${longest.toFixed(1)} ms (${input})`);
  expect(worst.filter(([held]) => held > HELD_MS)).toEqual([]);
}

/** Texts on which careless patterns go back and forth for ever. */
const REDOS = [
  'a'.repeat(MB),
  `${'a'.repeat(50_000)}!`,
  `${' '.repeat(50_000)}x`,
  '-'.repeat(MB),
  '"'.repeat(MB / 2),
  '\\'.repeat(50_000),
  `${'0'.repeat(50_000)}Z`,
  `${'a.'.repeat(50_000)}@`,
  '\t\n'.repeat(50_000),
  '\u0130'.repeat(50_000),
  '(((('.repeat(10_000),
];

test('[C-LOAD-06] no input holds the event loop, whatever field it comes in', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const fields: [string, Record<string, unknown>][] = [
    ['create_thread', { title: 'x', participants: [] }],
    ['get_thread', { thread_id }],
    ['list_threads', { status: 'active', before: '' }],
    [
      'post_message',
      {
        thread_id,
        schema_version: 1,
        kind: 'chat',
        body: 'x',
        metadata: {},
        in_reply_to: 'm',
        idempotency_key: 'k',
      },
    ],
    ['read_messages', { thread_id, since_seq: 0 }],
    ['get_message', { thread_id, message_id: 'm' }],
    ['search_messages', { query: 'x' }],
    ['update_thread_status', { thread_id, status: 'blocked', reason: 'x' }],
    ['heartbeat_session', { runtime: 'x', session_id: 's' }],
    ['list_sessions', { of_agent: 'x' }],
    ['trigger_participant', { thread_id, target_agent_id: 'x', reason: 'x', trigger_prompt: 'x' }],
  ];
  const worst: [number, string][] = [];
  for (const [operation, input] of fields) {
    for (const field of Object.keys(input)) {
      for (const text of REDOS) {
        const held = await ranFor(() => alice.call(operation as 'get_thread', { ...input, [field]: text }));
        worst.push([held, `${operation}.${field} ${text.slice(0, 4)}`]);
      }
    }
  }
  expectNotHeld(worst);
});

test('[C-LOAD-06] no wide or odd document holds the event loop', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${alice.token}` };
  const metadata = (json: string): string =>
    `{"thread_id":"${thread_id}","schema_version":1,"body":"x","metadata":${json}}`;
  const documents: Record<string, string> = {
    keys: metadata(
      `{${Array.from({ length: 19_000 }, (_, i) => `"key ${i}":"${'v'.repeat(80)}"`).join(',')}}`,
    ),
    'few long keys': metadata(
      `{${Array.from({ length: 10 }, (_, i) => `"${i}${'k'.repeat(MB / 10)}":1`).join(',')}}`,
    ),
    items: metadata(`{"a":[${'1,'.repeat(MB / 2)}1]}`),
    'empty lists': metadata(`{"a":[${'[],'.repeat(MB / 3)}1]}`),
    'empty objects': metadata(`{"a":[${'{},'.repeat(MB / 3)}1]}`),
    digits: metadata(`{"a":0.${'1'.repeat(MB)}}`),
    escapes: metadata(`{"a":"${'\\u0041'.repeat(MB / 6)}"}`),
    spaces: metadata(`{${' '.repeat(MB)}}`),
    deep: metadata('['.repeat(MB)),
    names: `{"title":"x","participants":[${'"a",'.repeat(MB / 4)}"a"]}`,
    files: metadata(`{"event_type":"fix_pushed","files":[${'1,'.repeat(15_000)}1]}`).replace(
      '{',
      '{"kind":"event",',
    ),
    'repeated key': metadata(`{${'"a":1,'.repeat(MB / 6)}"a":1}`),
  };
  const worst: [number, string][] = [];
  for (const [name, body] of Object.entries(documents)) {
    for (const operation of ['post_message', 'create_thread']) {
      const held = await ranFor(() =>
        send(`${scene.hub.url}/v1/${operation}`, { method: 'POST', headers, body }),
      );
      worst.push([held, `${operation} ${name}`]);
    }
  }
  for (const [name, path, more] of [
    ['query', `/v1/threads?${'a=1&'.repeat(3_500)}`, {}],
    ['path', `/v1/threads${'/'.repeat(14_000)}`, {}],
    ['escapes', `/v1/threads/${'%41'.repeat(4_500)}`, {}],
    ['content type', '/v1/threads', { 'content-type': `application/json${' '.repeat(12_000)}x` }],
    ['token', '/v1/threads', { authorization: `Bearer ${'a.'.repeat(7_000)}!` }],
    ['accept', '/v1/threads', { accept: 'text/event-stream,'.repeat(700) }],
  ] as const)
    worst.push([
      await ranFor(() => send(`${scene.hub.url}${path}`, { headers: { ...headers, ...more } })),
      name,
    ]);
  expectNotHeld(worst);
});

test('[C-LOAD-06] no record, however it was filled, holds the event loop when it is read', async () => {
  const alice = scene.as('alice', { workspace: 'wide' });
  const names = Array.from({ length: 1_000 }, (_, i) => `${i}-`.padEnd(120, 'x'));
  await Promise.all(
    Array.from({ length: 60 }, () => alice.ok('create_thread', { title: 'wide', participants: names })),
  );
  const thread_id = await alice.thread('bob');
  const bob = scene.as('bob', { workspace: 'wide' });
  const long = 'y'.repeat(110);
  const post = (i: number) =>
    (i % 2 === 0 ? alice : bob).call('post_message', {
      thread_id,
      schema_version: 1,
      kind: 'event',
      body: long,
      metadata: {
        event_type: ['finding_reported', 're_review_requested', 'fix_pushed', 'finding_verified'][i % 4],
        finding_id: `${long}${i}`,
        task_id: long,
        severity: `${long}${i}`,
        file: long.repeat(4),
        commit: `${long}${i}`,
      },
    });
  for (let i = 0; i < 1_600; i += 50) await Promise.all(Array.from({ length: 50 }, (_, k) => post(i + k)));
  const worst: [number, string][] = [];
  for (const [operation, input] of [
    ['list_threads', { limit: 200 }],
    ['get_thread', { thread_id }],
    ['read_messages', { thread_id, limit: 200 }],
    ['summarize_thread', { thread_id, max_messages: 10_000 }],
    ['search_messages', { query: 'yyy '.repeat(200) }],
  ] as const)
    worst.push([await ranFor(() => alice.ok(operation, input)), operation]);
  expectNotHeld(worst);
});
