import type { ThreadStatus } from '@parley/protocol';
import { expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { type Participant, refused, useHub } from '../harness/use-hub.ts';

const scene = useHub();
const ISO_UTC = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

test.each(faces)(
  '[HUB-M1] [HUB-M2] [HUB-E1] [C-HUB-01] a thread is created and read back over $name',
  async (face) => {
    const alice = scene.as('alice', { face });
    const before = Date.now();
    const made = await alice.ok('create_thread', {
      title: 'Profile mapper',
      type: 'workflow',
      participants: ['bob', 'carol'],
    });
    expect(made).toEqual({ thread_id: made.thread_id, status: 'active', created_at: made.created_at });
    expect(made.thread_id).toMatch(/^th_[0-9A-Za-z]+$/);
    expect(made.created_at).toMatch(ISO_UTC);
    expect(Date.parse(made.created_at)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(made.created_at)).toBeLessThanOrEqual(Date.now());
    for (const reader of [alice, scene.as('bob', { face })]) {
      expect(await reader.ok('get_thread', { thread_id: made.thread_id })).toEqual({
        thread_id: made.thread_id,
        workspace_id: 'w1',
        title: 'Profile mapper',
        type: 'workflow',
        status: 'active',
        participants: ['alice', 'bob', 'carol'],
        created_by: 'alice',
        created_at: made.created_at,
        updated_at: made.created_at,
        last_seq: 0,
        disputed: false,
        last_read_seq: 0,
        last_acked_message_id: null,
        unread: 0,
      });
    }
  },
);

test('[HUB-E1] [C-HUB-01] ids are unique, also when many are made at once', async () => {
  const alice = scene.as('alice');
  const ids = await Promise.all(Array.from({ length: 100 }, () => alice.thread()));
  expect(new Set(ids).size).toBe(100);
});

test.each(faces)('[HUB-E1] over $name every type and status can be had, and the id stays', async (face) => {
  const alice = scene.as('alice', { face });
  const { thread_id } = await alice.ok('create_thread', { title: 'x' });
  expect(await alice.ok('get_thread', { thread_id })).toMatchObject({
    type: 'conversation',
    participants: ['alice'],
  });
  for (const type of ['conversation', 'workflow', 'incident'] as const) {
    const { thread_id: id } = await alice.ok('create_thread', { title: type, type });
    expect(await alice.ok('get_thread', { thread_id: id })).toMatchObject({ thread_id: id, type });
    await alice.ok('rename_thread', { thread_id: id, title: 'another' });
    for (const status of ['blocked', 'resolved', 'closed'] as const) {
      await alice.ok('update_thread_status', { thread_id: id, status, reason: 'on its way' });
      const reads = { thread_id: id, title: 'another', type, status };
      expect(await alice.ok('get_thread', { thread_id: id })).toMatchObject(reads);
    }
  }
});

test('[HUB-E1] [C-HUB-02] a bad field is refused by its name', async () => {
  const alice = scene.as('alice');
  const wide = Array.from({ length: 10_000 }, (_, i) => `a${i}`);
  const bad: [string, Record<string, unknown>][] = [
    ['type', { title: 'x', type: 'chat' }],
    ['type', { title: 'x', type: ['workflow'] }],
    ['type', { title: 'x', type: null }],
    ['title', {}],
    ['title', { title: '' }],
    ['title', { title: 5 }],
    ['title', { title: 'x'.repeat(501) }],
    ['title', { title: 'é'.repeat(251) }],
    ['participants', { title: 'x', participants: 'bob' }],
    ['participants', { title: 'x', participants: { 0: 'bob' } }],
    ['participants.0', { title: 'x', participants: [1] }],
    ['participants.1', { title: 'x', participants: ['bob', '--flag'] }],
    ['participants.0', { title: 'x', participants: [''] }],
    ['participants', { title: 'x', participants: wide }],
    ['participants', { title: 'x', participants: wide.slice(0, 1_001) }],
  ];
  await scene.unchanged(async () => {
    for (const [field, input] of bad) {
      const error = await alice.refused('create_thread', input, 'VALIDATION_ERROR');
      expect([error.details['field'], error.message.startsWith(field)]).toEqual([field, true]);
    }
  });
  await alice.ok('create_thread', { title: 'x'.repeat(500) });
  await alice.ok('create_thread', { title: 'é'.repeat(250), participants: wide.slice(0, 1_000) });
  const thread_id = await alice.thread();
  const open = { thread_id, status: 'open', reason: 'x' };
  expect((await alice.refused('update_thread_status', open, 'VALIDATION_ERROR')).details['field']).toBe(
    'status',
  );
  expect((await alice.refused('list_threads', { status: 'open' }, 'VALIDATION_ERROR')).details['field']).toBe(
    'status',
  );
});

test('[C-HUB-02] a title of 10 MB is refused before it is read', async () => {
  const alice = scene.as('alice');
  await scene.unchanged(async () => {
    const answer = await alice.call('create_thread', { title: 'x'.repeat(10_000_000) });
    expect([answer.status, answer.error?.code]).toEqual([413, 'VALIDATION_ERROR']);
  });
});

test('[HUB-E1] [C-HUB-02] participants named twice, the creator too, count once', async () => {
  const alice = scene.as('alice');
  const { thread_id } = await alice.ok('create_thread', {
    title: 'x',
    participants: ['bob', 'alice', 'bob', 'carol', 'bob'],
  });
  expect((await alice.ok('get_thread', { thread_id })).participants).toEqual(['alice', 'bob', 'carol']);
});

test('[HUB-M1] a create_thread retried with its key makes one thread', async () => {
  const alice = scene.as('alice');
  const input = { title: 'once', idempotency_key: 'create-once' };
  const made = await alice.ok('create_thread', input);
  await scene.unchanged(async () => {
    expect(await alice.ok('create_thread', input)).toEqual(made);
    await alice.refused('create_thread', { ...input, title: 'twice' }, 'IDEMPOTENCY_CONFLICT');
  });
});

test('[HUB-R4] a thread that nobody made is NOT_FOUND', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const unknown = thread_id.replace(/^th_.{8}/, 'th_01JXYZ00');
  await scene.unchanged(async () => {
    for (const id of [unknown, 'th_nope', 'nope', '../../etc/passwd', '%00'])
      await alice.refused('get_thread', { thread_id: id }, 'NOT_FOUND');
    await alice.refused('post_message', { thread_id: unknown, schema_version: 1, body: 'x' }, 'NOT_FOUND');
  });
});

const STATUSES: ThreadStatus[] = ['active', 'blocked', 'resolved', 'closed'];
/** Who may go from one status to another; what is not here is no legal move. */
const LEGAL: Record<string, 'anyone' | 'undisputed' | 'override'> = {
  'active blocked': 'anyone',
  'active resolved': 'anyone',
  'active closed': 'undisputed',
  'blocked active': 'anyone',
  'blocked resolved': 'anyone',
  'blocked closed': 'undisputed',
  'resolved active': 'anyone',
  'resolved closed': 'undisputed',
  'closed active': 'override',
};

async function threadAt(status: ThreadStatus, disputed: boolean): Promise<string> {
  const thread_id = await scene.as('alice').thread('bob', 'watcher');
  if (disputed)
    await scene
      .as('bob')
      .say(thread_id, 'null fallback', { kind: 'event', metadata: { event_type: 'finding_reported' } });
  const chief = scene.as('chief', { role: 'operator' });
  if (status !== 'active') await chief.ok('update_thread_status', { thread_id, status, reason: 'set up' });
  return thread_id;
}

function expected(from: ThreadStatus, to: ThreadStatus, role: string, disputed: boolean): string | undefined {
  if (role === 'observer') return 'FORBIDDEN';
  const rule = LEGAL[`${from} ${to}`];
  if (rule === undefined) return 'CONFLICT';
  if (role !== 'worker' || rule === 'anyone' || (rule === 'undisputed' && !disputed)) return undefined;
  return 'INSUFFICIENT_AUTHORITY';
}

test.each(['worker', 'observer', 'orchestrator', 'operator'])(
  '[HUB-M6] [C-HUB-19] every pair of statuses, asked for by a %s',
  async (role) => {
    const callers = faces.map((face) => scene.as(role === 'observer' ? 'watcher' : 'alice', { role, face }));
    let turn = 0;
    for (const disputed of [false, true]) {
      for (const from of STATUSES) {
        let thread_id = await threadAt(from, disputed);
        for (const to of STATUSES) {
          const at = turn++ % faces.length;
          const caller = callers[at]!;
          const before = (await caller.ok('get_thread', { thread_id })).last_seq;
          const answer = await caller.call('update_thread_status', {
            thread_id,
            status: to,
            reason: 'as the table says',
          });
          const code = expected(from, to, role, disputed);
          expect([from, to, role, disputed, answer.error?.code]).toEqual([from, to, role, disputed, code]);
          const after = await caller.ok('get_thread', { thread_id });
          if (code === undefined) {
            expect(answer.result).toEqual({ thread_id, status: to, updated_at: after.updated_at });
            expect([after.status, after.last_seq]).toEqual([to, before + 1]);
            thread_id = await threadAt(from, disputed);
          } else {
            refused(answer, code as 'CONFLICT', faces[at]);
            expect([after.status, after.last_seq]).toEqual([from, before]);
          }
        }
      }
    }
  },
);

test('[HUB-M6] a change of status needs a reason and stands in the thread’s own log', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread('bob');
  await scene.unchanged(async () => {
    const error = await alice.refused(
      'update_thread_status',
      { thread_id, status: 'blocked' },
      'VALIDATION_ERROR',
    );
    expect(error.details['field']).toBe('reason');
  });
  await alice.ok('update_thread_status', { thread_id, status: 'blocked', reason: 'waits for bob' });
  const { messages } = await scene.as('bob').ok('read_messages', { thread_id });
  expect(messages).toHaveLength(1);
  expect(messages[0]).toMatchObject({
    seq: 1,
    kind: 'system',
    sender_agent_id: 'alice',
    metadata: { event_type: 'thread_status_changed', from: 'active', to: 'blocked', reason: 'waits for bob' },
  });
});

test('[HUB-M6] [C-AUTH-23] a disputed thread is closed by those who steer, with their reason on record', async () => {
  const dispute = async (): Promise<string> => threadAt('active', true);
  const close = (caller: Participant, thread_id: string) =>
    [
      'update_thread_status',
      { thread_id, status: 'closed', reason: `closed by ${caller.agent_id}` },
    ] as const;
  const worker = scene.as('alice');
  const kept = await dispute();
  await scene.unchanged(() => worker.refused(...close(worker, kept), 'INSUFFICIENT_AUTHORITY'));
  for (const role of ['orchestrator', 'operator']) {
    const chief = scene.as('chief', { role });
    const thread_id = await dispute();
    await chief.ok(...close(chief, thread_id));
    const { messages } = await worker.ok('read_messages', { thread_id });
    expect(messages.at(-1)).toMatchObject({
      sender_agent_id: 'chief',
      metadata: { from: 'active', to: 'closed', reason: 'closed by chief', role },
    });
  }
});

test('[HUB-M6] a closed thread takes no posts, and those who steer may reopen it', async () => {
  const alice = scene.as('alice');
  const thread_id = await threadAt('closed', false);
  await scene.unchanged(() =>
    alice.refused('post_message', { thread_id, schema_version: 1, body: 'x' }, 'CONFLICT'),
  );
  await alice.ok('read_messages', { thread_id });
  await scene
    .as('chief', { role: 'operator' })
    .ok('update_thread_status', { thread_id, status: 'active', reason: 'not done' });
  expect((await alice.say(thread_id, 'thanks')).thread_status).toBe('active');
});

test('[HUB-M10] list_threads gives each caller its own, newest first, with what is unread', async () => {
  const who = { workspace: 'listing' };
  const alice = scene.as('alice', who);
  const bob = scene.as('bob', who);
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const thread_id = await alice.thread('bob');
    await alice.say(thread_id, `message of ${i}`);
    ids.unshift(thread_id);
  }
  const alone = await alice.thread();
  expect((await bob.ok('list_threads', {})).threads.map((thread) => thread.thread_id)).toEqual(ids);
  expect((await alice.ok('list_threads', {})).threads[0]).toMatchObject({ thread_id: alone, unread: 0 });

  await bob.ok('ack_read', { thread_id: ids[1] ?? '', last_read_seq: 1 });
  const unread = (await bob.ok('list_threads', { unread: true })).threads;
  expect(unread.map(({ thread_id, unread: count }) => [thread_id, count])).toEqual(
    ids.filter((_, i) => i !== 1).map((id) => [id, 1]),
  );
  await bob.say(ids[4] ?? '', 'back to the top');
  expect((await bob.ok('list_threads', {})).threads[0]?.thread_id).toBe(ids[4]);

  await bob.ok('update_thread_status', { thread_id: ids[0] ?? '', status: 'blocked', reason: 'x' });
  const blocked = (await bob.ok('list_threads', { status: 'blocked' })).threads;
  expect(blocked.map((thread) => thread.thread_id)).toEqual([ids[0]]);
});

test('[HUB-M10] pages of list_threads chain without gap or repeat', async () => {
  const alice = scene.as('alice', { workspace: 'paging' });
  const ids = await Promise.all(Array.from({ length: 12 }, () => alice.thread()));
  const seen: string[] = [];
  let before: string | null = null;
  let pages = 0;
  do {
    const page: { threads: { thread_id: string }[]; next_before: string | null } = await alice.ok(
      'list_threads',
      {
        limit: 5,
        ...(before === null ? {} : { before }),
      },
    );
    seen.push(...page.threads.map((thread) => thread.thread_id));
    before = page.next_before;
    pages++;
  } while (before !== null);
  expect(pages).toBe(3);
  expect(seen).toHaveLength(12);
  expect(new Set(seen)).toEqual(new Set(ids));
  await alice.refused('list_threads', { before: 'not a position' }, 'VALIDATION_ERROR');
  await alice.refused('list_threads', { limit: 0 }, 'VALIDATION_ERROR');
  expect((await alice.ok('list_threads', { limit: 1e9 })).threads).toHaveLength(12);
});

test.each(faces)(
  '[HUB-M6] over $name the metadata of a status change stands in the log as it was sent',
  async (face) => {
    const alice = scene.as('alice', { face });
    const thread_id = await alice.thread('bob');
    const metadata = { ticket: 'T-1', to: 'nobody', event_type: 'own word', nested: { deep: [1] } };
    await alice.ok('update_thread_status', { thread_id, status: 'blocked', reason: 'waits', metadata });
    const { messages } = await alice.ok('read_messages', { thread_id });
    expect(messages[0]?.metadata).toMatchObject({
      event_type: 'thread_status_changed',
      from: 'active',
      to: 'blocked',
      reason: 'waits',
      metadata,
    });
    const bad = { thread_id, status: 'active', reason: 'x', metadata: 'no object' };
    const error = await scene.unchanged(() => alice.refused('update_thread_status', bad, 'VALIDATION_ERROR'));
    expect(error.details['field']).toBe('metadata');
  },
);
