import { expect } from 'vitest';

import { acking, bodies, callerOf, type Check, creating, FAR_ID, NOW, posting, seqs } from './scene.ts';

/** What a command does to a thread: one seq at a time, one effect per key, nothing of what was refused. */
export function testCommands(check: Check): void {
  check(
    '[R2] a thread begins empty and grows by one seq at a time',
    async ({ store, workspace_id, alice, say, page, t }) => {
      const made = await store.transact(creating(`${t}-new`, alice));
      expect(made).toEqual({
        result: { thread_id: `${t}-new`, status: 'active', created_at: '2030-01-01T00:00:00.000Z' },
        replayed: false,
        // The thread of the scene is the first entry of the workspace.
        reached: [{ thread_id: `${t}-new`, last_seq: 0, workspace_id, after: 1, pos: 2 }],
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
        say('two', { input: { in_reply_to: FAR_ID } }),
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
        'NOT_FOUND',
        'ok',
        'ok',
      ]);
      expect(bodies(await page())).toEqual(['one', 'two']);
    },
  );

  check('how a thread began is no message: nobody replies to it', async ({ store, alice, say, page, t }) => {
    const query = { workspace_id: alice.workspace_id, thread_id: t, after: -1, limit: 1, max_bytes: 1e9 };
    const [first] = (await store.page(query)).entries;
    expect(first).toMatchObject({ seq: 0, type: 'thread.created' });
    await expect(say('so it began', { input: { in_reply_to: first?.message_id } })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(await page()).toMatchObject({ entries: [] });
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
}
