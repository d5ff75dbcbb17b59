import { describe, expect, test, vi } from 'vitest';

import { openListen, openPush, type RpcStream } from '../harness/mcp-stream.ts';
import { type LegacySession, modern, openLegacy, resultOf } from '../harness/mcp-wire.ts';
import { runJson } from '../harness/run-cli.ts';
import { issueToken } from '../harness/tokens.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub({ settings: { 'auth.recheck_ms': 200 } });

const uriOf = (thread_id: string): string => `parley://threads/${thread_id}`;

/** The resources a stream was told of, in order. */
function reported(stream: RpcStream): unknown[] {
  return stream
    .messages()
    .filter(({ method }) => method === 'notifications/resources/updated')
    .map(({ params }) => params?.['uri']);
}

/** A client that hears of threads, whatever the era. */
interface Subscriber {
  stream: RpcStream;
  session?: LegacySession;
  /** The resources the server has agreed to tell of. */
  granted: string[];
}

const subscribe = {
  async modern(token: string, uris: string[]): Promise<Subscriber> {
    const stream = await openListen(scene.hub.url, token, { resourceSubscriptions: uris });
    await vi.waitFor(() => expect(stream.messages()).not.toEqual([]), 20_000);
    const [acknowledged] = stream.messages();
    expect(acknowledged?.method).toBe('notifications/subscriptions/acknowledged');
    const honoured = acknowledged?.params?.['notifications'] as Record<string, string[]>;
    return { stream, granted: honoured['resourceSubscriptions'] ?? [] };
  },
  async legacy(token: string, uris: string[]): Promise<Subscriber> {
    const session = await openLegacy(scene.hub.url, token);
    const stream = await openPush(scene.hub.url, token, session.id);
    const granted: string[] = [];
    for (const uri of uris) {
      const { answer } = await session.request('resources/subscribe', { uri });
      if (answer?.result !== undefined) granted.push(uri);
    }
    return { stream, session, granted };
  },
};

describe.each(['modern', 'legacy'] as const)('push in the %s era', (era) => {
  test('a thread that grows is told to those who asked, and to nobody else', async () => {
    const alice = scene.as('alice');
    const bob = scene.as('bob');
    const watched = await alice.thread('bob');
    const other = await alice.thread('bob');
    const hearing = await subscribe[era](bob.token, [uriOf(watched)]);
    const bystander = await subscribe[era](bob.token, [uriOf(other)]);
    expect(hearing.granted).toEqual([uriOf(watched)]);
    for (let i = 1; i <= 3; i++) {
      await alice.say(watched, `news ${i}`);
      await vi.waitFor(() => expect(reported(hearing.stream)).toHaveLength(i), 20_000);
    }
    expect(new Set(reported(hearing.stream))).toEqual(new Set([uriOf(watched)]));
    expect(reported(bystander.stream)).toEqual([]);
    hearing.stream.close();
    bystander.stream.close();
  });

  test('whoever may not read a thread is not told of it, and not told why beyond the code', async () => {
    const alice = scene.as('alice');
    const hidden = await alice.thread();
    const open = await alice.thread('carol');
    const foreign = await scene.as('dora', { workspace: 'w9' }).thread();
    const carol = scene.as('carol');
    const wanted = [hidden, open, foreign, 'th_unknown'].map(uriOf);
    const hearing = await subscribe[era](carol.token, [...wanted, 'test://else', uriOf('..%2F..')]);
    expect(hearing.granted).toEqual([uriOf(open)]);
    await alice.say(hidden, 'secret');
    await alice.say(open, 'public');
    await vi.waitFor(() => expect(reported(hearing.stream)).toEqual([uriOf(open)]), 20_000);
    const text = JSON.stringify(hearing.stream.messages());
    for (const thread of [hidden, foreign]) expect(text).not.toContain(thread);
    hearing.stream.close();
  });

  test('a revoked token ends the stream soon, though its threads stay', async () => {
    const issued = await issueToken({ agent: 'eve', workspace: 'w1' }, { data: scene.hub.data });
    const alice = scene.as('alice');
    const thread_id = await alice.thread('eve');
    const hearing = await subscribe[era](issued.token, [uriOf(thread_id)]);
    await alice.say(thread_id, 'before');
    await vi.waitFor(() => expect(reported(hearing.stream)).toHaveLength(1), 20_000);
    await runJson(['token', 'revoke', issued.jti], { data: scene.hub.data });
    await hearing.stream.ended;
    await alice.say(thread_id, 'after');
    expect(reported(hearing.stream)).toHaveLength(1);
  });
});

test('a call that waits ends when its token is revoked, in both eras', async () => {
  const issued = await issueToken({ agent: 'finn', workspace: 'w1' }, { data: scene.hub.data });
  const thread_id = await scene.as('finn').thread();
  const params = { name: 'wait_for_messages', arguments: { thread_id, timeout_ms: 300_000 } };
  const session = await openLegacy(scene.hub.url, issued.token);
  const waiting = Promise.all([
    modern(scene.hub.url, issued.token, 'tools/call', params),
    session.request('tools/call', params),
  ]);
  await runJson(['token', 'revoke', issued.jti], { data: scene.hub.data });
  const [inModern, inLegacy] = await waiting;
  expect([inModern.status, inModern.answer?.error?.data?.['code']]).toEqual([401, 'UNAUTHORIZED']);
  expect(inLegacy.messages).toEqual([]);
});

test('2025-11-25: what happened before the GET stream was opened is told once it is', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const session = await openLegacy(scene.hub.url, alice.token);
  await session.request('resources/subscribe', { uri: uriOf(thread_id) });
  await alice.say(thread_id, 'early');
  const stream = await openPush(scene.hub.url, alice.token, session.id);
  await vi.waitFor(() => expect(reported(stream)).toEqual([uriOf(thread_id)]), 20_000);
  expect((await session.request('resources/unsubscribe', { uri: uriOf(thread_id) })).answer?.result).toEqual(
    {},
  );
  await alice.say(thread_id, 'unheard');
  await session.request('tools/list');
  expect(reported(stream)).toHaveLength(1);
  stream.close();
});

test('2025-11-25: a refused subscription says the code', async () => {
  const hidden = await scene.as('alice').thread();
  const session = await openLegacy(scene.hub.url, scene.as('mallory').token);
  const { answer } = await session.request('resources/subscribe', { uri: uriOf(hidden) });
  expect(answer?.error).toMatchObject({ code: -32_602, data: { code: 'FORBIDDEN', uri: uriOf(hidden) } });
});

test('2026-07-28: listening for what never changes here ends at once, politely', async () => {
  const stream = await openListen(scene.hub.url, scene.as('alice').token, { toolsListChanged: true });
  await stream.ended;
  expect(stream.messages().map(({ method, result }) => method ?? result?.['resultType'])).toEqual([
    'notifications/subscriptions/acknowledged',
    'complete',
  ]);
});

test('resources are the caller’s threads, a page at a time, and can be read', async () => {
  const alice = scene.as('alice', { workspace: 'w3' });
  const ids: string[] = [];
  for (let i = 0; i < 60; i++) ids.push(await alice.thread());
  await scene.as('bob', { workspace: 'w3' }).thread();
  const list = (params: Record<string, unknown>) =>
    modern(scene.hub.url, alice.token, 'resources/list', params);
  const first = (await list({})).answer?.result as { resources: { uri: string }[]; nextCursor: string };
  const second = (await list({ cursor: first.nextCursor })).answer?.result as typeof first;
  expect(first.resources).toHaveLength(50);
  expect(second.nextCursor).toBeUndefined();
  expect([...first.resources, ...second.resources].map(({ uri }) => uri).toSorted()).toEqual(
    ids.map(uriOf).toSorted(),
  );
  const [thread_id = ''] = ids;
  for (let i = 1; i <= 70; i++) await alice.say(thread_id, `m${i}`);
  const reply = await modern(scene.hub.url, alice.token, 'resources/read', { uri: uriOf(thread_id) });
  const [content] = resultOf(reply)['contents'] as { text: string }[];
  const read = JSON.parse(content?.text ?? '') as {
    messages: { seq: number }[];
    thread: { last_seq: number };
  };
  expect(read.messages.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, i) => i + 21));
  expect(read.thread.last_seq).toBe(70);
  for (const uri of [
    uriOf('th_unknown'),
    'parley://threads/',
    'file:///etc/passwd',
    `${uriOf(thread_id)}/x`,
  ]) {
    const { answer } = await modern(scene.hub.url, alice.token, 'resources/read', { uri });
    expect([uri, answer?.error?.code, answer?.error?.data?.['uri']]).toEqual([uri, -32_602, uri]);
  }
});
