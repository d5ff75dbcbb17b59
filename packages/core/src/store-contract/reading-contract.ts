import { expect } from 'vitest';

import type { ThreadsQuery } from '../store.ts';
import { acking, ALL, type Check, creating, NOW, posting } from './scene.ts';

/** What is found beside the log: cursors, replies, the list of threads, words. */
export function testReading(check: Check): void {
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
