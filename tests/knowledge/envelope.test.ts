import { randomUUID } from 'node:crypto';

import { CONTRACTS, ENVELOPE_ACTIONS, ENVELOPE_CODE, ENVELOPE_STATUS } from '@parley/protocol';
import { describe, expect, test } from 'vitest';

import { send } from '../harness/send.ts';
import { useHub } from '../harness/use-hub.ts';
import { bad, envelopeOf, type Fields, good, newPage, sendEnvelope } from './envelope-client.ts';

const scene = useHub({
  settings: { 'quota.messages_burst': 100_000, 'envelope.requests_per_minute': 100_000 },
});

const as = (agent: string, role = 'orchestrator', workspace = 'w1') =>
  scene.as(agent, { role, workspace }).token;
const call = async (action: string, args: Fields, more: Fields = {}, token = as('ed'), headers = {}) =>
  sendEnvelope(scene.hub.url, token, envelopeOf(action, args, more), { headers });
const create = (args = newPage(), more: Fields = {}) => call('knowledge.create_document', args, more);
const get = async (document_id: string) =>
  good(await call('knowledge.get_document', { document_id }))['document'] as Fields;

test.each(['/mcp/envelope', '/v1/envelope'])(
  '[KNOW-1] [KNOW-11] [C-ENV-01] a document is made over %s',
  async (path) => {
    const args = newPage();
    const envelope = envelopeOf('knowledge.create_document', args);
    const answer = await sendEnvelope(scene.hub.url, as('ed'), envelope, { path });
    expect(good(answer)).toEqual({
      id: args.document_id,
      revision: 1,
      web_uri: `${scene.hub.url}/d/${args.document_id}`,
    });
    expect(answer.headers['traceparent']).toBe(envelope['trace_id']);
    expect((await get(args.document_id))['updated_by']).toBe('ed');
  },
);

describe('[KNOW-4] every field of the envelope', () => {
  const wrong: Record<string, unknown[]> = {
    envelope_version: [2.2, null],
    request_id: ['no-uuid', 5],
    correlation_id: ['no-uuid', 5],
    trace_id: [5, null],
    tenant_id: [5, ''],
    principal: [5, {}, { sub: 'ed' }, { sub: 5, roles: ['editor'] }, { sub: 'ed', roles: 'editor' }],
    timestamp: ['yesterday', 5],
    ttl_sec: [0, -1, 1e12, '300', 1.5],
    idempotency_key: [5, ''],
    seq: ['1', -1, 1.5],
    action: [5, ''],
    action_version: [1, null],
    context_id: [5, ''],
    resource_links: [{}, 'x', [5]],
    payload: [5, {}, { args: {} }, { schema_version: '1.0', args: [] }, { schema_version: '9', args: {} }],
  };
  test.each(Object.keys(envelopeOf('x', {})))('[C-ENV-02] [C-ENV-05] [KNOW-18] %s', async (field) => {
    for (const value of [undefined, ...(wrong[field] ?? [])]) {
      const args = newPage();
      bad(await create(args, { [field]: value }), 'INVALID_ARGUMENT');
      bad(await call('knowledge.get_document', { document_id: args.document_id }), 'NOT_FOUND');
    }
  });
  test('[C-ENV-02] what is no envelope at all', async () => {
    for (const text of ['', '{', '[]', '5', 'null', '{"a":1,"a":2}'])
      bad(await sendEnvelope(scene.hub.url, as('ed'), text), 'INVALID_ARGUMENT');
  });
});

test('[KNOW-4] [KNOW-6] [C-ENV-03] other versions and actions are refused with those that are there', async () => {
  for (const envelope_version of ['2.1', '3.0'])
    expect(bad(await create(newPage(), { envelope_version }), 'INVALID_ARGUMENT')['hint']).toContain('2.2');
  for (const action_version of ['9.9.9', 'latest', '1.0'])
    expect(bad(await create(newPage(), { action_version }), 'INVALID_ARGUMENT')['hint']).toContain('1.0.0');
  expect(bad(await call('knowledge.nothing', {}), 'INVALID_ARGUMENT')['hint']).toContain(
    'knowledge.create_document',
  );
  bad(await call('__proto__', {}), 'INVALID_ARGUMENT');
});

test('[KNOW-18] [C-ENV-04] arguments that do not fit their schema are 422', async () => {
  bad(await create(newPage({ document_id: 'no-uuid' })), 'UNPROCESSABLE_ENTITY');
  bad(await create(newPage({ content: { mime_type: 'text/html', body: '' } })), 'UNPROCESSABLE_ENTITY');
  bad(await create(newPage({ metadata: {} })), 'UNPROCESSABLE_ENTITY');
});

test('[KNOW-8] [C-ENV-05] too late is EXPIRED, from the future is wrong', async () => {
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
  bad(await create(newPage(), { timestamp: ago(301), ttl_sec: 300 }), 'EXPIRED');
  good(await create(newPage(), { timestamp: ago(200), ttl_sec: 300 }));
  bad(await create(newPage(), { timestamp: ago(-3_600) }), 'INVALID_ARGUMENT');
});

test('[KNOW-5] [C-ENV-06] [C-ENV-08] [C-ENV-09] a key gives the first answer again, within its tenant, action and subject', async () => {
  const args = newPage();
  const idempotency_key = randomUUID();
  const first = good(await create(args, { idempotency_key }));
  for (let i = 0; i < 3; i++) expect(good(await create(args, { idempotency_key }))).toEqual(first);
  bad(await create({ ...args, metadata: { title: 'other' } }, { idempotency_key }), 'CONFLICT');
  const update = {
    document_id: args.document_id,
    patch: { metadata: { tags: ['t'] } },
    update_mask: ['metadata.tags'],
  };
  expect(good(await call('knowledge.update_document', update, { idempotency_key }))).toMatchObject({
    revision: 2,
  });
  const elsewhere = { idempotency_key, tenant_id: 'w2' };
  expect(
    good(await call('knowledge.create_document', args, elsewhere, as('ed', 'orchestrator', 'w2'))),
  ).toEqual(first);
  const other = { idempotency_key, principal: { sub: 'eva', roles: ['editor'] } };
  bad(await call('knowledge.create_document', args, other, as('eva')), 'CONFLICT');
  expect((await get(args.document_id))['revision']).toBe(2);
});

test('[KNOW-2] [C-ENV-07] the header and the envelope name one key', async () => {
  const args = newPage();
  const idempotency_key = randomUUID();
  const sent = (key: string) =>
    call('knowledge.create_document', args, { idempotency_key }, as('ed'), { 'idempotency-key': key });
  bad(await sent('another'), 'INVALID_ARGUMENT');
  bad(await call('knowledge.get_document', { document_id: args.document_id }), 'NOT_FOUND');
  good(await sent(idempotency_key));
});

test('[KNOW-7] [C-ENV-10] a lower seq of one context is ignored and said to be; a replay is answered', async () => {
  const context_id = randomUUID();
  const key = randomUUID();
  const [five, three, six] = [newPage(), newPage(), newPage()];
  const first = good(await create(five, { seq: 5, context_id, idempotency_key: key }));
  expect(good(await create(three, { seq: 3, context_id }))).toEqual({ ignored: true, last_seq: 5 });
  bad(await call('knowledge.get_document', { document_id: three.document_id }), 'NOT_FOUND');
  expect(good(await create(five, { seq: 5, context_id, idempotency_key: key }))).toEqual(first);
  expect(good(await create(six, { seq: 6, context_id }))).toMatchObject({ revision: 1 });
  // The answer to what was done is not lost because more was done since.
  expect(good(await create(five, { seq: 5, context_id, idempotency_key: key }))).toEqual(first);
  const read = await call('knowledge.get_document', { document_id: six.document_id }, { seq: 4, context_id });
  expect(good(read)).toEqual({ ignored: true, last_seq: 6 });
  good(await create(three, { seq: 3, context_id: randomUUID() }));
});

test('[KNOW-13] [C-ENV-11] a parent that is not there, an id that is', async () => {
  const parent = newPage();
  good(await create(parent));
  bad(await create(newPage({ parent_id: randomUUID() })), 'NOT_FOUND');
  bad(await create(newPage({ parent_id: 'nowhere' })), 'NOT_FOUND');
  bad(await create(newPage({ document_id: parent.document_id })), 'CONFLICT');
  good(await call('knowledge.delete_document', { document_id: parent.document_id, reason: 'test' }));
  bad(await create(newPage({ parent_id: parent.document_id })), 'NOT_FOUND');
});

test('[KNOW-14] [C-ENV-12] a merge patch under its mask', async () => {
  const { document_id } = newPage();
  const args = newPage({ document_id, metadata: { title: 'x', source: 's', tags: ['a'] } });
  good(await create(args));
  const update = (patch: Fields, ...update_mask: string[]) =>
    call('knowledge.update_document', { document_id, patch, update_mask });
  good(await update({ metadata: { source: null } }, 'metadata.source'));
  good(
    await update(
      { metadata: { tags: ['b'], title: 'not this' }, content: { body: 'nor this' } },
      'metadata.tags',
    ),
  );
  expect(await get(document_id)).toMatchObject({
    metadata: { title: 'x', tags: ['b'] },
    content: { body: '# Hello' },
    revision: 3,
  });
  for (const mask of ['__proto__', 'metadata.__proto__.x', 'content.body.0'])
    bad(await update({ metadata: { title: 'y' } }, mask), 'UNPROCESSABLE_ENTITY');
  expect(await get(document_id)).toMatchObject({ revision: 3 });
});

test('[KNOW-14] [C-ENV-13] [C-ENV-14] 50 updates at once', async () => {
  const args = newPage();
  const { document_id } = args;
  good(await create(args));
  const update = (title: string, more: Fields = {}) =>
    call('knowledge.update_document', {
      document_id,
      patch: { metadata: { title } },
      update_mask: ['metadata.title'],
      ...more,
    });
  const racing = await Promise.all(
    Array.from({ length: 50 }, (_, i) => update(`a${i}`, { last_known_revision: 1 })),
  );
  const [won, ...more] = racing.filter(({ status }) => status === 200);
  expect([won === undefined, more]).toEqual([false, []]);
  for (const answer of racing)
    if (answer !== won) expect(bad(answer, 'CONFLICT')).toMatchObject({ expected_revision: 1, actual: 2 });
  const all = await Promise.all(Array.from({ length: 50 }, (_, i) => update(`b${i}`)));
  const revisions = all.map((answer) => good(answer)['revision'] as number).toSorted((a, b) => a - b);
  expect(revisions).toEqual(Array.from({ length: 50 }, (_, i) => i + 3));
  const history = good(await call('knowledge.get_document_history', { document_id, limit: 200 }));
  expect(history['revisions']).toHaveLength(52);
  const last = all.findIndex((answer) => answer.body.data?.['revision'] === 52);
  expect(await get(document_id)).toMatchObject({ revision: 52, metadata: { title: `b${last}` } });
});

test('[KNOW-16] [C-ENV-16] [C-ENV-17] moves', async () => {
  const top = newPage();
  const [a, b] = [newPage({ parent_id: top.document_id }), newPage({ parent_id: top.document_id })];
  const deep = newPage({ parent_id: a.document_id });
  for (const one of [top, a, b, deep]) good(await create(one));
  const move = (document_id: string, new_parent_id: string, position?: Fields) =>
    call('knowledge.move_document', {
      document_id,
      new_parent_id,
      ...(position === undefined ? {} : { position }),
    });
  for (const under of [top, a, deep]) bad(await move(top.document_id, under.document_id), 'CONFLICT');
  good(await move(b.document_id, top.document_id, { before: a.document_id }));
  for (const position of [{ before: deep.document_id }, { before: b.document_id }, { ordering: -1 }])
    bad(await move(b.document_id, top.document_id, position), 'UNPROCESSABLE_ENTITY');
  const order = async (): Promise<string[]> => {
    const { documents } = good(await call('knowledge.list_documents', { parent_id: top.document_id }));
    return (documents as { document_id: string }[]).map(({ document_id }) => document_id);
  };
  expect(await order()).toEqual([b.document_id, a.document_id]);
  good(await move(b.document_id, top.document_id));
  expect(await order()).toEqual([a.document_id, b.document_id]);
  good(await move(b.document_id, top.document_id, { ordering: 0 }));
  expect(await order()).toEqual([b.document_id, a.document_id]);
});

describe('[KNOW-9] [C-AUTH-21] [C-AUTH-22] roles', () => {
  const MAY: Record<string, string[]> = {
    owner: ['create', 'update', 'move', 'delete', 'get'],
    editor: ['create', 'update', 'move', 'delete', 'get'],
    agent: ['create', 'get'],
    viewer: ['get'],
    cursor: ['create', 'get'],
    codex: ['create', 'update', 'move', 'delete', 'get'],
  };
  test.each(Object.keys(MAY))('[KNOW-10] [KNOW-25] %s', async (role) => {
    const [kept, place] = [newPage(), newPage()];
    const { document_id } = kept;
    for (const page of [kept, place]) good(await create(page));
    const what: Record<string, Fields> = {
      create: newPage({ parent_id: place.document_id }),
      update: { document_id, patch: { metadata: { title: role } }, update_mask: ['metadata.title'] },
      move: { document_id, new_parent_id: 'root' },
      delete: { document_id },
      get: { document_id },
    };
    const more = { principal: { sub: 'boss', roles: [role] } };
    // Everybody may ask.
    const asked = await call('knowledge.query_knowledge', { query: 'x' }, more, as('boss', 'operator'));
    expect([asked.status, asked.body.ok]).toEqual([200, true]);
    for (const [verb, args] of Object.entries(what)) {
      if (verb === 'get') good(await create(newPage()));
      const answer = await call(`knowledge.${verb}_document`, args, more, as('boss', 'operator'));
      if (verb === 'get' && MAY[role]?.includes('delete') === true) bad(answer, 'NOT_FOUND');
      else if (MAY[role]?.includes(verb) === true) good(answer);
      else bad(answer, 'FORBIDDEN');
    }
  });

  test('a role that the token does not have is refused, whatever the envelope says', async () => {
    const more = (roles: string[]) => ({ principal: { sub: 'wu', roles } });
    const place = newPage();
    good(await create(place));
    const under = () => newPage({ parent_id: place.document_id });
    const call2 = (roles: string[], args = under()) =>
      call('knowledge.create_document', args, more(roles), as('wu', 'worker'));
    bad(await call2(['owner']), 'FORBIDDEN');
    bad(await call2(['codex']), 'FORBIDDEN');
    bad(await call2(['something']), 'FORBIDDEN');
    good(await call2(['agent', 'owner']));
    // The top of the tree is for those who steer.
    bad(await call2(['agent'], newPage()), 'FORBIDDEN');
    bad(
      await call(
        'knowledge.create_document',
        newPage(),
        { principal: { sub: 'ed', roles: ['agent'] } },
        as('wu', 'worker'),
      ),
      'FORBIDDEN',
    );
    bad(await create(newPage(), { tenant_id: 'w2' }), 'FORBIDDEN');
  });
});

test('[KNOW-10] [C-AUTH-22] an old name of a role stands in the log once, however often it is used', async () => {
  const token = as('boss', 'operator', 'w9');
  const using = (role: string) =>
    call(
      'knowledge.list_documents',
      {},
      { tenant_id: 'w9', principal: { sub: 'boss', roles: [role] } },
      token,
    );
  for (let i = 0; i < 3; i++) for (const role of ['cursor', 'codex']) good(await using(role));
  const made = newPage();
  good(
    await call(
      'knowledge.create_document',
      made,
      { tenant_id: 'w9', principal: { sub: 'boss', roles: ['owner'] } },
      token,
    ),
  );
  const boss = scene.as('boss', { role: 'operator', workspace: 'w9' });
  const { thread_id } = await boss.ok('get_document', { document_id: made.document_id });
  const { messages } = await boss.ok('read_messages', { thread_id });
  const reported = messages.filter(({ metadata }) => metadata?.['event_type'] === 'role_alias.deprecation');
  expect(reported.map(({ metadata }) => [metadata?.['alias'], metadata?.['role']])).toEqual([
    ['cursor', 'agent'],
    ['codex', 'editor'],
  ]);
});

test('[KNOW-20] [C-ENV-21] the capabilities tell every action and the bounds that hold', async () => {
  const { text } = await send(`${scene.hub.url}/mcp/capabilities`);
  const reported = JSON.parse(text) as { actions: Fields[] };
  expect(reported).toEqual({
    envelope_versions: ['2.2'],
    actions: Object.entries(ENVELOPE_ACTIONS).map(([action, operation]) => ({
      action,
      action_version: CONTRACTS[operation].version,
      max_payload_bytes: operation === 'query_knowledge' ? 65_536 : 131_072,
      max_concurrent: 10,
    })),
    transports: ['http-sync', 'pubsub-async'],
  });
  const sized = (bytes: number) => {
    const args = newPage({ content: { mime_type: 'text/plain', body: '' } });
    const bare = JSON.stringify({ schema_version: '1.0', args }).length;
    return { ...args, content: { mime_type: 'text/plain', body: 'x'.repeat(bytes - bare) } };
  };
  good(await create(sized(131_072)));
  bad(await create(sized(131_073)), 'INVALID_ARGUMENT');
});

test('[C-ENV-30] a trace that is none is replaced, and nothing of it comes back', async () => {
  for (const trace_id of [
    '',
    'x\r\nset-cookie: a=b',
    '00-zz',
    '00-' + '0'.repeat(32) + '-' + '0'.repeat(16) + '-01',
  ]) {
    const answer = await create(newPage({ parent_id: 'nowhere' }), { trace_id });
    const details = bad(answer, 'NOT_FOUND');
    expect(details['trace_id']).not.toBe(trace_id);
    expect(answer.headers['traceparent']).toBe(details['trace_id']);
    expect(answer.headers['set-cookie']).toBeUndefined();
  }
});

test('[KNOW-21] [C-ENV-28] a heartbeat stands in the registry', async () => {
  const beat = (status: string) => call('registry.heartbeat', { status });
  const first = good(await beat('healthy'));
  const second = good(await beat('degraded'));
  expect(second['revision']).toBe((first['revision'] as number) + 1);
  expect(Date.parse(second['last_seen_at'] as string)).toBeGreaterThanOrEqual(
    Date.parse(first['last_seen_at'] as string),
  );
  const { services } = good(await call('registry.list', {}));
  expect(services).toEqual([
    expect.objectContaining({ service_id: 'ed', status: 'degraded', revision: second['revision'] }),
  ]);
  bad(await beat('well'), 'UNPROCESSABLE_ENTITY');
});

test('[KNOW-11] the ten codes and their numbers', () => {
  expect(ENVELOPE_STATUS).toEqual({
    INVALID_ARGUMENT: 400,
    UNAUTHORIZED: 401,
    FORBIDDEN: 403,
    NOT_FOUND: 404,
    UNPROCESSABLE_ENTITY: 422,
    CONFLICT: 409,
    RATE_LIMIT_EXCEEDED: 429,
    EXPIRED: 440,
    UNAVAILABLE: 503,
    INTERNAL: 500,
  });
  expect(ENVELOPE_CODE).toMatchObject({
    UNAVAILABLE: 'UNAVAILABLE',
    INTERNAL: 'INTERNAL',
    IDEMPOTENCY_CONFLICT: 'CONFLICT',
    EXPIRED: 'EXPIRED',
  });
});

test('another method, another type and another path are refused in the envelope’s words', async () => {
  const reply = await send(`${scene.hub.url}/mcp/envelope`);
  expect([reply.status, reply.headers['allow']]).toEqual([405, 'POST']);
  expect(JSON.parse(reply.text)).toMatchObject({ ok: false, error: { code: 'INVALID_ARGUMENT' } });
  bad(
    await call('knowledge.create_document', newPage(), {}, as('ed'), { 'content-type': 'text/plain' }),
    'INVALID_ARGUMENT',
  );
  bad(await sendEnvelope(scene.hub.url, undefined, envelopeOf('registry.list', {})), 'UNAUTHORIZED');
});
