import { describe, expect, test } from 'vitest';

import type { Entry } from './entry.ts';
import { createFeed } from './feed.ts';
import { createLog } from './log.ts';
import { callerOf, creating, posting } from './store-contract.ts';
import { openMemoryStore } from './store-memory.ts';
import type { Store } from './store.ts';

const alice = callerOf('alice', 'w1');

/** The memory store with answers that arrive late and in any order, as those of a thread or a server do. */
function lateStore(): Store {
  const store = openMemoryStore();
  let turn = 0;
  const late = async <T>(value: Promise<T>): Promise<T> => {
    const result = await value;
    for (let i = (turn = (turn * 7 + 3) % 11); i > 0; i--)
      await new Promise((resolve) => setImmediate(resolve));
    return result;
  };
  return {
    ...store,
    transact: (command) => late(store.transact(command)),
    page: (query) => late(store.page(query)),
  };
}

async function collect(runs: AsyncGenerator<Entry[]>, until: number): Promise<number[]> {
  const seen: number[] = [];
  for await (const entries of runs) {
    seen.push(...entries.map(({ seq }) => seq));
    if ((seen.at(-1) ?? 0) >= until) break;
  }
  return seen;
}

describe('[R6] follow', () => {
  test('gives what is there and what comes, without gap or repeat, to every follower from any place', async () => {
    const feed = createFeed();
    const log = createLog(lateStore(), feed);
    await log.append(creating('t1', alice));
    const { signal } = new AbortController();
    for (let i = 0; i < 20; i++) await log.append(posting('t1', `${i}`, alice));
    const starts = [0, 5, 19, 20, 25];
    const following = starts.map((after) => collect(log.follow(alice, 't1', after, signal), 400));
    const writers = Array.from({ length: 10 }, async () => {
      for (let i = 0; i < 38; i++) await log.append(posting('t1', `${i}`, alice));
    });
    await Promise.all(writers);
    for (const [i, seen] of (await Promise.all(following)).entries()) {
      const after = starts[i] ?? 0;
      expect(seen).toEqual(Array.from({ length: 400 - after }, (_, k) => after + k + 1));
    }
  });

  test('[R7] hears of what was written though its writer was told of an error', async () => {
    const store = openMemoryStore();
    const log = createLog(
      {
        ...store,
        async transact(command) {
          const committed = await store.transact(command);
          if (command.type === 'post_message') throw new Error('the answer was lost');
          return committed;
        },
      },
      createFeed(),
    );
    await log.append(creating('t1', alice));
    const { signal } = new AbortController();
    const following = collect(log.follow(alice, 't1', 0, signal), 1);
    const pages = log.followWorkspace(alice, 1, signal);
    const page = pages.next();
    await new Promise((resolve) => setImmediate(resolve));
    await expect(log.append(posting('t1', 'hello', alice))).rejects.toThrow('the answer was lost');
    expect(await following).toEqual([1]);
    expect((await page).value).toMatchObject({ rows: [{ pos: 2 }] });
    await pages.return(undefined);
  });

  test('an announcement that comes twice, late or for another thread changes nothing', async () => {
    const feed = createFeed();
    const log = createLog(lateStore(), feed);
    for (const thread of ['t1', 't2']) await log.append(creating(thread, alice));
    const following = collect(log.follow(alice, 't1', 0, new AbortController().signal), 50);
    for (let i = 1; i <= 50; i++) {
      await log.append(posting('t1', `${i}`, alice));
      await log.append(posting('t2', `${i}`, alice));
      feed.announce('t1', i - 1);
      feed.announce('t1', i);
      feed.announce('t2', 9_999);
    }
    expect(await following).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
  });

  test('ends when it is told to, while it waits and before it begins', async () => {
    const log = createLog(openMemoryStore(), createFeed());
    await log.append(creating('t1', alice));
    const ending = new AbortController();
    const waiting = collect(log.follow(alice, 't1', 0, ending.signal), 1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    ending.abort();
    expect(await waiting).toEqual([]);
    expect(await collect(log.follow(alice, 't1', 0, ending.signal), 1)).toEqual([]);
  });

  test('is refused like a read', async () => {
    const log = createLog(openMemoryStore(), createFeed());
    await log.append(creating('t1', alice));
    const { signal } = new AbortController();
    const codeOf = async (runs: AsyncGenerator<Entry[]>): Promise<unknown> =>
      runs.next().then(
        () => 'ok',
        (error: unknown) => (error as { code: string }).code,
      );
    expect(await codeOf(log.follow(callerOf('mallory', 'w1'), 't1', 0, signal))).toBe('FORBIDDEN');
    expect(await codeOf(log.follow(alice, 't2', 0, signal))).toBe('NOT_FOUND');
    expect(await codeOf(log.follow(callerOf('alice', 'w2'), 't1', 0, signal))).toBe('OUT_OF_SCOPE_WORKSPACE');
  });
});

describe('read', () => {
  test('followers that ask for the same page at once share one look at the store', async () => {
    const store = openMemoryStore();
    let looks = 0;
    const log = createLog({ ...store, page: (query) => (looks++, store.page(query)) }, createFeed());
    await log.append(creating('t1', alice));
    const query = { workspace_id: 'w1', thread_id: 't1', after: 0, limit: 10, max_bytes: 1_000 };
    await Promise.all(Array.from({ length: 50 }, () => log.read(query)));
    expect(looks).toBe(1);
    await Promise.all([
      log.read(query),
      log.read({ ...query, after: 1 }),
      log.read({ ...query, workspace_id: 'w2' }),
    ]);
    expect(looks).toBe(4);
  });

  test('a hundred followers that one message wakes share one look at the store', async () => {
    const store = openMemoryStore();
    let looks = 0;
    const log = createLog({ ...store, page: (query) => (looks++, store.page(query)) }, createFeed());
    await log.append(creating('t1', alice));
    const following = Array.from({ length: 100 }, () =>
      collect(log.follow(alice, 't1', 0, new AbortController().signal), 1),
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
    looks = 0;
    await log.append(posting('t1', 'wake', alice));
    expect(await Promise.all(following)).toEqual(Array.from({ length: 100 }, () => [1]));
    expect(looks).toBe(1);
  });

  test('a page asked for after an append holds what was appended', async () => {
    const log = createLog(lateStore(), createFeed());
    await log.append(creating('t1', alice));
    const query = { workspace_id: 'w1', thread_id: 't1', after: 0, limit: 100, max_bytes: 1e9 };
    for (let i = 1; i <= 30; i++) {
      void log.read(query);
      await log.append(posting('t1', `${i}`, alice));
      expect((await log.read(query)).entries).toHaveLength(i);
    }
  });
});
