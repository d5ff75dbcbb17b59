import { randomUUID } from 'node:crypto';

import { beforeAll, expect, test } from 'vitest';

import { runJson } from '../harness/run-cli.ts';
import { send } from '../harness/send.ts';
import { createSigner, type Signer } from '../harness/tokens.ts';
import { useHub } from '../harness/use-hub.ts';
import {
  bad,
  type EnvelopeAnswer,
  envelopeOf,
  type Fields,
  good,
  jws,
  newPage,
  sendEnvelope,
} from './envelope-client.ts';

const scene = useHub({
  settings: {
    'knowledge.agents_create_under': '["root"]',
    'envelope.requests_per_minute': 100_000,
    'quota.bad_tokens_burst': 10_000,
    'queue.retry_ms': 10,
  },
});
let partner: Signer;
beforeAll(async () => {
  partner = createSigner('partner');
  const stdin = partner.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const named = ['--kid', 'partner', '--workspace', 'w1', '--external', '--role', 'agent'];
  await runJson(['key', 'add', '--public', '-', ...named], { data: scene.hub.data, stdin });
});

/** One who works by envelopes, in a context of its own, with numbers that rise. */
function worker(sub: string, role = 'orchestrator', as = 'editor') {
  const context_id = randomUUID();
  let seq = 0;
  const { token } = scene.as(sub, { role });
  return (
    action: string,
    args: Fields,
    more: Fields = {},
    headers: Record<string, string> = {},
  ): Promise<EnvelopeAnswer> =>
    sendEnvelope(
      scene.hub.url,
      token,
      envelopeOf(`knowledge.${action}`, args, {
        principal: { sub, roles: [as] },
        context_id,
        seq: ++seq,
        ...more,
      }),
      { headers },
    );
}

test('[KNOW-25] [KNOW-14] E2E-01 conflict drafting: two write one draft, nobody’s words are lost', async () => {
  const [ann, ben] = [worker('ann'), worker('ben')];
  const draft = newPage({ content: { mime_type: 'text/markdown', body: '# Plan\n' } });
  const { document_id } = draft;
  good(await ann('create_document', draft));
  const read = async (who: typeof ann) =>
    good(await who('get_document', { document_id }))['document'] as {
      revision: number;
      content: { body: string };
    };
  const add = async (who: typeof ann, line: string, from: Awaited<ReturnType<typeof read>>) =>
    who('update_document', {
      document_id,
      patch: { content: { body: `${from.content.body}${line}\n` } },
      update_mask: ['content.body'],
      last_known_revision: from.revision,
    });
  const [seenByAnn, seenByBen] = [await read(ann), await read(ben)];
  good(await add(ann, '- ann: measure first', seenByAnn));
  // Ben wrote from the same revision: he is told, reads again and puts his line below hers.
  expect(bad(await add(ben, '- ben: then cut', seenByBen), 'CONFLICT')).toMatchObject({
    expected_revision: 1,
    actual: 2,
  });
  good(await add(ben, '- ben: then cut', await read(ben)));
  expect((await read(ann)).content.body).toBe('# Plan\n- ann: measure first\n- ben: then cut\n');
  const { revisions } = good(await ann('get_document_history', { document_id })) as {
    revisions: { revision: number; by: string }[];
  };
  expect(revisions.map(({ revision, by }) => [revision, by])).toEqual([
    [3, 'ben'],
    [2, 'ann'],
    [1, 'ann'],
  ]);
  // A second thought: back to what was, as a new revision.
  good(await ann('revert_document', { document_id, revision: 2, last_known_revision: 3 }));
  expect(await read(ben)).toMatchObject({ revision: 4, content: { body: '# Plan\n- ann: measure first\n' } });
});

test('[KNOW-25] [KNOW-17] E2E-02 layered inquiry: from a question to a passage, its document, its links and what stands around it', async () => {
  const asker = worker('asker', 'observer', 'viewer');
  const writer = worker('writer');
  const top = newPage({
    metadata: { title: 'Harbour handbook', tags: ['harbour'] },
    content: { mime_type: 'text/markdown', body: 'All about the harbour. See [[Night berths]].' },
  });
  const detail = newPage({
    parent_id: top.document_id,
    metadata: { title: 'Night berths', tags: ['harbour'] },
    content: { mime_type: 'text/markdown', body: '# Rules\n\nFerries berth at the north quay after dusk.\n' },
  });
  const noise = newPage({
    metadata: { title: 'Kitchen' },
    content: { mime_type: 'text/plain', body: 'Soup is served at noon.' },
  });
  for (const page of [top, detail, noise]) good(await writer('create_document', page));
  const query = {
    query: 'where do ferries berth after dusk?',
    filters: { tags: ['harbour'] },
    top_k: 2,
    routing: { max_latency_ms: 10_000 },
  };
  const { body } = await asker('query_knowledge', query);
  expect(body.usage?.qdrant_hits).toBeGreaterThan(0);
  const { response, context } = body.data as {
    response: string;
    context: { document_id: string; revision: number; heading_path: string[] }[];
  };
  expect(response).toContain('north quay after dusk. [1]');
  expect(context[0]).toMatchObject({
    document_id: detail.document_id,
    heading_path: ['Night berths', 'Rules'],
  });
  const { document_id, revision } = context[0] ?? { document_id: '', revision: 0 };
  const { document } = good(await asker('get_document', { document_id, revision })) as {
    document: { parent_id: string; web_uri: string };
  };
  const { backlinks } = good(await asker('get_document_links', { document_id })) as { backlinks: unknown[] };
  expect(backlinks).toEqual([{ document_id: document.parent_id, title: 'Harbour handbook' }]);
  const { documents } = good(await asker('list_documents', { parent_id: document.parent_id })) as {
    documents: { document_id: string }[];
  };
  expect(documents.map((one) => one.document_id)).toEqual([document_id]);
  const { token } = scene.as('asker', { role: 'observer' });
  const page = await send(document.web_uri, { headers: { authorization: `Bearer ${token}` } });
  expect([page.status, page.text.includes('north quay')]).toEqual([200, true]);
  const nothing = await asker('query_knowledge', { ...query, query: 'xyzzy plugh' });
  expect(nothing.body.data).toMatchObject({ response: '', context: [] });
});

test('[KNOW-25] [KNOW-15] [KNOW-5] E2E-03 saga: steps that are carried out once each, and taken back when a later one fails', async () => {
  const saga = worker('saga');
  const book = newPage({ metadata: { title: 'Release 7' } });
  const notes = newPage({ parent_id: book.document_id, metadata: { title: 'Notes' } });
  const correlation_id = randomUUID();
  const step = (name: string, action: string, args: Fields) =>
    saga(action, args, { correlation_id, idempotency_key: `saga:${correlation_id}:${name}` });
  const first = good(await step('1', 'create_document', book));
  // The answer to a step got lost: sent again, it is the same step.
  expect(good(await step('1', 'create_document', book))).toEqual(first);
  good(await step('2', 'create_document', notes));
  bad(
    await step('3', 'move_document', { document_id: book.document_id, new_parent_id: notes.document_id }),
    'CONFLICT',
  );
  good(await step('undo-2', 'delete_document', { document_id: notes.document_id, reason: 'saga undone' }));
  good(await step('undo-1', 'delete_document', { document_id: book.document_id, reason: 'saga undone' }));
  for (const { document_id } of [book, notes]) bad(await saga('get_document', { document_id }), 'NOT_FOUND');
  // Taken back is not forgotten: what happened stands in the history, and it can be taken up again.
  const { revisions } = good(await saga('get_document_history', { document_id: book.document_id })) as {
    revisions: { action: string; reason?: string }[];
  };
  expect(revisions.map(({ action, reason }) => [action, reason])).toEqual([
    ['deleted', 'saga undone'],
    ['created', undefined],
  ]);
  good(await step('again', 'restore_document', { document_id: book.document_id }));
  good(await saga('get_document', { document_id: book.document_id }));
});

test('[KNOW-25] [KNOW-4] [KNOW-6] [KNOW-20] E2E-04 protocol: a newcomer learns the contract from the hub and keeps to it', async () => {
  const capabilities = JSON.parse((await send(`${scene.hub.url}/mcp/capabilities`)).text) as {
    envelope_versions: string[];
    transports: string[];
    actions: { action: string; action_version: string; max_payload_bytes: number }[];
  };
  const { action = '', action_version } =
    capabilities.actions.find((one) => one.action === 'knowledge.create_document') ?? {};
  const schema = JSON.parse((await send(`${scene.hub.url}/schemas/mcp/${action}.json`)).text) as {
    required: string[];
  };
  expect(schema.required).toEqual(
    expect.arrayContaining(['document_id', 'parent_id', 'content', 'metadata']),
  );
  const newcomer = worker('newcomer', 'worker', 'cursor');
  const [envelope_version] = capabilities.envelope_versions;
  const page = newPage();
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  const old = await newcomer('create_document', page, { envelope_version: '2.1', action_version });
  expect(bad(old, 'INVALID_ARGUMENT')['hint']).toContain(envelope_version);
  expect(
    bad(await newcomer('create_document', page, { action_version: '2.0.0' }), 'INVALID_ARGUMENT')[
      'supported'
    ],
  ).toEqual([action_version]);
  const made = await newcomer('create_document', page, {
    envelope_version,
    action_version,
    trace_id: traceparent,
  });
  good(made);
  expect(made.headers['traceparent']).toBe(traceparent);
  expect(Number(made.headers['x-ratelimit-remaining'])).toBeLessThan(
    Number(made.headers['x-ratelimit-limit']),
  );
  bad(await newcomer('delete_document', { document_id: page.document_id }), 'FORBIDDEN');
  bad(await newcomer('create_document', newPage(), { timestamp: '2020-01-01T00:00:00Z' }), 'EXPIRED');
  expect(good(await newcomer('create_document', newPage(), { seq: 1 }))).toMatchObject({ ignored: true });
  // Whoever follows the log of the tree goes on with the trace.
  const boss = scene.as('boss', { role: 'operator' });
  const { thread_id } = await boss.ok('get_document', { document_id: page.document_id });
  const { messages } = await boss.ok('read_messages', { thread_id, limit: 200 });
  expect(messages.map(({ metadata }) => metadata?.['traceparent'])).toContain(traceparent);
});

test('[KNOW-25] [KNOW-1] [KNOW-9] E2E-06 external security: an outsider does what its key allows, once, and nothing else', async () => {
  const outside = (action: string, args: Fields, token: string, more: Fields = {}) =>
    sendEnvelope(
      scene.hub.url,
      token,
      envelopeOf(`knowledge.${action}`, args, {
        principal: { sub: 'svc:partner', roles: ['agent'] },
        ...more,
      }),
    );
  const page = newPage();
  const { document_id } = page;
  const token = jws(partner);
  good(await outside('create_document', page, token));
  bad(await outside('create_document', newPage(), token), 'UNAUTHORIZED');
  bad(
    await outside(
      'update_document',
      { document_id, patch: {}, update_mask: ['metadata.tags'] },
      jws(partner),
    ),
    'FORBIDDEN',
  );
  const owner = { principal: { sub: 'svc:partner', roles: ['owner'] } };
  bad(await outside('delete_document', { document_id }, jws(partner), owner), 'FORBIDDEN');
  bad(await outside('get_document', { document_id }, jws(partner), { tenant_id: 'w2' }), 'FORBIDDEN');
  bad(await outside('get_document', { document_id }, jws(partner, {}, { alg: 'none' })), 'UNAUTHORIZED');
  for (const path of ['/metrics', `/d/${document_id}`, '/v1/slo'])
    expect(
      (await send(`${scene.hub.url}${path}`, { headers: { authorization: `Bearer ${jws(partner)}` } }))
        .status,
    ).toBe(401);
  await runJson(['key', 'retire', 'partner'], { data: scene.hub.data });
  bad(await outside('get_document', { document_id }, jws(partner)), 'UNAUTHORIZED');
  good(await worker('ed')('get_document', { document_id }));
});
