import { expect } from 'vitest';

import type { CountPage, ThreadsQuery } from '../store.ts';
import type { GroupCounts } from '../threads/thread-filter.ts';
import { acking, ALL, type Check, creating, FAR_ID, NOW, posting } from './scene.ts';

/** What is found beside the log: cursors, replies, the list of threads, words. */
export function testReading(check: Check): void {
  check(
    '[R5] cursors are kept per reader and never fall',
    async ({ store, alice, bob, say, page, t, workspace_id }) => {
      for (let i = 1; i <= 5; i++) await say(`${i}`);
      await store.transact(acking(t, 3, alice));
      await store.transact(acking(t, 5, bob));
      await expect(store.transact(acking(t, 2, alice))).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
      await store.transact(acking(t, 3, alice));
      const fifth = (await page(4)).entries[0]?.message_id;
      const cursors = (await store.cursors(t, workspace_id)).toSorted((a, b) =>
        a.agent_id < b.agent_id ? -1 : 1,
      );
      expect(cursors.map(({ agent_id, last_read_seq }) => [agent_id, last_read_seq])).toEqual([
        ['alice', 3],
        ['bob', 5],
      ]);
      expect(cursors[1]?.last_acked_message_id).toBe(fifth);
      expect(await store.cursors('nowhere', workspace_id)).toEqual([]);
    },
  );

  check('[HUB-E4] where a reader stands, and how much of what follows is its own', async (scene) => {
    const { store, alice, bob, say, page, t } = scene;
    const nowhere = { last_read_seq: 0, last_acked_message_id: null, own: 0 };
    expect(await store.reading(t, 'alice', scene.workspace_id)).toEqual(nowhere);
    expect(await store.reading('nowhere', 'alice', scene.workspace_id)).toEqual(nowhere);
    await say('one');
    await store.transact(posting(t, 'two', bob));
    await say('three');
    expect((await store.reading(t, 'alice', scene.workspace_id)).own).toBe(2);
    expect((await store.reading(t, 'bob', scene.workspace_id)).own).toBe(1);
    await store.transact(acking(t, 1, alice));
    const [first] = (await page()).entries;
    const reading = { last_read_seq: 1, last_acked_message_id: first?.message_id, own: 1 };
    expect(await store.reading(t, 'alice', scene.workspace_id)).toEqual(reading);
    const { workspace_id } = alice;
    const base = { workspace_id, participant: 'alice', status: undefined, unread: false, before: undefined };
    const { rows } = await store.threads({ ...base, ...ALL, reader: 'alice' });
    expect(rows).toMatchObject([reading]);
    await store.transact(acking(t, 3, alice));
    expect((await store.reading(t, 'alice', scene.workspace_id)).own).toBe(0);
  });

  check(
    '[HUB-E4] one’s own entries after the cursor are counted, however many there are',
    async (scene) => {
      const { store, alice, bob, t } = scene;
      const many = 900;
      for (let done = 0; done < many; done += 300)
        await Promise.all(
          Array.from({ length: 300 }, (_, i) =>
            store.transact(posting(t, 'x', (done + i) % 3 === 0 ? bob : alice)),
          ),
        );
      expect((await store.reading(t, 'bob', scene.workspace_id)).own).toBe(many / 3);
      expect((await store.reading(t, 'alice', scene.workspace_id)).own).toBe((many / 3) * 2);
      const { entries } = await store.page({
        workspace_id: alice.workspace_id,
        thread_id: t,
        after: 0,
        ...ALL,
        limit: 500,
      });
      const ownAmong = entries.filter(({ sender_agent_id }) => sender_agent_id === 'bob').length;
      await store.transact(acking(t, entries.length, bob));
      expect((await store.reading(t, 'bob', scene.workspace_id)).own).toBe(many / 3 - ownAmong);
      await store.transact(acking(t, many, bob));
      expect((await store.reading(t, 'bob', scene.workspace_id)).own).toBe(0);
    },
    'long',
  );

  check(
    'a list that is read page by page holds every thread once, also where few of many are wanted',
    async (scene) => {
      const { store, alice, bob, workspace_id, t } = scene;
      for (let i = 0; i < 90; i++) {
        await store.transact(creating(`${t}-${i}`, alice, i % 30 === 0 ? ['bob'] : [], NOW + (i >> 2)));
        if (i % 60 === 0) await store.transact(posting(`${t}-${i}`, 'x', bob, { now: NOW + (i >> 2) }));
      }
      const read = async (query: Partial<ThreadsQuery>): Promise<string[]> => {
        const base = {
          workspace_id,
          participant: undefined,
          reader: 'bob',
          status: undefined,
          unread: false,
        };
        const found: string[] = [];
        let before: ThreadsQuery['before'];
        do {
          const page = await store.threads({ ...base, ...ALL, limit: 4, before, ...query });
          found.push(...page.rows.map(({ state }) => state.thread_id.slice(t.length)));
          before = page.next;
        } while (before !== undefined);
        return found;
      };
      const all = Array.from({ length: 90 }, (_, i) => `-${89 - i}`);
      expect((await read({})).filter((id) => id !== '')).toEqual(all);
      expect((await read({ participant: 'bob' })).filter((id) => id !== '')).toEqual(['-60', '-30', '-0']);
      expect((await read({ participant: 'alice' })).filter((id) => id !== '')).toEqual(all);
      // What bob said himself is not unread to him, and to alice it is.
      expect(await read({ participant: 'bob', unread: true })).toEqual([]);
      expect(await read({ participant: 'alice', reader: 'alice', unread: true })).toEqual(['-60', '-0']);
    },
    'long',
  );

  check(
    'a list is narrowed by group, by words of the title and by who takes part, and counted alike',
    async (scene) => {
      const { store, alice, bob, chief, t, workspace_id } = scene;
      const make = async (id: string, title: string, others: string[], at: number): Promise<void> => {
        const command = creating(`${t}-${id}`, alice, others, NOW + at);
        await store.transact({ ...command, input: { ...command.input, title } });
      };
      const move = (id: string, status: 'blocked' | 'resolved' | 'closed') =>
        store.transact({
          type: 'update_status',
          caller: chief,
          now: NOW + 100,
          salt: 0,
          thread_id: `${t}-${id}`,
          input: { status, reason: 'x' },
        });
      await make('1', 'Mapper: Ärger mit Umlauten', ['bob'], 1);
      await make('2', 'mapper review', ['dora'], 2);
      await make('3', 'Release 100%_done', ['bob', 'dora'], 3);
      await make('4', 'Mapper of old', ['bob'], 4);
      await make('5', 'Closed mapper', [], 5);
      await store.transact(posting(`${t}-1`, 'x', bob, { now: NOW + 6 }));
      await store.transact(
        posting(`${t}-2`, 'the loop leaks', alice, {
          now: NOW + 7,
          input: {
            kind: 'event',
            metadata: { event_type: 'finding_reported', finding_id: 'F1' },
          },
        }),
      );
      await move('3', 'blocked');
      await move('4', 'resolved');
      await move('5', 'closed');
      const base = { workspace_id, participant: undefined, reader: 'bob' };
      const read = async (query: Partial<ThreadsQuery>): Promise<string[]> => {
        const found: string[] = [];
        let before: ThreadsQuery['before'];
        do {
          const page = await store.threads({
            ...base,
            status: undefined,
            unread: false,
            ...ALL,
            limit: 2,
            before,
            ...query,
          });
          found.push(...page.rows.map(({ state }) => state.thread_id.slice(t.length)));
          before = page.next;
        } while (before !== undefined);
        return found.filter((id) => id !== '').toSorted();
      };
      expect(await read({ group: 'open' })).toEqual(['-1', '-2', '-3']);
      expect(await read({ group: 'blocked' })).toEqual(['-2', '-3']);
      expect(await read({ group: 'done' })).toEqual(['-4', '-5']);
      // Case counts for nothing, in any alphabet, and no sign means more than itself.
      expect(await read({ text: 'MAPPER' })).toEqual(['-1', '-2', '-4', '-5']);
      expect(await read({ text: 'ÄRGER umlauten' })).toEqual(['-1']);
      expect(await read({ text: '100%_' })).toEqual(['-3']);
      expect(await read({ text: '%' })).toEqual(['-3']);
      expect(await read({ text: 'mapper', group: 'open' })).toEqual(['-1', '-2']);
      expect(await read({ with_any: ['dora'] })).toEqual(['-2', '-3']);
      expect(await read({ with_any: ['dora', 'bob'] })).toEqual(['-1', '-2', '-3', '-4']);
      expect(await read({ with_any: [] })).toEqual([]);
      // A filter shows nobody more than what is theirs.
      expect(await read({ participant: 'bob', with_any: ['dora'] })).toEqual(['-3']);
      expect(await read({ participant: 'bob', text: 'mapper', group: 'done' })).toEqual(['-4']);
      const count = async (more = {}, limit = 1_000) => {
        const pages: CountPage[] = [];
        do {
          const past = pages.at(-1)?.next;
          pages.push(await store.countThreads({ ...base, ...more, limit, past }));
        } while (pages.at(-1)?.next !== undefined);
        const sum = (group: keyof GroupCounts) => pages.reduce((all, { counts }) => all + counts[group], 0);
        return { open: sum('open'), unread: sum('unread'), blocked: sum('blocked'), done: sum('done') };
      };
      // The scene has a thread of its own, which is open.
      expect(await count()).toEqual({ open: 4, unread: 3, blocked: 2, done: 2 });
      // Whatever a page holds, each thread is counted once.
      for (const limit of [1, 2, 3]) {
        expect(await count({}, limit)).toEqual({ open: 4, unread: 3, blocked: 2, done: 2 });
        expect(await count({ participant: 'bob' }, limit)).toEqual(await count({ participant: 'bob' }));
        expect(await count({ with_any: ['dora'] }, limit)).toEqual(await count({ with_any: ['dora'] }));
      }
      expect(await count({ text: 'mapper' })).toMatchObject({ open: 2, blocked: 1, done: 2 });
      expect(await count({ with_any: ['dora'] })).toMatchObject({ open: 2, blocked: 2, done: 0 });
      expect(await count({ participant: 'bob', with_any: ['dora'] })).toMatchObject({ open: 1, done: 0 });
    },
  );

  check('replies are found by what they reply to', async ({ store, say, page, t, workspace_id }) => {
    await say('first');
    await say('second');
    const [first = '', second = ''] = (await page()).entries.map(({ message_id }) => message_id);
    const ids: unknown[] = [];
    for (const body of ['yes', 'no'])
      ids.push((await say(body, { input: { in_reply_to: first } })).result.message_id);
    expect(await store.references(t, first, workspace_id)).toEqual(ids);
    expect(await store.references(t, second, workspace_id)).toEqual([]);
    for (const id of ['no id at all', FAR_ID])
      expect(await store.references(t, id, workspace_id)).toEqual([]);
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
      const { rows, next } = await store.threads({ ...base, ...ALL, ...query });
      return [rows.map(({ state }) => state.thread_id.slice(t.length)), next !== undefined];
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

  check('words are found in the threads of one workspace, one participant, one thread', async (scene) => {
    const { store, alice, carol, say, t, workspace_id } = scene;
    await store.transact(creating(`${t}-own`, alice));
    await store.transact(creating(`${t}-foreign`, carol));
    await say('the red fox');
    await store.transact(posting(`${t}-own`, 'a red herring', alice));
    await store.transact(posting(`${t}-foreign`, 'red tape', carol));
    const find = async (text: string, more = {}): Promise<string[]> => {
      const query = { workspace_id, participant: undefined, thread_id: undefined, text, limit: 10, ...more };
      const found = await store.search(query);
      expect(found.lacks).toEqual([]);
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
    // What was acknowledged before the question is part of the answer, however soon it is asked.
    for (const word of ['first', 'second', 'third']) {
      await say(`the ${word} word`);
      expect(await find(`${word} word`)).toEqual([`the ${word} word`]);
    }
    const open = async (participant: string, workspace = workspace_id): Promise<string[]> =>
      (await store.readable({ workspace_id: workspace, participant })).toSorted();
    expect(await open('bob')).toEqual([t]);
    expect(await open('alice')).toEqual([t, `${t}-own`]);
    expect(await open('alice', carol.workspace_id)).toEqual([]);
    expect(await open('nobody')).toEqual([]);
  });
}
