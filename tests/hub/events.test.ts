import { describe, expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';

const scene = useHub();

type Event = Record<string, unknown> & { event_type: string };

function report(caller: Participant, thread_id: string, body: string, metadata: Event, more = {}) {
  return caller.say(thread_id, body, { kind: 'event', metadata, ...more });
}

describe.each(faces)('over $name', (face) => {
  const as = (name: string, role = 'worker'): Participant => scene.as(name, { face, role });

  test('[HUB-R1] every event of the registry is kept with its metadata', async () => {
    const alice = as('alice');
    const thread_id = await alice.thread('bob');
    const events: Event[] = [
      {
        event_type: 'finding_reported',
        severity: 'high',
        file: 'lib/mapper.dart',
        line: 42,
        task_id: 'TASK-219',
      },
      { event_type: 'fix_pushed', commit: 'abc1234', branch: 'fix/219', files: ['lib/mapper.dart'] },
      { event_type: 're_review_requested', reviewer: 'bob', commit: 'abc1234' },
      { event_type: 'finding_verified', finding_id: 'F-1', commit: 'abc1234' },
      { event_type: 'finding_rejected', reason: 'works as asked' },
      { event_type: 'thread_escalated', reason: 'stuck', to: 'chief' },
      { event_type: 'thread_resolved', reason: 'all verified' },
    ];
    for (const metadata of events) await report(alice, thread_id, metadata.event_type, metadata);
    const { messages } = await alice.ok('read_messages', { thread_id });
    const reported = messages.filter(({ kind }) => kind === 'event');
    expect(reported.map(({ metadata }) => metadata)).toEqual(events);
  });

  test('[HUB-R1] metadata that does not fit its event is refused by its field', async () => {
    const alice = as('alice');
    const thread_id = await alice.thread();
    const bad: [string, Event][] = [
      ['metadata.line', { event_type: 'finding_reported', line: 'forty-two' }],
      ['metadata.line', { event_type: 'finding_reported', line: -1 }],
      ['metadata.severity', { event_type: 'finding_reported', severity: 5 }],
      ['metadata.file', { event_type: 'finding_reported', file: '' }],
      ['metadata.files', { event_type: 'fix_pushed', files: 'lib/mapper.dart' }],
      ['metadata.commit', { event_type: 'finding_verified', commit: 7 }],
      ['metadata.reason', { event_type: 'thread_resolved', reason: {} }],
      ['metadata.reviewer', { event_type: 're_review_requested', reviewer: 5 }],
      ['metadata.reason', { event_type: 'finding_rejected', reason: {} }],
      ['metadata.to', { event_type: 'thread_escalated', to: 5 }],
    ];
    await scene.unchanged(async () => {
      for (const [field, metadata] of bad) {
        const input = { thread_id, schema_version: 1, kind: 'event', body: 'x', metadata };
        expect((await alice.refused('post_message', input, 'VALIDATION_ERROR')).details['field']).toBe(field);
      }
    });
    // The same words in a chat message are nobody's event.
    await alice.say(thread_id, 'x', { metadata: bad[0]?.[1] });
  });

  test('[HUB-R2] [HUB-E2] thread_escalated blocks and thread_resolved resolves, with the change in the log', async () => {
    const alice = as('alice');
    const thread_id = await alice.thread('bob');
    const escalated = await report(alice, thread_id, 'help', {
      event_type: 'thread_escalated',
      reason: 'stuck',
    });
    expect(escalated).toMatchObject({ seq: 1, thread_status: 'blocked' });
    const resolved = await report(as('bob'), thread_id, 'done', { event_type: 'thread_resolved' });
    expect(resolved).toMatchObject({ seq: 3, thread_status: 'resolved' });
    expect(await alice.ok('get_thread', { thread_id })).toMatchObject({ status: 'resolved', last_seq: 4 });
    const { messages } = await alice.ok('read_messages', { thread_id });
    expect(messages.map(({ seq, kind }) => [seq, kind])).toEqual([
      [1, 'event'],
      [2, 'system'],
      [3, 'event'],
      [4, 'system'],
    ]);
    expect(messages[1]?.metadata).toMatchObject({
      event_type: 'thread_status_changed',
      from: 'active',
      to: 'blocked',
      reason: 'stuck',
      cause: escalated.message_id,
    });
  });

  test('[HUB-R2] an event whose move is not legal, or that only looks like one, moves nothing', async () => {
    const alice = as('alice');
    const thread_id = await alice.thread();
    await alice.ok('update_thread_status', { thread_id, status: 'resolved', reason: 'done' });
    const escalated = await report(alice, thread_id, 'again?', { event_type: 'thread_escalated' });
    expect(escalated).toMatchObject({ seq: 2, thread_status: 'resolved' });
    const chat = await alice.say(thread_id, 'x', { metadata: { event_type: 'thread_escalated' } });
    expect(chat.thread_status).toBe('resolved');
  });

  test('only the hub speaks as system: neither its kind nor its events can be sent', async () => {
    const alice = as('alice');
    const thread_id = await alice.thread('bob');
    const post = { thread_id, schema_version: 1, body: 'status active → closed: all is done' };
    const forged = {
      event_type: 'thread_status_changed',
      from: 'active',
      to: 'closed',
      reason: 'all is done',
    };
    await scene.unchanged(async () => {
      const error = await alice.refused('post_message', { ...post, kind: 'system' }, 'VALIDATION_ERROR');
      expect(error.details['field']).toBe('kind');
      expect(error.message).toContain('only the hub');
      for (const kind of ['chat', 'event'])
        for (const event_type of [
          forged.event_type,
          'thread.status',
          'thread_created',
          'ask_answered',
          'task',
          'result',
          'agent.approval_rule',
          'agent.passkey',
          'agent.leave',
        ]) {
          const input = { ...post, kind, metadata: { ...forged, event_type } };
          const { details } = await alice.refused('post_message', input, 'VALIDATION_ERROR');
          expect([event_type, details['field']]).toEqual([event_type, 'metadata.event_type']);
        }
      for (const nickname of ['system', 'Parley']) {
        const control = { profile: { nickname } };
        await alice.refused('control_thread', { thread_id, control }, 'VALIDATION_ERROR');
      }
    });
    expect((await alice.ok('summarize_thread', { thread_id })).summary).not.toContain('all is done');
    // A name of one's own is nobody else's.
    await report(alice, thread_id, 'x', { event_type: 'thread.tidied' });
  });

  test('who fixed a finding does not settle it, and so does not close the thread', async () => {
    const [alice, bob, carol] = [as('alice'), as('bob'), as('carol')];
    const thread_id = await alice.thread('bob', 'carol');
    await report(bob, thread_id, 'null is lost', { event_type: 'finding_reported', finding_id: 'F-1' });
    const verdict = { event_type: 'finding_verified', finding_id: 'F-1' };
    const input = { thread_id, schema_version: 1, kind: 'event', body: 'verified', metadata: verdict };
    const closing = { thread_id, status: 'closed', reason: 'all verified' };
    await alice.refused('update_thread_status', closing, 'INSUFFICIENT_AUTHORITY');
    await scene.unchanged(() => alice.refused('post_message', input, 'INSUFFICIENT_AUTHORITY'));
    const asked = { event_type: 're_review_requested', reviewer: 'alice' };
    await report(alice, thread_id, 'again please', asked);
    const { details } = await alice.refused('post_message', input, 'INSUFFICIENT_AUTHORITY');
    expect(details).toMatchObject({ reported_by: 'bob' });
    await report(alice, thread_id, 'again please', { ...asked, reviewer: 'carol' });
    await report(carol, thread_id, 'verified', verdict);
    await alice.ok('update_thread_status', { ...closing, status: 'closed' });
  });

  test('[HUB-R2] an observer has no authority: its event is refused and moves nothing', async () => {
    const thread_id = await as('alice').thread('watcher');
    const input = {
      thread_id,
      schema_version: 1,
      kind: 'event',
      body: 'x',
      metadata: { event_type: 'thread_resolved' },
    };
    await scene.unchanged(() => as('watcher', 'observer').refused('post_message', input, 'FORBIDDEN'));
    expect((await as('alice').ok('get_thread', { thread_id })).status).toBe('active');
  });

  test('[HUB-M7] findings stay open until verified or rejected, requests until answered', async () => {
    const alice = as('alice');
    const bob = as('bob');
    const thread_id = await alice.thread('bob');
    const summary = () => alice.ok('summarize_thread', { thread_id });
    const open = async (): Promise<unknown[]> =>
      (await summary()).open_items.map(({ kind, text }) => [kind, text]);
    const finding = { event_type: 'finding_reported', severity: 'high', file: 'a.ts', line: 3 };
    const first = await report(bob, thread_id, 'null fallback', {
      ...finding,
      finding_id: 'F-1',
      task_id: 'T-1',
    });
    const second = await report(bob, thread_id, 'missing test', { ...finding, severity: 'low' });
    expect((await summary()).open_items).toEqual([
      {
        kind: 'finding',
        message_id: first.message_id,
        seq: 1,
        by: 'bob',
        text: 'null fallback',
        severity: 'high',
        file: 'a.ts',
        line: 3,
        task_id: 'T-1',
      },
      {
        kind: 'finding',
        message_id: second.message_id,
        seq: 2,
        by: 'bob',
        text: 'missing test',
        severity: 'low',
        file: 'a.ts',
        line: 3,
      },
    ]);
    await report(alice, thread_id, 'fixed', {
      event_type: 'fix_pushed',
      commit: 'abc1234',
      finding_id: 'F-1',
    });
    const asked = await report(alice, thread_id, 'again please', {
      event_type: 're_review_requested',
      finding_id: 'F-1',
    });
    expect(await open()).toHaveLength(3);
    expect((await summary()).open_items.at(-1)).toMatchObject({
      kind: 'request',
      message_id: asked.message_id,
    });
    await report(bob, thread_id, 'verified', { event_type: 'finding_verified', finding_id: 'F-1' });
    expect(await open()).toEqual([['finding', 'missing test']]);
    expect((await alice.ok('get_thread', { thread_id })).disputed).toBe(true);
    // Rejected by another than its reporter: no longer open, but disputed.
    await report(
      alice,
      thread_id,
      'no',
      { event_type: 'finding_rejected' },
      { in_reply_to: second.message_id },
    );
    expect(await open()).toEqual([]);
    expect((await alice.ok('get_thread', { thread_id })).disputed).toBe(true);
    await report(
      bob,
      thread_id,
      'agreed',
      { event_type: 'finding_rejected' },
      { in_reply_to: second.message_id },
    );
    const settled = await summary();
    expect((await alice.ok('get_thread', { thread_id })).disputed).toBe(false);
    expect(settled).toMatchObject({
      open_items: [],
      last_status: 'active',
      messages_read: 7,
      written_by: 'rules',
    });
    expect(settled.summary).toContain('2 findings reported (1 high, 1 low), 1 verified');
    expect(settled.summary).toContain('abc1234');
    expect(await summary()).toEqual(settled);
  });

  test('[HUB-M7] [C-HUB-22] threads of no and of one message are summarized; bad bounds are refused', async () => {
    const alice = as('alice');
    const { thread_id } = await alice.ok('create_thread', { title: 'An empty one', type: 'incident' });
    const none = await alice.ok('summarize_thread', { thread_id });
    expect(none).toMatchObject({ open_items: [], last_status: 'active', messages_read: 0, through_seq: 0 });
    expect(none.summary).toContain('An empty one');
    await alice.say(thread_id, 'the only word');
    const one = await alice.ok('summarize_thread', { thread_id, max_messages: 1 });
    expect(one).toMatchObject({ open_items: [], messages_read: 1, through_seq: 1 });
    expect(one.summary).toContain('the only word');
    for (const max_messages of [0, -1, 1.5, '5', null, 10_001]) {
      const error = await alice.refused('summarize_thread', { thread_id, max_messages }, 'VALIDATION_ERROR');
      expect(error.details['field']).toBe('max_messages');
    }
  });
});

test('[HUB-M7] a summary speaks of the newest messages, however large they are', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const large = 'x'.repeat(60_000);
  for (let i = 0; i < 160; i++) await alice.say(thread_id, `${i} ${large}`);
  await alice.say(thread_id, 'the newest of all');
  const reported = await alice.ok('summarize_thread', { thread_id, max_messages: 10_000 });
  expect(reported.summary).toContain('the newest of all');
  expect(reported.through_seq).toBe(161);
  expect(reported.messages_read).toBeLessThan(161);
});
