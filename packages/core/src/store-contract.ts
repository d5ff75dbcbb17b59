import type { Caller, Role } from '@parley/protocol';
import { expect, test, vi } from 'vitest';

import type { Command, Idempotency, PostMessage } from './commands.ts';
import { fingerprint } from './fingerprint.ts';
import type { Page, Store, ThreadsQuery } from './store.ts';

/** A store that a contract test may open again, where it keeps anything. */
export interface OpenedStore {
  store: Store;
  /** Closes and opens it anew on the same data; undefined for a store that forgets. */
  reopen: (() => Promise<Store>) | undefined;
  close(): Promise<void>;
}

const NOW = Date.parse('2030-01-01T00:00:00Z');
const ALL = { limit: 1_000, max_bytes: 1e9 };

/** Somebody of a workspace. */
export function callerOf(agent_id: string, workspace_id = 'w1', role: Role = 'worker'): Caller {
  return { agent_id, workspace_id, role, session_id: `${agent_id}-1` };
}

const alice = callerOf('alice');
let counter = 0;

/** A command that makes a thread. */
export function creating(thread_id: string, caller = alice, participants: string[] = [], now = NOW): Command {
  return {
    type: 'create_thread',
    caller,
    now,
    salt: counter++,
    thread_id,
    input: { title: thread_id, type: 'workflow', participants },
  };
}

/** A command that posts a chat message. */
export function posting(
  thread_id: string,
  body: string,
  more: Partial<Pick<PostMessage, 'caller' | 'now'>> & {
    key?: string;
    fresh_after?: number;
    input?: Partial<PostMessage['input']>;
  } = {},
): PostMessage {
  const { caller = alice, now = NOW, key, fresh_after = 0, input = {} } = more;
  const content = { schema_version: 1, kind: 'chat' as const, body, ...input };
  const idempotency: Idempotency | undefined =
    key === undefined
      ? undefined
      : { scope: `w1 ${thread_id}`, key, fingerprint: fingerprint(content), fresh_after };
  return {
    type: 'post_message',
    caller,
    now,
    salt: counter++,
    thread_id,
    input: key === undefined ? content : { ...content, idempotency_key: key },
    ...(idempotency === undefined ? {} : { idempotency }),
  };
}

const acking = (thread_id: string, last_read_seq: number, caller = alice): Command => ({
  type: 'ack_read',
  caller,
  now: NOW,
  salt: counter++,
  thread_id,
  input: { last_read_seq },
});

const beating = (caller: Caller, status: 'active' | 'idle'): Command => ({
  type: 'heartbeat',
  caller,
  now: NOW,
  salt: counter++,
  input: { runtime: 'codex_cli', status, resumable: true, management_mode: 'managed' },
});

const bodies = (page: Page): string[] => page.entries.map(({ body }) => body);
const seqs = (page: Page): number[] => page.entries.map(({ seq }) => seq);

/** What every store must do; the memory store, SQLite and PostgreSQL run the same suite. */
export function testStore(open: () => Promise<OpenedStore>): void {
  const check = (name: string, run: (store: Store, opened: OpenedStore) => Promise<void>): void => {
    test(name, async () => {
      const opened = await open();
      try {
        await run(opened.store, opened);
      } finally {
        await opened.close();
      }
    });
  };
  const pageOf = (store: Store, thread_id: string, after = 0, more = {}): Promise<Page> =>
    store.page({ workspace_id: 'w1', thread_id, after, ...ALL, ...more });
  const fill = async (
    store: Store,
    thread_id: string,
    count: number,
    body = (i: number) => `${i}`,
  ): Promise<void> => {
    await store.transact(creating(thread_id, alice, ['bob']));
    for (let i = 1; i <= count; i++) await store.transact(posting(thread_id, body(i)));
  };

  check('[R2] a thread begins empty and grows by one seq at a time', async (store) => {
    const made = await store.transact(creating('t1', alice, ['bob']));
    expect(made).toEqual({
      result: { thread_id: 't1', status: 'active', created_at: '2030-01-01T00:00:00.000Z' },
      replayed: false,
      thread_id: 't1',
      last_seq: 0,
    });
    expect(await pageOf(store, 't1')).toMatchObject({ entries: [], has_more: false });
    for (let i = 1; i <= 3; i++) {
      const posted = await store.transact(posting('t1', `${i}`));
      expect(posted).toMatchObject({
        result: { seq: i, thread_status: 'active' },
        thread_id: 't1',
        last_seq: i,
      });
    }
    const page = await pageOf(store, 't1');
    expect(page.located.thread).toMatchObject({
      thread_id: 't1',
      participants: ['alice', 'bob'],
      last_seq: 3,
    });
    expect(seqs(page)).toEqual([1, 2, 3]);
    expect(bodies(page)).toEqual(['1', '2', '3']);
  });

  check(
    '[R2] commands sent at once get seqs without hole or repeat, in the order they were sent',
    async (store) => {
      await store.transact(creating('t1'));
      const sent = await Promise.all(
        Array.from({ length: 200 }, (_, i) => store.transact(posting('t1', `${i}`))),
      );
      expect(sent.map(({ last_seq }) => last_seq)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
      expect(bodies(await pageOf(store, 't1'))).toEqual(Array.from({ length: 200 }, (_, i) => `${i}`));
    },
  );

  check('[R3] a key gives the first answer again, and another payload is a conflict', async (store) => {
    await store.transact(creating('t1'));
    const first = await store.transact(posting('t1', 'same', { key: 'k' }));
    await store.transact(posting('t1', 'between'));
    expect(await store.transact(posting('t1', 'same', { key: 'k' }))).toEqual({
      result: first.result,
      replayed: true,
    });
    await expect(store.transact(posting('t1', 'other', { key: 'k' }))).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
    });
    await store.transact(posting('t1', 'same', { key: 'k', caller: callerOf('alice', 'w1', 'operator') }));
    const bob = callerOf('bob', 'w1', 'operator');
    expect((await store.transact(posting('t1', 'same', { key: 'k', caller: bob }))).replayed).toBe(false);
    expect(bodies(await pageOf(store, 't1'))).toEqual(['same', 'between', 'same']);
  });

  check('[R3] a key binds until its window has passed', async (store) => {
    await store.transact(creating('t1'));
    await store.transact(posting('t1', 'a', { key: 'k' }));
    const at = (fresh_after: number, body: string) =>
      store.transact(posting('t1', body, { key: 'k', now: NOW + 5_000, fresh_after }));
    expect((await at(NOW - 1, 'a')).replayed).toBe(true);
    expect((await at(NOW, 'b')).replayed).toBe(false);
    expect((await at(NOW, 'b')).replayed).toBe(true);
    expect(bodies(await pageOf(store, 't1'))).toEqual(['a', 'b']);
  });

  check('[R3] 64 commands at once with one key are one record', async (store) => {
    await store.transact(creating('t1'));
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => store.transact(posting('t1', 'one', { key: 'k' }))),
    );
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(answers.map(({ result }) => JSON.stringify(result))).size).toBe(1);
    expect(seqs(await pageOf(store, 't1'))).toEqual([1]);
  });

  check('a refused command leaves no trace and harms none of those sent with it', async (store) => {
    await store.transact(creating('t1'));
    await store.transact(creating('elsewhere', callerOf('carol', 'w2')));
    const settled = await Promise.allSettled([
      store.transact(posting('t1', 'one')),
      store.transact(posting('t1', 'stranger', { caller: callerOf('mallory'), key: 'k' })),
      store.transact(posting('nowhere', 'lost')),
      store.transact(posting('elsewhere', 'foreign')),
      store.transact(acking('t1', 99)),
      store.transact(posting('t1', 'two', { input: { in_reply_to: 'msg_unknown' }, key: 'r' })),
      store.transact(posting('t1', 'two', { key: 'r' })),
      store.transact(acking('t1', 2)),
    ]);
    expect(
      settled.map((one) => (one.status === 'fulfilled' ? 'ok' : (one.reason as { code: string }).code)),
    ).toEqual([
      'ok',
      'FORBIDDEN',
      'NOT_FOUND',
      'OUT_OF_SCOPE_WORKSPACE',
      'VALIDATION_ERROR',
      'NOT_FOUND',
      'ok',
      'ok',
    ]);
    expect(bodies(await pageOf(store, 't1'))).toEqual(['one', 'two']);
  });

  check('[R4] pages chain exactly, whatever their size', async (store) => {
    await fill(store, 't1', 10);
    for (const limit of [1, 3, 5, 9, 10, 11]) {
      const seen: number[] = [];
      for (let after = 0, more = true; more;) {
        const page = await pageOf(store, 't1', after, { limit });
        expect(page.entries.length).toBeLessThanOrEqual(limit);
        seen.push(...seqs(page));
        after = page.entries.at(-1)?.seq ?? after;
        more = page.has_more;
        expect(more).toBe(after < 10);
      }
      expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }
    expect(await pageOf(store, 't1', 10)).toMatchObject({ entries: [], has_more: false });
    expect(await pageOf(store, 't1', 5_000)).toMatchObject({ entries: [], has_more: false });
    expect(await pageOf(store, 't1', 0, { limit: 0 })).toMatchObject({ entries: [], has_more: true });
  });

  check('[R10] a page is bounded in bytes, but never empty for that', async (store) => {
    await fill(store, 't1', 10, () => 'x'.repeat(1_000));
    const page = await pageOf(store, 't1', 0, { max_bytes: 4_000 });
    expect(seqs(page)).toEqual([1, 2, 3]);
    expect(page.has_more).toBe(true);
    expect(seqs(await pageOf(store, 't1', 3, { max_bytes: 10 }))).toEqual([4]);
  });

  check('the tail is the newest entries, oldest first, and bounded in bytes', async (store) => {
    await fill(store, 't1', 10, (i) => `${i}`.padEnd(1_000, 'x'));
    const tail = (limit: number, max_bytes = 1e9) =>
      store.tail({ workspace_id: 'w1', thread_id: 't1', limit, max_bytes });
    expect(seqs(await tail(3))).toEqual([8, 9, 10]);
    expect(seqs(await tail(10))).toHaveLength(10);
    expect(seqs(await tail(1_000))).toHaveLength(10);
    const cut = await tail(1_000, 4_000);
    expect(seqs(cut)).toEqual([8, 9, 10]);
    expect(cut.has_more).toBe(false);
    expect(cut.located.thread?.last_seq).toBe(10);
    expect(seqs(await tail(5, 10))).toEqual([10]);
    expect(await store.tail({ workspace_id: 'w1', thread_id: 'nowhere', ...ALL })).toMatchObject({
      entries: [],
    });
  });

  check('a thread is found, foreign or unknown', async (store) => {
    const locate = async (workspace_id: string, thread_id: string) =>
      (await store.page({ workspace_id, thread_id, after: 0, ...ALL })).located;
    expect(await locate('w1', 'nowhere')).toEqual({ thread: undefined, foreign: false });
    await store.transact(creating('t1'));
    expect((await locate('w1', 't1')).thread).toMatchObject({ thread_id: 't1', workspace_id: 'w1' });
    expect(await locate('w1', 'nowhere')).toEqual({ thread: undefined, foreign: false });
    expect(await locate('w2', 'nowhere')).toEqual({ thread: undefined, foreign: true });
    await store.transact(creating('t2', callerOf('carol', 'w2')));
    expect(await locate('w2', 'nowhere')).toEqual({ thread: undefined, foreign: false });
  });

  check('[R5] cursors are kept per reader and never fall', async (store) => {
    await fill(store, 't1', 5);
    const bob = callerOf('bob');
    await store.transact(acking('t1', 3));
    await store.transact(acking('t1', 5, bob));
    await expect(store.transact(acking('t1', 2))).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    await store.transact(acking('t1', 3));
    const fifth = (await pageOf(store, 't1', 4)).entries[0]?.message_id;
    const cursors = (await store.cursors('t1')).toSorted((a, b) => (a.agent_id < b.agent_id ? -1 : 1));
    expect(cursors.map(({ agent_id, last_read_seq }) => [agent_id, last_read_seq])).toEqual([
      ['alice', 3],
      ['bob', 5],
    ]);
    expect(cursors[1]?.last_acked_message_id).toBe(fifth);
    expect(await store.cursors('nowhere')).toEqual([]);
  });

  check('replies are found by what they reply to', async (store) => {
    await fill(store, 't1', 2);
    const [first, second] = (await pageOf(store, 't1')).entries.map(({ message_id }) => message_id);
    const ids: unknown[] = [];
    for (const body of ['yes', 'no'])
      ids.push(
        (await store.transact(posting('t1', body, { input: { in_reply_to: first ?? '' } }))).result[
          'message_id'
        ],
      );
    expect(await store.references('t1', first ?? '')).toEqual(ids);
    expect(await store.references('t1', second ?? '')).toEqual([]);
    expect(await store.references('t1', 'no id at all')).toEqual([]);
  });

  check('threads are listed newest first, page by page, each reader with its own unread', async (store) => {
    for (let i = 0; i < 5; i++) {
      await store.transact(creating(`t${i}`, alice, i % 2 === 0 ? ['bob'] : [], NOW + i));
      await store.transact(posting(`t${i}`, 'x', { now: NOW + i }));
    }
    await store.transact(creating('other', callerOf('carol', 'w2')));
    await store.transact(acking('t4', 1, callerOf('bob')));
    const chief = callerOf('chief', 'w1', 'operator');
    await store.transact({
      type: 'update_status',
      caller: chief,
      now: NOW + 3,
      salt: 0,
      thread_id: 't3',
      input: { status: 'blocked', reason: 'x' },
    });
    const base: ThreadsQuery = {
      workspace_id: 'w1',
      participant: undefined,
      reader: 'bob',
      status: undefined,
      unread: false,
      before: undefined,
      ...ALL,
    };
    const list = async (query: Partial<ThreadsQuery>): Promise<[string[], boolean]> => {
      const { rows, has_more } = await store.threads({ ...base, ...query });
      return [rows.map(({ state }) => state.thread_id), has_more];
    };
    expect(await list({})).toEqual([['t4', 't3', 't2', 't1', 't0'], false]);
    expect(await list({ participant: 'bob' })).toEqual([['t4', 't2', 't0'], false]);
    expect(await list({ participant: 'nobody' })).toEqual([[], false]);
    expect(await list({ unread: true, participant: 'bob' })).toEqual([['t2', 't0'], false]);
    expect(await list({ status: 'blocked' })).toEqual([['t3'], false]);
    expect(await list({ limit: 2 })).toEqual([['t4', 't3'], true]);
    expect(await list({ limit: 5 })).toEqual([['t4', 't3', 't2', 't1', 't0'], false]);
    const updated_at = new Date(NOW + 3).toISOString();
    expect(await list({ before: { updated_at, thread_id: 't3' }, limit: 2 })).toEqual([['t2', 't1'], true]);
    expect(await list({ max_bytes: 10 })).toEqual([['t4'], true]);
    const rows = (await store.threads({ ...base, participant: 'bob' })).rows;
    expect(rows.map(({ last_read_seq }) => last_read_seq)).toEqual([1, 0, 0]);
  });

  check('sessions are kept one per agent and session, in order', async (store) => {
    await store.transact(beating(callerOf('bob'), 'active'));
    await store.transact(beating(alice, 'active'));
    await store.transact(beating({ ...alice, session_id: 'alice-0' }, 'idle'));
    await store.transact(beating(alice, 'idle'));
    await store.transact(beating(callerOf('carol', 'w2'), 'idle'));
    const sessions = await store.sessions('w1');
    expect(sessions.map(({ agent_id, session_id, status }) => [agent_id, session_id, status])).toEqual([
      ['alice', 'alice-0', 'idle'],
      ['alice', 'alice-1', 'idle'],
      ['bob', 'bob-1', 'active'],
    ]);
    expect(await store.sessions('w3')).toEqual([]);
  });

  check('words are found in the threads of one workspace, one participant, one thread', async (store) => {
    await store.transact(creating('t1', alice, ['bob']));
    await store.transact(creating('t2', alice));
    await store.transact(creating('t3', callerOf('carol', 'w2')));
    await store.transact(posting('t1', 'the red fox'));
    await store.transact(posting('t2', 'a red herring'));
    await store.transact(posting('t3', 'red tape', { caller: callerOf('carol', 'w2') }));
    const find = async (text: string, more = {}): Promise<string[]> => {
      const query = {
        workspace_id: 'w1',
        participant: undefined,
        thread_id: undefined,
        text,
        limit: 10,
        ...more,
      };
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
    expect(await find('red', { thread_id: 't2' })).toEqual(['a red herring']);
    expect(await find('red', { workspace_id: 'w2' })).toEqual(['red tape']);
    expect(await find('red', { limit: 1 })).toHaveLength(1);
    expect(await find('blue')).toEqual([]);
    expect(await find('*"*')).toEqual([]);
  });

  check('what a caller changes after sending is not in the record', async (store) => {
    await store.transact(creating('t1'));
    const command = posting('t1', 'as sent', { input: { metadata: { list: [1] } } });
    const sending = store.transact(command);
    command.input.body = 'changed';
    (command.input.metadata?.['list'] as number[]).push(2);
    await sending;
    expect((await pageOf(store, 't1')).entries[0]).toMatchObject({
      body: 'as sent',
      metadata: { list: [1] },
    });
  });

  check('times within a thread never fall, whatever the clock does', async (store) => {
    await store.transact(creating('t1', alice, [], NOW));
    for (const now of [NOW + 1_000, NOW - 3_600_000, NOW + 2_000])
      await store.transact(posting('t1', 'x', { now }));
    const times = (await pageOf(store, 't1')).entries.map(({ created_at }) => Date.parse(created_at) - NOW);
    expect(times).toEqual([1_000, 1_000, 2_000]);
  });

  check('[R1] [R3] everything is there after closing and opening again', async (store, { reopen }) => {
    if (reopen === undefined) return;
    await fill(store, 't1', 3);
    const first = await store.transact(posting('t1', 'keyed', { key: 'k' }));
    await store.transact(acking('t1', 2));
    await store.transact(beating(alice, 'idle'));
    const before = [await pageOf(store, 't1'), await store.cursors('t1'), await store.sessions('w1')];
    const again = await reopen();
    expect([await pageOf(again, 't1'), await again.cursors('t1'), await again.sessions('w1')]).toEqual(
      before,
    );
    expect(await again.transact(posting('t1', 'keyed', { key: 'k' }))).toEqual({
      result: first.result,
      replayed: true,
    });
    expect((await again.transact(posting('t1', 'next'))).last_seq).toBe(5);
  });

  check('a store says that it can be written to', async (store) => {
    expect(store.health()).toEqual({ writable: true });
  });
}
