import { randomUUID } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { useHub } from '../harness/use-hub.ts';
import { WITHOUT_MODEL } from '../harness/without-model.ts';

const scene = useHub({ settings: { ...WITHOUT_MODEL, 'mcp.profile': 'full' } });

describe.each(faces)('a thread is promoted over $name', (face) => {
  const workspace = `w-${face.name.replaceAll(/\W/g, '')}`;
  const as = (name: string, role = 'worker') => scene.as(name, { role, face, workspace });

  test('once it is settled, by one who takes part; each statement cites an entry that says so', async () => {
    const [alice, bob] = [as('alice'), as('bob')];
    const { thread_id } = await alice.ok('create_thread', { title: 'Mapper', participants: ['bob'] });
    const said = await bob.ok('post_message', {
      thread_id,
      schema_version: 1,
      body: 'null is lost',
      kind: 'event',
      metadata: { event_type: 'finding_reported', severity: 'high' },
    });
    await alice.refused('promote_thread', { thread_id }, 'CONFLICT');
    await bob.ok('post_message', {
      thread_id,
      schema_version: 1,
      body: 'works now',
      kind: 'event',
      in_reply_to: said.message_id,
      metadata: { event_type: 'finding_verified' },
    });
    await alice.ok('update_thread_status', { thread_id, status: 'resolved', reason: 'done' });
    await as('carol').refused('promote_thread', { thread_id }, 'FORBIDDEN');
    await as('olga', 'observer').refused('promote_thread', { thread_id }, 'FORBIDDEN');
    await alice.refused('promote_thread', { thread_id }, 'FORBIDDEN');
    const parent_id = randomUUID();
    const empty = { mime_type: 'text/markdown' as const, body: '' };
    const place = {
      document_id: parent_id,
      parent_id: 'root',
      content: empty,
      metadata: { title: 'Decisions' },
    };
    await as('boss', 'operator').ok('create_document', place);
    const input = { thread_id, parent_id, tags: ['review'], idempotency_key: 'k1' };
    const made = await alice.ok('promote_thread', input);
    expect(await alice.ok('promote_thread', input)).toEqual(made);
    expect(made).toMatchObject({ revision: 1, thread_id, cited: 3 });
    const { document } = await as('carol').ok('get_document', { document_id: made.id });
    const { content, metadata } = document;
    expect(metadata).toMatchObject({ title: 'Mapper', source: thread_id, tags: ['review'], through_seq: 3 });
    expect(content.body).toContain(
      `**high** null is lost, reported by bob [#1](/t/${thread_id}/1). Verified by bob: works now [#2]`,
    );
    const ids = [...content.body.matchAll(/^- #(\d+) `(\S+)`/gm)].map(([, seq, id]) => [Number(seq), id]);
    const { messages } = await alice.ok('read_messages', { thread_id });
    expect(ids).toEqual(
      messages.filter(({ seq }) => seq > 0).map(({ seq, message_id }) => [seq, message_id]),
    );
    // Another key is another wish: the thread has its document already.
    await alice.refused('promote_thread', { thread_id, parent_id }, 'CONFLICT');
  });
});
