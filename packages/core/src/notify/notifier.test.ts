import { type Caller, type NoticeKind, ParleyError, type QuietHours } from '@parley/protocol';
import { afterEach, expect, test, vi } from 'vitest';

import { createFeed } from '../feed.ts';
import { openSampleHub } from '../sample-hub.ts';
import type { Store } from '../store.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { Messenger, Notice, NoticeOutcome } from './notice.ts';
import { createNotifier, type Notifier } from './notifier.ts';

const caller = (agent_id: string, role: Caller['role'] = 'worker'): Caller => ({
  agent_id,
  workspace_id: 'w',
  role,
  session_id: `${agent_id}-1`,
});
const bob = caller('bob');
const kim = caller('kim', 'operator');

const SETTINGS = {
  graceMs: 0,
  lookMs: 20,
  troubleAfterMs: 0,
  repeatMs: 1_800_000,
  retryMs: 10,
  giveUpMs: 60_000,
};

const running: Notifier[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.close()));
});

/** A hub with one channel of kim, whose messages the test takes. */
async function openScene(
  answer: (notice: Notice) => NoticeOutcome | Promise<NoticeOutcome> = () => ({ sent: true }),
  options: {
    wants?: NoticeKind[];
    quiet?: QuietHours;
    settings?: Partial<typeof SETTINGS>;
    store?: Store;
    onFault?: (error: unknown) => void;
  } = {},
) {
  const { store = openMemoryStore() } = options;
  const time = { now: Date.parse('2030-01-01T12:00:00Z') };
  const feed = createFeed();
  const { deps, call } = openSampleHub(store, time, feed);
  const sent: Notice[] = [];
  const messenger: Messenger = {
    refusal: () => Promise.resolve(undefined),
    pushKey: 'key',
    send: async (_channel, notice) => {
      const outcome = answer(notice);
      sent.push(notice);
      return await outcome;
    },
  };
  const start = async (): Promise<Notifier> => {
    const notifier = createNotifier({
      ...deps,
      messenger,
      settings: { ...SETTINGS, ...options.settings },
      onFault:
        options.onFault ??
        ((error) => {
          throw error;
        }),
    });
    await notifier.start();
    running.push(notifier);
    return notifier;
  };
  const { channel } = (await call(kim, 'add_channel', {
    name: 'hook',
    kind: 'webhook',
    target: { url: 'https://hooks.example/secret-path' },
    wants: options.wants ?? ['ask', 'trouble', 'mention', 'resolved', 'finished'],
    ...(options.quiet === undefined ? {} : { quiet: options.quiet }),
  })) as { channel: { channel_id: string } };
  const raise = async (more: object = {}): Promise<string> =>
    ((await call(bob, 'raise_ask', { prompt: 'May I?', ...more })) as { ask: { ask_id: string } }).ask.ask_id;
  const kept = (): Promise<Notice[]> => store.records({ kind: 'notice', workspace_id: 'w', limit: 100 });
  return { store, time, call, sent, start, raise, kept, channel, deps };
}

const arrived = (sent: readonly Notice[], count: number): Promise<void> =>
  vi.waitFor(() => expect(sent).toHaveLength(count), 20_000);

test('an ask is told once, with who, where and what, and leads to itself', async () => {
  const { start, raise, sent, kept } = await openScene();
  const first = await start();
  const ask_id = await raise({
    kind: 'approval',
    command: 'git push origin main',
    cwd: '~/src/app',
    risk: 'high',
  });
  await arrived(sent, 1);
  expect(sent[0]).toMatchObject({
    kind: 'ask',
    title: 'bob · ~/src/app',
    body: 'git push origin main\nMay I?',
    path: `/asks/${ask_id}`,
    tag: ask_id,
    urgency: 'high',
  });
  await vi.waitFor(async () => expect(await kept()).toMatchObject([{ state: 'sent', tries: 1 }]), 20_000);
  // A second look at the same log tells nothing again.
  await first.close();
  await start();
  const next = await raise();
  await arrived(sent, 2);
  expect(sent[1]?.path).toBe(`/asks/${next}`);
});

test('what was noted though the notifier was told of an error goes out without a restart, once', async () => {
  const kept = openMemoryStore();
  let isAnswered = false;
  const store: Store = {
    ...kept,
    async transact(command) {
      const committed = await kept.transact(command);
      if (command.type !== 'make_notices' || isAnswered) return committed;
      isAnswered = true;
      throw new ParleyError('UNAVAILABLE', 'nobody knows');
    },
  };
  const faults: unknown[] = [];
  const scene = await openScene(undefined, { store, onFault: (error) => faults.push(error) });
  await scene.start();
  await scene.raise();
  await vi.waitFor(async () => expect(await scene.kept()).toMatchObject([{ state: 'sent' }]), 20_000);
  expect(scene.sent).toHaveLength(1);
  expect(faults).toHaveLength(1);
});

test('what was due when the hub stopped goes out after the next start, once', async () => {
  let works = false;
  const { start, raise, sent, kept, time } = await openScene(() =>
    works ? { sent: true } : { sent: false, why: 'it answered 503' },
  );
  const first = await start();
  await raise();
  await vi.waitFor(async () => expect((await kept())[0]?.tries).toBeGreaterThan(0), 20_000);
  await first.close();
  const tries = sent.length;
  works = true;
  time.now += 1_000;
  await start();
  await vi.waitFor(async () => expect(await kept()).toMatchObject([{ state: 'sent' }]), 20_000);
  expect(new Set(sent.map(({ notice_id }) => notice_id)).size).toBe(1);
  expect(sent.length).toBe(tries + 1);
});

test('an ask that was raised while the hub was down is told when it is back', async () => {
  const { start, raise, sent } = await openScene();
  const first = await start();
  await first.close();
  await raise();
  await start();
  await arrived(sent, 1);
});

test('in quiet hours it waits for their end; settled by then, nobody is woken for it', async () => {
  const quiet = { from: '11:00', to: '13:00', time_zone: 'UTC', urgent: true };
  const { start, raise, sent, kept, call, time } = await openScene(undefined, { quiet, wants: ['ask'] });
  await start();
  const settled = await raise({ expires_in_ms: 86_400_000 });
  const open = await raise({ expires_in_ms: 86_400_000 });
  await vi.waitFor(
    async () =>
      expect((await kept()).map(({ due_at }) => due_at)).toEqual([
        '2030-01-01T13:00:00.000Z',
        '2030-01-01T13:00:00.000Z',
      ]),
    20_000,
  );
  await call(kim, 'answer_ask', { ask_id: settled, decision: 'approved' });
  const urgent = await raise({ kind: 'approval', risk: 'high', command: 'rm -rf /' });
  await arrived(sent, 1);
  expect(sent[0]?.path).toBe(`/asks/${urgent}`);
  time.now = Date.parse('2030-01-01T13:00:01Z');
  await running[0]?.close();
  await start();
  await arrived(sent, 2);
  expect(sent[1]?.path).toBe(`/asks/${open}`);
  expect((await kept()).find(({ path }) => path === `/asks/${settled}`)).toMatchObject({
    state: 'dropped',
    why: 'settled meanwhile',
  });
});

test('a person who is mentioned is told unless they have read it; others are not', async () => {
  const { start, sent, call, kept } = await openScene();
  await start();
  const { thread_id } = (await call(bob, 'create_thread', {
    title: 'Talk',
    participants: ['kim', 'carol'],
  })) as { thread_id: string };
  const say = (body: string) => call(bob, 'post_message', { thread_id, schema_version: 1, body });
  await say('nobody is meant');
  await say('@kim what do you think?');
  await arrived(sent, 1);
  expect(sent[0]).toMatchObject({ kind: 'mention', title: 'bob in Talk', path: `/t/${thread_id}/2` });
  await say('@kim are you there?');
  await call(bob, 'update_thread_status', { thread_id, status: 'blocked', reason: 'waits for kim' });
  await arrived(sent, 2);
  expect(sent[1]).toMatchObject({ kind: 'trouble', title: 'Blocked: Talk', body: 'bob: waits for kim' });
  expect((await kept()).filter(({ kind }) => kind === 'mention')).toHaveLength(1);
});

test('in a thread of two every word of the other is for the person, told once a minute', async () => {
  const { start, sent, call, time, kept } = await openScene();
  await start();
  const made = await call(bob, 'create_thread', { title: 'Talk', participants: ['kim'] });
  const { thread_id } = made as { thread_id: string };
  const say = (body: string) => call(bob, 'post_message', { thread_id, schema_version: 1, body });
  await say('it is done');
  await arrived(sent, 1);
  expect(sent[0]).toMatchObject({ kind: 'mention', path: `/t/${thread_id}/1` });
  await say('and tested');
  time.now += 60_000;
  await say('shall I go on?');
  await arrived(sent, 2);
  expect((await kept()).filter(({ kind }) => kind === 'mention')).toHaveLength(2);
});

test('who reads the first word and leaves is told of the next, though it comes within the same minute', async () => {
  const { start, sent, call, time, kept } = await openScene(undefined, { settings: { graceMs: 50 } });
  await start();
  const made = await call(bob, 'create_thread', { title: 'Talk', participants: ['kim'] });
  const { thread_id } = made as { thread_id: string };
  const say = (body: string) => call(bob, 'post_message', { thread_id, schema_version: 1, body });
  const states = async () => (await kept()).map(({ state, subject }) => [state, subject.seq]);
  await say('it is done');
  await vi.waitFor(async () => expect(await states()).toEqual([['due', 1]]), 20_000);
  await call(kim, 'ack_read', { thread_id, last_read_seq: 1 });
  time.now += 1_000;
  await vi.waitFor(async () => expect(await states()).toEqual([['dropped', 1]]), 20_000);
  await say('one more thing');
  await vi.waitFor(async () => expect(await states()).toEqual([['due', 2]]), 20_000);
  // Of two that wait together the person is told of the last, even if the first is read.
  await say('## and **another**');
  await vi.waitFor(async () => expect(await states()).toEqual([['due', 3]]), 20_000);
  await call(kim, 'ack_read', { thread_id, last_read_seq: 2 });
  time.now += 1_000;
  await arrived(sent, 1);
  expect(sent[0]).toMatchObject({ kind: 'mention', path: `/t/${thread_id}/3`, body: 'and another' });
});

test('what came while an older word was sent in vain is what goes out next', async () => {
  const scene = await openScene(async ({ subject }) => {
    if (subject.seq !== 1) return { sent: true };
    await say('and tested');
    await vi.waitFor(async () => expect(await seqs()).toEqual([2]), 20_000);
    return { sent: false, why: 'it answered 503' };
  });
  const { start, sent, call, kept } = scene;
  const seqs = async () => (await kept()).map(({ subject }) => subject.seq);
  await start();
  const made = await call(bob, 'create_thread', { title: 'Talk', participants: ['kim'] });
  const { thread_id } = made as { thread_id: string };
  const say = (body: string) => call(bob, 'post_message', { thread_id, schema_version: 1, body });
  await say('it is done');
  await arrived(sent, 2);
  expect(sent.map(({ body }) => body)).toEqual(['it is done', 'and tested']);
  await vi.waitFor(
    async () => expect(await kept()).toMatchObject([{ state: 'sent', subject: { seq: 2 } }]),
    20_000,
  );
});

test('a further channel hears of the very next thing', async () => {
  const { start, sent, raise, call, time } = await openScene();
  await start();
  await raise();
  await arrived(sent, 1);
  // What comes next is read after a moment of rest, within which the channel is added.
  await raise();
  await new Promise((resolve) => setTimeout(resolve, 10));
  time.now += 1_000;
  const lee = caller('lee', 'operator');
  const target = { url: 'https://hooks.example/of-lee' };
  await call(lee, 'add_channel', { name: 'hook', kind: 'webhook', target, wants: ['ask'] });
  await raise();
  await arrived(sent, 4);
});

test('a first channel whose ring was lost is found by the next look', async () => {
  const { start, sent, raise, store, deps, channel } = await openScene();
  const kept = await store.records({ kind: 'channel', workspace_id: 'w', limit: 9 });
  await deps.log.append({
    type: 'remove_channel',
    caller: kim,
    now: 0,
    salt: 0,
    channel_id: channel.channel_id,
    input: {},
  });
  await start();
  for (const one of kept)
    await store.transact({ type: 'add_channel', caller: kim, now: 0, salt: 0, channel: one, input: {} });
  // It is looked for every 20 ms.
  await new Promise((resolve) => setTimeout(resolve, 200));
  await raise();
  await arrived(sent, 1);
});

test('an agent that fails is told of once, and again only after a while', async () => {
  const { start, sent, call, time } = await openScene();
  await start();
  time.now += 1_000;
  await call(bob, 'register_agent', { name: 'bob' });
  const fail = (message: string) => call(bob, 'report_event', { event_type: 'error', data: { message } });
  await fail('exit 137');
  await arrived(sent, 1);
  expect(sent[0]).toMatchObject({
    kind: 'trouble',
    title: 'bob: error',
    body: 'exit 137',
    path: '/agents/bob',
  });
  time.now += 60_000;
  await fail('exit 137 again');
  await call(bob, 'raise_ask', { prompt: 'help?' });
  await arrived(sent, 2);
  expect(sent[1]?.kind).toBe('ask');
});

test('only what a channel wants is told; a verdict takes the place of its request', async () => {
  const { start, sent, call, raise } = await openScene(undefined, { wants: ['resolved'] });
  await start();
  const ask_id = await raise();
  await call(kim, 'answer_ask', { ask_id, decision: 'denied', reason: 'not now' });
  await arrived(sent, 1);
  expect(sent[0]).toMatchObject({ kind: 'resolved', title: 'Denied by kim', body: 'not now', tag: ask_id });
});

test('a channel whose browser has gone is removed, and nobody sees its address or secret again', async () => {
  const { start, call, raise, store } = await openScene(() => ({
    sent: false,
    gone: true,
    why: 'it answered 410',
  }));
  const listed = JSON.stringify(await call(kim, 'list_channels', {}));
  expect(listed).toContain('hooks.example');
  expect(listed).not.toContain('secret-path');
  await start();
  await raise();
  await vi.waitFor(
    async () => expect(await store.records({ kind: 'channel', workspace_id: 'w', limit: 9 })).toEqual([]),
    20_000,
  );
});

test('a refusal that another try would not change is shown at the channel', async () => {
  const { start, call, raise, sent } = await openScene(() => ({
    sent: false,
    final: true,
    why: 'it answered 403',
  }));
  await start();
  await raise();
  await vi.waitFor(
    async () =>
      expect(await call(kim, 'list_channels', {})).toMatchObject({
        channels: [{ last_failure: { why: 'it answered 403' } }],
      }),
    20_000,
  );
  expect(sent).toHaveLength(1);
});

test('channels are a person’s own', async () => {
  const { call, channel } = await openScene();
  const lee = caller('lee', 'operator');
  expect(await call(lee, 'list_channels', {})).toMatchObject({ channels: [] });
  for (const name of ['update_channel', 'remove_channel', 'test_channel'] as const)
    await expect(call(lee, name, { channel_id: channel.channel_id })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  await expect(call(bob, 'list_channels', {})).rejects.toMatchObject({ code: 'INSUFFICIENT_AUTHORITY' });
});
