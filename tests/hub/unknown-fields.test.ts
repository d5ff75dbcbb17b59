import { expect, test } from 'vitest';

import { send } from '../harness/send.ts';
import { useHub } from '../harness/use-hub.ts';
import { WITHOUT_MODEL } from '../harness/without-model.ts';
import { bad, envelopeOf, good, newPage, sendEnvelope } from '../knowledge/envelope-client.ts';
import { dial, registration } from '../ws/live-client.ts';

const scene = useHub({ settings: WITHOUT_MODEL });
const since = 'since: is not known here; did you mean since_seq?';

test('over resources an unknown field of the query is told, and a stream refuses it', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread('bob');
  const get = (accept: string) =>
    send(`${scene.hub.url}/v1/threads/${thread_id}/messages?since=3`, {
      headers: { authorization: `Bearer ${alice.token}`, accept },
    });
  const page = await get('application/json');
  expect(JSON.parse(page.text)).toMatchObject({ warnings: [since], messages: [] });
  const stream = await get('text/event-stream');
  expect([stream.status, JSON.parse(stream.text)]).toMatchObject([
    400,
    { error: { code: 'VALIDATION_ERROR', message: since } },
  ]);
});

test('in an envelope it is told at once, also of what is carried out later, or refused', async () => {
  const { token } = scene.as('ed', { role: 'orchestrator' });
  const call = (action: string, args: object, more = {}, headers = {}) =>
    sendEnvelope(scene.hub.url, token, envelopeOf(action, { ...args }, more), { headers });
  const page = newPage({ colour: 'red' });
  expect(good(await call('knowledge.create_document', page, { priority: 'high' }))).toMatchObject({
    id: page.document_id,
    warnings: ['priority: is not known here', 'colour: is not known here'],
  });
  const { document_id } = page;
  const update = { document_id, patch: { is_human_readable: false }, update_mask: ['is_human_readable'] };
  const deleting = { document_id, deleted_at: '2099-01-01T00:00:00Z' };
  await scene.unchanged(async () => {
    const guarded = await call('knowledge.update_document', { ...update, last_revision: 7 });
    expect(bad(guarded, 'UNPROCESSABLE_ENTITY')['field']).toBe('last_revision');
    expect(bad(await call('knowledge.delete_document', deleting), 'UNPROCESSABLE_ENTITY')['field']).toBe(
      'deleted_at',
    );
    // Who guards a change by a revision that nobody looks at must hear of it.
    const guard = { document_id, last_known_revision: 1 };
    for (const [action, args] of [
      ['knowledge.move_document', { ...guard, new_parent_id: 'root' }],
      ['knowledge.restore_document', guard],
    ] as const)
      expect(bad(await call(action, args), 'UNPROCESSABLE_ENTITY')['field']).toBe('last_known_revision');
  });
  const later = await call(
    'knowledge.create_document',
    newPage({ parent: 'x' }),
    {},
    { prefer: 'respond-async' },
  );
  expect(later.body.data?.['warnings']).toEqual(['parent: is not known here; did you mean parent_id?']);
});

test('over the socket it is told in the answer of a command', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread('bob');
  const live = await dial(scene.hub.url, 'alice', alice.token);
  expect(await live.hub('register_agent', { ...registration, maxConcurent: 3 })).toMatchObject({
    warnings: ['maxConcurent: is not known here; did you mean maxConcurrent?'],
  });
  expect(await live.hub('follow', { thread_id, since: 3 })).toEqual({
    thread_id,
    since_seq: 0,
    warnings: ['since: is not known here'],
  });
  expect(await live.hub('follow', { thread_id, since_seq: 0 })).toEqual({ thread_id, since_seq: 0 });
  expect(await live.hub('read_messages', { thread_id, since: 3 })).toMatchObject({ warnings: [since] });
  await live.close();
});
