import type { Caller, Control } from '@parley/protocol';
import { expect } from 'vitest';

import type { Command } from '../commands.ts';
import { admit, admitReader } from '../threads/access.ts';
import { ALL, callerOf, type Check, creating, head, posting, type Scene } from './scene.ts';

/** Controls, and the commands that write to two threads: all of it or nothing, once per key. */
export function testConversation(check: Check): void {
  const state = async ({ store, workspace_id }: Scene, thread_id: string) =>
    (await store.page({ workspace_id, thread_id, after: 0, ...ALL })).located;

  check('controls are folded into the state that the next command meets', async (scene) => {
    const { store, alice, bob, chief, t, say } = scene;
    await store.transact(controlling(t, chief, { mute: { targets: ['alice'], mode: 'hard' } }));
    await expect(say('muted')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await store.transact(controlling(t, chief, { pause: { on: true } }));
    await expect(store.transact(posting(t, 'paused', bob))).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await store.transact(posting(t, 'a person', chief));
    await store.transact(controlling(t, chief, { pause: { on: false } }));
    await store.transact(controlling(t, chief, { unmute: { targets: ['alice'] } }));
    await store.transact(controlling(t, chief, { invite: { participant_id: 'dora' } }));
    await say('again');
    const { thread } = await state(scene, t);
    expect(thread).toMatchObject({
      participants: ['alice', 'bob', 'dora'],
      conversation: { muted: [], paused: false },
    });
    const listed = {
      participant: 'dora',
      reader: 'dora',
      status: undefined,
      unread: false,
      before: undefined,
    };
    const { rows } = await store.threads({ workspace_id: alice.workspace_id, ...listed, ...ALL });
    expect(rows.map((row) => row.state.thread_id)).toEqual([t]);
  });

  check('[R3] one key is one control, one rename, one task, one side channel', async (scene) => {
    const { store, chief, alice, t } = scene;
    const keyed = (command: Command, scope: string): Command => ({
      ...command,
      idempotency: { scope: `${chief.workspace_id} ${scope}`, key: 'k', fresh_after: 0 },
    });
    const commands = (): Command[] => [
      keyed(controlling(t, chief, { prod: ['bob'] }), `control:${t}`),
      keyed({ type: 'rename_thread', ...head(chief), thread_id: t, input: { title: 'new' } }, `rename:${t}`),
      keyed({ type: 'assign_task', ...head(alice), thread_id: t, input: { to: 'bob', body: 'x' } }, t),
      keyed({ ...opening(scene, 's'), ...head(alice) }, `side:${t}`),
    ];
    const first = [];
    for (const command of commands()) first.push(await store.transact(command));
    const { thread } = await state(scene, t);
    for (const [i, command] of commands().entries())
      expect(await store.transact(command)).toEqual({ result: first[i]?.result, replayed: true });
    expect((await state(scene, t)).thread).toEqual(thread);
    const other = { ...commands()[0], input: { control: { prod: ['alice'] } } } as Command;
    await expect(store.transact(other)).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  check('[R3] a key that binds a place, too, is refused in another place', async ({ store, alice, t }) => {
    await store.transact(creating(`${t}-other`, alice));
    const event = (thread_id: string): Command => ({
      ...posting(thread_id, 'once', alice),
      idempotency: { scope: `${alice.workspace_id} event`, key: 'id', fresh_after: 0, about: thread_id },
    });
    const { result } = await store.transact(event(t));
    expect(await store.transact(event(t))).toEqual({ result, replayed: true });
    await expect(store.transact(event(`${t}-other`))).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });

  check('a side channel is opened and closed in both threads at once', async (scene) => {
    const { store, alice, t } = scene;
    const opened = await store.transact(opening(scene, 's'));
    const side = `${t}-s`;
    expect(opened.reached?.map(({ thread_id, last_seq }) => [thread_id, last_seq])).toEqual([
      [side, 0],
      [t, 1],
    ]);
    expect((await state(scene, t)).thread?.side_channels).toMatchObject([
      { thread_id: side, owner: 'alice' },
    ]);
    await expect(store.transact(opening(scene, 'x', ['stranger']))).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    });
    expect(await state(scene, `${t}-x`)).toEqual({ thread: undefined, foreign: false });
    expect((await state(scene, t)).thread?.last_seq).toBe(1);
    const closing = { type: 'close_side', thread_id: side, main_id: t, input: { summary: 'done' } } as const;
    await expect(store.transact({ ...closing, ...head(alice), main_id: side })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    const closed = await store.transact({ ...closing, ...head(alice) });
    expect(closed.reached?.map(({ thread_id }) => thread_id)).toEqual([side, t]);
    expect((await state(scene, side)).thread?.status).toBe('closed');
    expect((await state(scene, t)).thread?.side_channels).toEqual([]);
    await store.transact(opening(scene, 'later'));
    const sides = async (status: 'active' | 'closed', side_of = t): Promise<string[]> => {
      const { workspace_id } = alice;
      const query = { workspace_id, participant: undefined, reader: '', status, side_of, unread: false };
      const { rows } = await store.threads({ ...query, limit: 10, max_bytes: 1_000_000, before: undefined });
      return rows.map((row) => row.state.thread_id);
    };
    expect([await sides('closed'), await sides('active')]).toEqual([[side], [`${t}-later`]]);
    expect(await sides('closed', side)).toEqual([]);
    const readable = async (participant: string): Promise<string[]> =>
      (await store.readable({ workspace_id: alice.workspace_id, participant })).toSorted();
    expect(await readable('bob')).toEqual([t, `${t}-later`, side].toSorted());
    expect(await readable('nobody')).toEqual([]);
    await expect(store.transact({ ...closing, ...head(alice) })).rejects.toMatchObject({ code: 'CONFLICT' });
    expect((await state(scene, t)).thread?.last_seq).toBe(3);
  });

  check('a side channel is located with its main thread, whose people may read it', async (scene) => {
    const { store, bob, workspace_id, t } = scene;
    await store.transact(opening(scene, 's'));
    const located = await state(scene, `${t}-s`);
    expect(located).toMatchObject({ thread: { side_of: t }, main: { thread_id: t } });
    expect(admitReader(located, bob).thread_id).toBe(`${t}-s`);
    expect(() => admit(located, bob)).toThrow('not a participant');
    expect(() => admitReader(located, callerOf('mallory', workspace_id))).toThrow('not a participant');
    expect(await state(scene, t)).not.toHaveProperty('main');
  });
}

function controlling(thread_id: string, caller: Caller, control: Control): Command {
  return { type: 'control_thread', ...head(caller), thread_id, input: { control } };
}

function opening({ alice, t }: Scene, name: string, participants: string[] = []): Command {
  const input = { title: 'aside', purpose: 'detail', participants };
  return { type: 'open_side', ...head(alice), thread_id: t, side_id: `${t}-${name}`, input };
}
