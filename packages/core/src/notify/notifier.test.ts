import type { Caller, NoticeKind, QuietHours } from '@parley/protocol';
import { afterEach, expect, test, vi } from 'vitest';

import { createFeed } from '../feed.ts';
import { openDesk } from '../sample-desk.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { Messenger, Notice, Outcome } from './notice.ts';
import type { KeptFollower } from '../kept-follower.ts';
import { createNotifier } from './notifier.ts';

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

const running: KeptFollower[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.close()));
});

/** A hub with one channel of kim, whose messages the test takes. */
async function openScene(
  answer: (notice: Notice) => Outcome = () => ({ sent: true }),
  options: { wants?: NoticeKind[]; quiet?: QuietHours; settings?: Partial<typeof SETTINGS> } = {},
) {
  const store = openMemoryStore();
  const time = { now: Date.parse('2030-01-01T12:00:00Z') };
  const feed = createFeed();
  const { deps, call } = openDesk(store, time, feed);
  const sent: Notice[] = [];
  const messenger: Messenger = {
    pushKey: 'key',
    send: async (_channel, notice) => {
      const outcome = answer(notice);
      sent.push(notice);
      return outcome;
    },
  };
  const start = async (): Promise<KeptFollower> => {
    const notifier = createNotifier({
      ...deps,
      messenger,
      settings: { ...SETTINGS, ...options.settings },
      onFault: (error) => {
        throw error;
      },
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
  await vi.waitFor(async () => expect(await kept()).toMatchObject([{ state: 'sent', tries: 1 }]));
  // A second look at the same log tells nothing again.
  await first.close();
  await start();
  const next = await raise();
  await arrived(sent, 2);
  expect(sent[1]?.path).toBe(`/asks/${next}`);
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
  await vi.waitFor(async () =>
    expect((await kept()).map(({ due_at }) => due_at)).toEqual([
      '2030-01-01T13:00:00.000Z',
      '2030-01-01T13:00:00.000Z',
    ]),
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
  const { thread_id } = (await call(bob, 'create_thread', { title: 'Talk', participants: ['kim'] })) as {
    thread_id: string;
  };
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
