import type { Caller, Role } from '@parley/protocol';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import type { Command, Idempotency, PostMessage } from './commands.ts';
import type { Committed, Page, PageQuery, Store, ThreadsQuery } from './store.ts';

/** A store that the contract may open again, where it keeps anything. */
export interface OpenedStore {
  store: Store;
  /** Closes and opens it anew on the same data; undefined for a store that forgets. */
  reopen: (() => Promise<Store>) | undefined;
  close(): Promise<void>;
}

const NOW = Date.parse('2030-01-01T00:00:00Z');
const ALL = { limit: 1_000, max_bytes: 1e9 };

/** Somebody of a workspace. */
export function callerOf(agent_id: string, workspace_id: string, role: Role = 'worker'): Caller {
  return { agent_id, workspace_id, role, session_id: `${agent_id}-1` };
}

let salt = 0;

/** A command that makes a thread. */
export function creating(thread_id: string, caller: Caller, participants: string[] = [], now = NOW): Command {
  const input = { title: thread_id, type: 'workflow' as const, participants };
  return { type: 'create_thread', caller, now, salt: salt++, thread_id, input };
}

export interface PostOptions {
  now?: number;
  key?: string;
  fresh_after?: number;
  input?: Partial<PostMessage['input']>;
}

/** A command that posts a message, with a key where one is given. */
export function posting(
  thread_id: string,
  body: string,
  caller: Caller,
  options: PostOptions = {},
): PostMessage {
  const { now = NOW, key, fresh_after = 0, input = {} } = options;
  const content = { schema_version: 1, kind: 'chat' as const, body, ...input };
  const command = { type: 'post_message' as const, caller, now, salt: salt++, thread_id };
  if (key === undefined) return { ...command, input: content };
  const scope = `${caller.workspace_id} ${thread_id}`;
  const idempotency: Idempotency = { scope, key, fresh_after };
  return { ...command, input: { ...content, idempotency_key: key }, idempotency };
}

const acking = (thread_id: string, last_read_seq: number, caller: Caller): Command => ({
  type: 'ack_read',
  caller,
  now: NOW,
  salt: salt++,
  thread_id,
  input: { last_read_seq },
});

const beating = (caller: Caller, status: 'active' | 'idle'): Command => ({
  type: 'heartbeat',
  caller,
  now: NOW,
  salt: salt++,
  input: { runtime: 'codex_cli', status, resumable: true, management_mode: 'managed' },
});

const bodies = (page: Page): string[] => page.entries.map(({ body }) => body);
const seqs = (page: Page): number[] => page.entries.map(({ seq }) => seq);

/** One test's own workspace, with a thread `t` for alice and bob, in a store that the tests of a suite share. */
interface Scene {
  store: Store;
  workspace_id: string;
  alice: Caller;
  bob: Caller;
  chief: Caller;
  /** Somebody of another workspace. */
  carol: Caller;
  t: string;
  say: (body: string, options?: PostOptions) => Promise<Committed>;
  page: (after?: number, more?: Partial<PageQuery>) => Promise<Page>;
}

let scenes = 0;

async function createScene(store: Store): Promise<Scene> {
  const workspace_id = `w${++scenes}`;
  const alice = callerOf('alice', workspace_id);
  const t = `t${scenes}`;
  await store.transact(creating(t, alice, ['bob']));
  return {
    store,
    workspace_id,
    alice,
    bob: callerOf('bob', workspace_id),
    chief: callerOf('chief', workspace_id, 'operator'),
    carol: callerOf('carol', `${workspace_id}-other`),
    t,
    say: (body, options) => store.transact(posting(t, body, alice, options)),
    page: (after = 0, more = {}) => store.page({ workspace_id, thread_id: t, after, ...ALL, ...more }),
  };
}

/** What every store must do; the memory store, SQLite and PostgreSQL run the same suite. */
export function testStore(open: () => Promise<OpenedStore>): void {
  let opened: OpenedStore | undefined;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(() => opened?.close());

  const check = (name: string, run: (scene: Scene) => Promise<void>): void => {
    test(name, async () => {
      if (opened === undefined) throw new Error('the store did not open');
      await run(await createScene(opened.store));
    });
  };

  test('a thread is found, foreign or unknown', async () => {
    if (opened === undefined) throw new Error('the store did not open');
    const { store } = opened;
    const locate = async (workspace_id: string, thread_id: string) =>
      (await store.page({ workspace_id, thread_id, after: 0, ...ALL })).located;
    expect(await locate('one', 'nowhere')).toEqual({ thread: undefined, foreign: false });
    await store.transact(creating('here', callerOf('alice', 'one')));
    expect((await locate('one', 'here')).thread).toMatchObject({ thread_id: 'here', workspace_id: 'one' });
    expect(await locate('one', 'nowhere')).toEqual({ thread: undefined, foreign: false });
    expect(await locate('two', 'nowhere')).toEqual({ thread: undefined, foreign: true });
    await store.transact(creating('there', callerOf('carol', 'two')));
    expect(await locate('two', 'nowhere')).toEqual({ thread: undefined, foreign: false });
    const lost = store.transact(posting('nowhere', 'x', callerOf('alice', 'three')));
    await expect(lost).rejects.toMatchObject({ code: 'OUT_OF_SCOPE_WORKSPACE' });
  });

  check(
    '[R2] a thread begins empty and grows by one seq at a time',
    async ({ store, workspace_id, alice, say, page, t }) => {
      const made = await store.transact(creating(`${t}-new`, alice));
      expect(made).toEqual({
        result: { thread_id: `${t}-new`, status: 'active', created_at: '2030-01-01T00:00:00.000Z' },
        replayed: false,
        reached: [{ thread_id: `${t}-new`, last_seq: 0, workspace_id, pos: expect.any(Number) as number }],
      });
      expect(await page()).toMatchObject({ entries: [], has_more: false });
      for (let i = 1; i <= 3; i++)
        expect(await say(`${i}`)).toMatchObject({
          result: { seq: i, thread_status: 'active' },
          reached: [{ thread_id: t, last_seq: i }],
        });
      const all = await page();
      expect(all.located.thread).toMatchObject({ thread_id: t, participants: ['alice', 'bob'], last_seq: 3 });
      expect(seqs(all)).toEqual([1, 2, 3]);
      expect(bodies(all)).toEqual(['1', '2', '3']);
    },
  );

  check(
    '[R2] commands sent at once get seqs without hole or repeat, in the order they were sent',
    async ({ say, page }) => {
      const sent = await Promise.all(Array.from({ length: 200 }, (_, i) => say(`${i}`)));
      expect(sent.map(({ reached }) => reached?.[0]?.last_seq)).toEqual(
        Array.from({ length: 200 }, (_, i) => i + 1),
      );
      expect(bodies(await page())).toEqual(Array.from({ length: 200 }, (_, i) => `${i}`));
    },
  );

  check(
    '[R3] a key gives the first answer again, and another payload is a conflict',
    async ({ store, bob, say, page, t }) => {
      const first = await say('same', { key: 'k' });
      await say('between');
      expect(await say('same', { key: 'k' })).toEqual({ result: first.result, replayed: true });
      await expect(say('other', { key: 'k' })).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
      expect((await store.transact(posting(t, 'same', bob, { key: 'k' }))).replayed).toBe(false);
      expect(bodies(await page())).toEqual(['same', 'between', 'same']);
    },
  );

  check('[R3] a key binds until its window has passed', async ({ say, page }) => {
    await say('a', { key: 'k' });
    const later = (fresh_after: number, body: string) =>
      say(body, { key: 'k', now: NOW + 5_000, fresh_after });
    expect((await later(NOW - 1, 'a')).replayed).toBe(true);
    expect((await later(NOW, 'b')).replayed).toBe(false);
    expect((await later(NOW, 'b')).replayed).toBe(true);
    expect(bodies(await page())).toEqual(['a', 'b']);
  });

  check('[R3] 64 commands at once with one key are one record', async ({ say, page }) => {
    const answers = await Promise.all(Array.from({ length: 64 }, () => say('one', { key: 'k' })));
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(answers.map(({ result }) => JSON.stringify(result))).size).toBe(1);
    expect(seqs(await page())).toEqual([1]);
  });

  check(
    'a refused command leaves no trace and harms none of those sent with it',
    async ({ store, alice, carol, say, page, t }) => {
      await store.transact(creating(`${t}-foreign`, carol));
      const settled = await Promise.allSettled([
        say('one'),
        store.transact(posting(t, 'stranger', callerOf('mallory', alice.workspace_id), { key: 'k' })),
        store.transact(posting('nowhere', 'lost', alice)),
        store.transact(posting(`${t}-foreign`, 'foreign', alice)),
        store.transact(acking(t, 99, alice)),
        say('two', { input: { in_reply_to: 'msg_unknown' }, key: 'r' }),
        say('two', { key: 'r' }),
        store.transact(acking(t, 2, alice)),
      ]);
      const outcomes = settled.map((one) =>
        one.status === 'fulfilled' ? 'ok' : (one.reason as { code: string }).code,
      );
      expect(outcomes).toEqual([
        'ok',
        'FORBIDDEN',
        'NOT_FOUND',
        'OUT_OF_SCOPE_WORKSPACE',
        'VALIDATION_ERROR',
        'NOT_FOUND',
        'ok',
        'ok',
      ]);
      expect(bodies(await page())).toEqual(['one', 'two']);
    },
  );

  check('[R4] pages chain exactly, whatever their size', async ({ say, page }) => {
    for (let i = 1; i <= 10; i++) await say(`${i}`);
    for (const limit of [1, 3, 5, 9, 10, 11]) {
      const seen: number[] = [];
      for (let after = 0, more = true; more;) {
        const run = await page(after, { limit });
        expect(run.entries.length).toBeLessThanOrEqual(limit);
        seen.push(...seqs(run));
        after = run.entries.at(-1)?.seq ?? after;
        more = run.has_more;
        expect(more).toBe(after < 10);
      }
      expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }
    expect(await page(10)).toMatchObject({ entries: [], has_more: false });
    expect(await page(5_000)).toMatchObject({ entries: [], has_more: false });
    expect(await page(0, { limit: 0 })).toMatchObject({ entries: [], has_more: true });
  });

  check('[R10] a page is bounded in bytes, but never empty for that', async ({ say, page }) => {
    for (let i = 1; i <= 10; i++) await say('x'.repeat(1_000));
    const run = await page(0, { max_bytes: 4_000 });
    expect(seqs(run)).toEqual([1, 2, 3]);
    expect(run.has_more).toBe(true);
    expect(seqs(await page(3, { max_bytes: 10 }))).toEqual([4]);
  });

  check(
    'the tail is the newest entries, oldest first, and bounded in bytes',
    async ({ store, workspace_id, say, t }) => {
      for (let i = 1; i <= 10; i++) await say(`${i}`.padEnd(1_000, 'x'));
      const tail = (limit: number, max_bytes = 1e9) =>
        store.tail({ workspace_id, thread_id: t, limit, max_bytes });
      expect(seqs(await tail(3))).toEqual([8, 9, 10]);
      expect(seqs(await tail(10))).toHaveLength(10);
      expect(seqs(await tail(1_000))).toHaveLength(10);
      const cut = await tail(1_000, 4_000);
      expect(seqs(cut)).toEqual([8, 9, 10]);
      expect(cut.has_more).toBe(false);
      expect(cut.located.thread?.last_seq).toBe(10);
      expect(seqs(await tail(5, 10))).toEqual([10]);
      expect(await store.tail({ workspace_id, thread_id: 'nowhere', ...ALL })).toMatchObject({ entries: [] });
    },
  );

  check('[R5] cursors are kept per reader and never fall', async ({ store, alice, bob, say, page, t }) => {
    for (let i = 1; i <= 5; i++) await say(`${i}`);
    await store.transact(acking(t, 3, alice));
    await store.transact(acking(t, 5, bob));
    await expect(store.transact(acking(t, 2, alice))).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    await store.transact(acking(t, 3, alice));
    const fifth = (await page(4)).entries[0]?.message_id;
    const cursors = (await store.cursors(t)).toSorted((a, b) => (a.agent_id < b.agent_id ? -1 : 1));
    expect(cursors.map(({ agent_id, last_read_seq }) => [agent_id, last_read_seq])).toEqual([
      ['alice', 3],
      ['bob', 5],
    ]);
    expect(cursors[1]?.last_acked_message_id).toBe(fifth);
    expect(await store.cursors('nowhere')).toEqual([]);
  });

  check('replies are found by what they reply to', async ({ store, say, page, t }) => {
    await say('first');
    await say('second');
    const [first = '', second = ''] = (await page()).entries.map(({ message_id }) => message_id);
    const ids: unknown[] = [];
    for (const body of ['yes', 'no'])
      ids.push((await say(body, { input: { in_reply_to: first } })).result['message_id']);
    expect(await store.references(t, first)).toEqual(ids);
    expect(await store.references(t, second)).toEqual([]);
    expect(await store.references(t, 'no id at all')).toEqual([]);
  });

  check('threads are listed newest first, page by page, each reader with its own unread', async (scene) => {
    const { store, alice, bob, chief, carol, t, workspace_id } = scene;
    for (let i = 1; i <= 4; i++) {
      await store.transact(creating(`${t}-${i}`, alice, i % 2 === 0 ? ['bob'] : [], NOW + i));
      await store.transact(posting(`${t}-${i}`, 'x', alice, { now: NOW + i }));
    }
    await store.transact(creating(`${t}-foreign`, carol));
    await store.transact(acking(`${t}-4`, 1, bob));
    await store.transact({
      type: 'update_status',
      caller: chief,
      now: NOW + 3,
      salt: 0,
      thread_id: `${t}-3`,
      input: { status: 'blocked', reason: 'x' },
    });
    const base = {
      workspace_id,
      participant: undefined,
      reader: 'bob',
      status: undefined,
      unread: false,
      before: undefined,
    };
    const list = async (query: Partial<ThreadsQuery>): Promise<[string[], boolean]> => {
      const { rows, has_more } = await store.threads({ ...base, ...ALL, ...query });
      return [rows.map(({ state }) => state.thread_id.slice(t.length)), has_more];
    };
    expect(await list({})).toEqual([['-4', '-3', '-2', '-1', ''], false]);
    expect(await list({ participant: 'bob' })).toEqual([['-4', '-2', ''], false]);
    expect(await list({ participant: 'nobody' })).toEqual([[], false]);
    expect(await list({ unread: true, participant: 'bob' })).toEqual([['-2'], false]);
    expect(await list({ status: 'blocked' })).toEqual([['-3'], false]);
    expect(await list({ limit: 2 })).toEqual([['-4', '-3'], true]);
    expect(await list({ limit: 5 })).toEqual([['-4', '-3', '-2', '-1', ''], false]);
    const before = { updated_at: new Date(NOW + 3).toISOString(), thread_id: `${t}-3` };
    expect(await list({ before, limit: 2 })).toEqual([['-2', '-1'], true]);
    expect(await list({ max_bytes: 10 })).toEqual([['-4'], true]);
    const { rows } = await store.threads({ ...base, ...ALL, participant: 'bob' });
    expect(rows.map(({ last_read_seq }) => last_read_seq)).toEqual([1, 0, 0]);
  });

  check(
    'sessions are kept one per agent and session, in order',
    async ({ store, alice, bob, carol, workspace_id }) => {
      await store.transact(beating(bob, 'active'));
      await store.transact(beating(alice, 'active'));
      await store.transact(beating({ ...alice, session_id: 'alice-0' }, 'idle'));
      await store.transact(beating(alice, 'idle'));
      await store.transact(beating(carol, 'idle'));
      const sessions = await store.records({ kind: 'session', workspace_id, limit: 100 });
      expect(sessions.map(({ agent_id, session_id, status }) => [agent_id, session_id, status])).toEqual([
        ['alice', 'alice-0', 'idle'],
        ['alice', 'alice-1', 'idle'],
        ['bob', 'bob-1', 'active'],
      ]);
      expect(await store.records({ kind: 'session', workspace_id: 'nowhere', limit: 100 })).toEqual([]);
    },
  );

  check('words are found in the threads of one workspace, one participant, one thread', async (scene) => {
    const { store, alice, carol, say, t, workspace_id } = scene;
    await store.transact(creating(`${t}-own`, alice));
    await store.transact(creating(`${t}-foreign`, carol));
    await say('the red fox');
    await store.transact(posting(`${t}-own`, 'a red herring', alice));
    await store.transact(posting(`${t}-foreign`, 'red tape', carol));
    const find = async (text: string, more = {}): Promise<string[]> => {
      const query = { workspace_id, participant: undefined, thread_id: undefined, text, limit: 10, ...more };
      const found = await vi.waitFor(async () => {
        const result = await store.search(query);
        if (!result.complete) throw new Error('the index is behind');
        return result;
      }, 5_000);
      return found.hits.map(({ entry }) => entry.body).toSorted();
    };
    expect(await find('red')).toEqual(['a red herring', 'the red fox']);
    expect(await find('RED fox')).toEqual(['the red fox']);
    expect(await find('red', { participant: 'bob' })).toEqual(['the red fox']);
    expect(await find('red', { thread_id: `${t}-own` })).toEqual(['a red herring']);
    expect(await find('red', { workspace_id: carol.workspace_id })).toEqual(['red tape']);
    expect(await find('red', { limit: 1 })).toHaveLength(1);
    expect(await find('blue')).toEqual([]);
    expect(await find('*"*')).toEqual([]);
  });

  check('what a caller changes after sending is not in the record', async ({ store, alice, page, t }) => {
    const list = [1];
    const command = posting(t, 'as sent', alice, { input: { metadata: { list } } });
    const sending = store.transact(command);
    command.input.body = 'changed';
    list.push(2);
    await sending;
    expect((await page()).entries[0]).toMatchObject({ body: 'as sent', metadata: { list: [1] } });
  });

  check('times within a thread never fall, whatever the clock does', async ({ say, page }) => {
    for (const now of [NOW + 1_000, NOW - 3_600_000, NOW + 2_000]) await say('x', { now });
    const times = (await page()).entries.map(({ created_at }) => Date.parse(created_at) - NOW);
    expect(times).toEqual([1_000, 1_000, 2_000]);
  });

  check('a store says that it can be written to', async ({ store }) => {
    expect(store.health()).toEqual({ writable: true });
  });

  check(
    '[R1] [R3] everything is there after closing and opening again',
    async ({ store, alice, say, page, t, workspace_id }) => {
      if (opened?.reopen === undefined) return;
      for (let i = 1; i <= 3; i++) await say(`${i}`);
      const first = await say('keyed', { key: 'k' });
      await store.transact(acking(t, 2, alice));
      await store.transact(beating(alice, 'idle'));
      const before = [
        await page(),
        await store.cursors(t),
        await store.records({ kind: 'session', workspace_id, limit: 9 }),
      ];
      const again = await opened.reopen();
      const query = { workspace_id, thread_id: t, after: 0, ...ALL };
      expect([
        await again.page(query),
        await again.cursors(t),
        await again.records({ kind: 'session', workspace_id, limit: 9 }),
      ]).toEqual(before);
      const retried = await again.transact(posting(t, 'keyed', alice, { key: 'k' }));
      expect(retried).toEqual({ result: first.result, replayed: true });
      expect((await again.transact(posting(t, 'next', alice))).reached?.[0]?.last_seq).toBe(5);
    },
  );
}
