import { expect } from 'vitest';

import type { MakeNotices, MarkNotice, NoteOffers } from '../commands.ts';
import { hubCaller } from '../hub-caller.ts';
import type { ChannelRecord, Notice } from '../notify/notice.ts';
import type { Offer } from '../records.ts';
import { type Check, head, type Scene } from './scene.ts';

/** What joins something to what is on record is decided where that stands: no writer needs to have read it. */
export function testMerges(check: Check): void {
  check('[R2] what two processes have handed out is one run where it meets', async (scene) => {
    const { store, workspace_id } = scene;
    const note = (...runs: [agent: string, first: number, seq: number][]): Promise<unknown> =>
      store.transact({
        type: 'note_offers',
        ...head(hubCaller(workspace_id)),
        input: { offers: runs.map(([agent, first, seq]) => offer(scene, agent, first, seq)) },
      } satisfies NoteOffers);
    await Promise.all([note(['bob', 1, 3], ['cy', 9, 9]), note(['bob', 4, 6]), note(['bob', 2, 2])]);
    await note(['cy', 2, 3]);
    await note(['dan', 1, 2], ['cy', 10, 12]);
    await note(['dan', 8, 9]);
    const kept = await store.records({ kind: 'offer', workspace_id, limit: 9 });
    expect(kept.map(({ agent_id, first, seq }) => [agent_id, first, seq])).toEqual([
      ['bob', 1, 6],
      ['cy', 9, 12],
      ['dan', 8, 9],
    ]);
  });

  check('[R2] what became of a notice does not undo the one that took its place', async (scene) => {
    const { store, workspace_id, chief } = scene;
    await store.transact({ type: 'add_channel', ...head(chief), channel: channelOf(scene), input: {} });
    const make = (...notices: Notice[]) =>
      store.transact({
        type: 'make_notices',
        ...head(hubCaller(workspace_id)),
        notices,
        input: {},
      } satisfies MakeNotices);
    const mark = (notice_id: string, key: string, more: Partial<MarkNotice['input']>) => {
      const due_at = '2031-01-01T00:00:00.000Z';
      const outcome = {
        channel_id: 'c',
        key,
        notice_id,
        tries: 1,
        state: 'due' as const,
        due_at,
        gone: false,
      };
      const input = { ...outcome, ...more };
      return store.transact({ type: 'mark_notice', ...head(hubCaller(workspace_id)), input });
    };
    const noticeOf = (key: string, seq: number): Notice => notice(scene, `${key}-${seq}`, key, seq);
    const kept = async (): Promise<string[]> =>
      (await store.records({ kind: 'notice', workspace_id, limit: 9 })).map(
        ({ notice_id, state, tries }) => `${notice_id} ${state} ${tries}`,
      );
    await make(noticeOf('x', 1), noticeOf('y', 1), noticeOf('z', 1));
    await make(noticeOf('x', 2), noticeOf('y', 2));
    // What came to nothing leaves the newer one as it is.
    const dropped = await mark('x-1', 'x', { state: 'dropped', why: 'read meanwhile' });
    expect(dropped.result.notice).toMatchObject({ notice_id: 'x-2', state: 'due', tries: 0 });
    await mark('x-1', 'x', { tries: 7 });
    // What was sent stands for the newer one too.
    await mark('y-1', 'y', { state: 'sent' });
    await mark('z-1', 'z', { state: 'failed', why: 'it answered 403' });
    expect(await kept()).toEqual(['x-2 due 0', 'y-2 sent 1', 'z-1 failed 1']);
    // What is settled stays so.
    await mark('z-1', 'z', { state: 'sent' });
    expect((await mark('n-1', 'n', { state: 'sent' })).result).toEqual({ notice: null });
    expect(await kept()).toEqual(['x-2 due 0', 'y-2 sent 1', 'z-1 failed 1']);
    // What waits is not forgotten, nor what was made since somebody looked.
    const keys = ['x', 'y', 'z'].map((key) => `c ${key}`);
    const forget = (created_by: string) =>
      store.transact({
        type: 'forget_notices',
        ...head(hubCaller(workspace_id)),
        input: { keys, created_by },
      });
    await forget('2029-12-31T23:59:59.999Z');
    expect(await kept()).toHaveLength(3);
    await forget('2030-01-01T00:00:00.000Z');
    expect(await kept()).toEqual(['x-2 due 0']);
  });
}

function offer({ t }: Scene, agent_id: string, first: number, seq: number): Offer {
  return { thread_id: t, agent_id, how: 'ws', first, seq, at: '2030-01-01T00:00:00.000Z' };
}

function channelOf({ workspace_id, chief }: Scene): ChannelRecord {
  return {
    channel_id: 'c',
    workspace_id,
    agent_id: chief.agent_id,
    kind: 'webhook',
    name: 'hook',
    target: { url: 'https://hooks.example/x' },
    wants: ['mention'],
    paused: false,
    created_at: '2030-01-01T00:00:00.000Z',
  };
}

function notice({ workspace_id, t }: Scene, notice_id: string, key: string, seq: number): Notice {
  const at = '2030-01-01T00:00:00.000Z';
  const words = { kind: 'mention', title: 't', body: 'b', path: '/', tag: key, urgency: 'normal' } as const;
  const subject = { thread_id: t, seq };
  const name = { notice_id, workspace_id, channel_id: 'c', key };
  return { ...name, ...words, subject, created_at: at, due_at: at, tries: 0, state: 'due' };
}
