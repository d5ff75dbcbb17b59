import { randomUUID } from 'node:crypto';

import { LIMITS, type QueuedDelivery } from '@parley/protocol';
import { expect, test, vi } from 'vitest';

import { faces } from '../harness/call.ts';
import { send } from '../harness/send.ts';
import { toldToAll } from '../harness/told-to-all.ts';
import { useHub } from '../harness/use-hub.ts';
import { bad, envelopeOf, type Fields, good, newPage, sendEnvelope } from './envelope-client.ts';

const scene = useHub({
  settings: {
    'envelope.requests_per_minute': 100_000,
    'quota.messages_burst': 10_000,
    'envelope.kept_read_bytes': 4_000_000,
    'mcp.profile': 'full',
  },
});
const ed = () => scene.as('ed', { role: 'orchestrator', workspace: 'w1' });
const call = (action: string, args: Fields, more: Fields = {}, headers: Record<string, string> = {}) =>
  sendEnvelope(scene.hub.url, ed().token, envelopeOf(action, args, more), { headers });
const later = { prefer: 'respond-async' };

async function ended(delivery_id: unknown): Promise<QueuedDelivery> {
  return vi.waitFor(
    async () => {
      const { delivery } = await ed().ok('get_delivery', { delivery_id: String(delivery_id) });
      expect(delivery.status).not.toBe('waiting');
      return delivery;
    },
    { timeout: 60_000, interval: 20 },
  );
}

test('[KNOW-5] [C-ENV-06] [C-ENV-09] a read under its key gives the earlier answer, and other arguments conflict', async () => {
  const page = newPage();
  const { document_id } = page;
  good(await call('knowledge.create_document', page));
  const key = { idempotency_key: randomUUID() };
  const first = good(await call('knowledge.get_document', { document_id }, key));
  const update = { document_id, patch: { content: { body: 'new' } }, update_mask: ['content.body'] };
  good(await call('knowledge.update_document', update));
  const seen = await scene.unchanged(() => call('knowledge.get_document', { document_id }, key));
  expect(good(seen)).toEqual(first);
  expect(good(await call('knowledge.get_document', { document_id }))).not.toEqual(first);
  bad(await call('knowledge.get_document', { document_id: randomUUID() }, key), 'CONFLICT');
  // Another action has keys of its own, and so has another subject.
  good(await call('knowledge.get_document_history', { document_id }, key));
  const ann = { ...key, principal: { sub: 'ann', roles: ['viewer'] } };
  const { token } = scene.as('ann', { role: 'observer', workspace: 'w1' });
  const other = await sendEnvelope(
    scene.hub.url,
    token,
    envelopeOf('knowledge.get_document', { document_id }, ann),
  );
  expect(good(other)).not.toEqual(first);
  // Also through the queue: one answer for both ways.
  const queued = await call('knowledge.get_document', { document_id }, key, later);
  expect(queued.body.data?.['warnings']).toBeUndefined();
  expect((await ended(queued.body.data?.['delivery_id'])).result).toEqual(first);
});

test('[KNOW-5] many repeats of a read at once have one answer; a refused one binds nothing', async () => {
  const page = newPage();
  const { document_id } = page;
  const key = { idempotency_key: randomUUID() };
  bad(await call('knowledge.get_document', { document_id }, key), 'NOT_FOUND');
  good(await call('knowledge.create_document', page));
  const update = (n: number) =>
    call('knowledge.update_document', {
      document_id,
      patch: { content: { body: `text ${n}` } },
      update_mask: ['content.body'],
    });
  const answers = await Promise.all(
    Array.from({ length: 16 }, async (_, n) => {
      const [read] = await Promise.all([call('knowledge.get_document', { document_id }, key), update(n)]);
      return JSON.stringify(good(read)['document']);
    }),
  );
  expect(new Set(answers).size).toBe(1);
});

test('[KNOW-5] beyond what is kept in a day a read is answered, and said not to be kept', async () => {
  const who = { role: 'orchestrator', workspace: 'w-many' };
  const { token } = scene.as('ed', who);
  const page = newPage({ content: { mime_type: 'text/plain', body: 'x'.repeat(900_000) } });
  await scene.as('ed', who).ok('create_document', page as never);
  const more = { tenant_id: 'w-many' };
  const read = async () =>
    good(
      await sendEnvelope(
        scene.hub.url,
        token,
        envelopeOf('knowledge.get_document', { document_id: page.document_id }, more),
      ),
    );
  for (let i = 0; i < 4; i++) expect((await read())['warnings']).toBeUndefined();
  await toldToAll(scene.hub);
  expect((await read())['warnings']).toEqual([expect.stringContaining('idempotency_key')]);
});

test('[KNOW-4] [KNOW-23] what a sender calls its envelope comes back in answers, deliveries, entries and log lines', async () => {
  const page = newPage();
  const own = envelopeOf('knowledge.create_document', page);
  const names = { request_id: own['request_id'], correlation_id: own['correlation_id'] };
  const token = ed().token;
  expect((await sendEnvelope(scene.hub.url, token, own)).body).toMatchObject({ ok: true, ...names });
  const refused = await sendEnvelope(scene.hub.url, token, { ...own, ttl_sec: 0 });
  expect(refused.body).toMatchObject({ ok: false, ...names });
  const { thread_id } = await ed().ok('get_document', { document_id: page.document_id });
  const entries = async () => (await ed().ok('read_messages', { thread_id, limit: 200 })).messages;
  const entryOf = async (id: unknown) =>
    (await entries()).find(({ metadata }) => metadata?.['request_id'] === id)?.metadata;
  expect(await entryOf(own['request_id'])).toMatchObject({ ...names, traceparent: own['trace_id'] });

  const queued = envelopeOf('knowledge.create_document', newPage());
  const answer = await sendEnvelope(scene.hub.url, token, queued, {
    headers: { ...later, tracestate: 'vendor=abc' },
  });
  const { request_id, correlation_id, trace_id } = queued;
  expect(answer.body).toMatchObject({ request_id, correlation_id });
  const delivery = await ended(answer.body.data?.['delivery_id']);
  expect(delivery).toMatchObject({ status: 'done', request_id, correlation_id, trace_id });
  expect(await entryOf(request_id)).toMatchObject({
    correlation_id,
    traceparent: trace_id,
    tracestate: 'vendor=abc',
  });
  await expect
    .poll(() => scene.hub.stderr(), { timeout: 30_000 })
    .toContain(
      `"trace":"${String(trace_id)}","sender_request_id":"${String(request_id)}","correlation_id":"${String(correlation_id)}"`,
    );

  const dead = envelopeOf('knowledge.create_document', newPage({ parent_id: randomUUID() }));
  const lost = await sendEnvelope(scene.hub.url, token, dead, { headers: later });
  await ended(lost.body.data?.['delivery_id']);
  const log = await scene.as('boss', { role: 'operator', workspace: 'w1' }).ok('read_log', { limit: 200 });
  const reported = JSON.stringify(log);
  expect(reported).toContain(String(dead['request_id']));
  expect(reported).toContain(String(dead['trace_id']));

  const file = envelopeOf('artifact.put', { name: 'n.txt', mime_type: 'text/plain', content: 'n' });
  good(await sendEnvelope(scene.hub.url, token, file));
  expect(await entryOf(file['request_id'])).toMatchObject({ traceparent: file['trace_id'] });
});

test('[KNOW-12] [KNOW-25] a document of a megabyte goes by artifact, as the refusal says, and comes back whole', async () => {
  const body = 'Số một là đây.\n"quoted" \\ '.repeat(40_000).slice(0, 950_000);
  const text = Buffer.from(body)
    .subarray(0, LIMITS.document_bytes - 4)
    .toString('utf8')
    .replaceAll('\uFFFD', '');
  expect(Buffer.byteLength(text)).toBeGreaterThan(1_000_000);
  const page = newPage({ content: { mime_type: 'text/markdown', body: text } });
  const { hint } = bad(await call('knowledge.create_document', page), 'INVALID_ARGUMENT');
  for (const word of ['POST /mcp/artifacts', 'artifact.sign', 'artifact_uri', 'artifact_hash'])
    expect(hint).toContain(word);
  const artifact = async (args: Fields) => {
    const { token } = ed();
    const kept = await send(`${scene.hub.url}/mcp/artifacts?name=args.json`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(args),
    });
    const { data } = JSON.parse(kept.text) as { data: { artifact: { artifact_id: string } } };
    const signed = good(await call('artifact.sign', { artifact_id: data.artifact.artifact_id }));
    const { artifact_uri, artifact_hash } = signed;
    return { payload: { schema_version: '1.0', artifact_uri, artifact_hash } };
  };
  good(await call('knowledge.create_document', {}, await artifact(page)));
  const { document } = await ed().ok('get_document', { document_id: page.document_id });
  expect(document.content.body === text).toBe(true);
  const update = {
    document_id: page.document_id,
    patch: { content: { body: `${text.slice(0, -10)}changed` } },
    update_mask: ['content.body'],
  };
  expect(good(await call('knowledge.update_document', {}, await artifact(update)))).toMatchObject({
    revision: 2,
  });
  // It has a limit of its own.
  const over = newPage({ content: { mime_type: 'text/plain', body: 'x'.repeat(LIMITS.document_bytes + 1) } });
  bad(await call('knowledge.create_document', {}, await artifact(over)), 'UNPROCESSABLE_ENTITY');
  // Nothing makes a question of that length a good one, and the hint does not say so.
  const long = await call('knowledge.query_knowledge', { query: 'x'.repeat(70_000) });
  expect(bad(long, 'INVALID_ARGUMENT')['hint']).toBe('ask with at most 2048 characters');
  // Over /v1 it may be sent as it is.
  const plain = newPage({ content: { mime_type: 'text/plain', body: 'y'.repeat(LIMITS.document_bytes) } });
  await ed().ok('create_document', plain as never);
}, 120_000);

test('[KNOW-3] [KNOW-23] a delivery is told by when it is done, and the service level counts it', async () => {
  const accepted = await call('knowledge.create_document', newPage(), {}, later);
  const { eta, accepted_at, expires_at, delivery_id } = accepted.body.data as Record<string, string>;
  const at = (time: string | undefined): number => Date.parse(time ?? '');
  expect(at(eta)).toBeGreaterThan(at(accepted_at));
  expect(at(eta)).toBeLessThanOrEqual(at(expires_at));
  expect(await ended(delivery_id)).toMatchObject({ status: 'done', eta });
  // Nodes add up their counts now and then.
  const jobs = await vi.waitFor(async () => {
    const level = await ed().ok('get_slo', {});
    expect(level.jobs.count).toBeGreaterThan(0);
    return level.jobs;
  }, 20_000);
  expect(jobs).toMatchObject({ target_ms: 60_000, ok: true });
  expect(jobs.p95_past_eta_ms).toBeLessThanOrEqual(60_000);
  const dead = await call('knowledge.create_document', newPage({ parent_id: randomUUID() }), {}, later);
  const lost = await ended(dead.body.data?.['delivery_id']);
  const boss = scene.as('boss', { role: 'operator', workspace: 'w1' });
  await boss.ok('redrive_deliveries', { delivery_ids: [lost.delivery_id] });
  const again = await ended(lost.delivery_id);
  expect(at(again.eta)).toBeGreaterThan(at(lost.eta));
});

test.each(faces)('[KNOW-15] over $name a deleted document says so wherever it is shown', async (face) => {
  const workspace = `d-${face.name.replaceAll(/\W/g, '')}`;
  const one = scene.as('ed', { role: 'orchestrator', workspace, face });
  const page = newPage();
  const { document_id } = page;
  await one.ok('create_document', page as never);
  const { thread_id, document } = await one.ok('get_document', { document_id });
  expect(document).not.toHaveProperty('deleted');
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  expect((await one.ok('delete_document', { document_id, delete_at: soon })).deleted).toBe(false);
  expect((await one.ok('list_documents', {})).documents[0]).not.toHaveProperty('deleted');
  await one.ok('restore_document', { document_id });
  expect((await one.ok('delete_document', { document_id })).deleted).toBe(true);
  expect((await one.ok('list_documents', { deleted: true })).documents).toMatchObject([{ deleted: true }]);
  expect(await one.ok('get_document_history', { document_id })).toMatchObject({ deleted: true });
  const { messages } = await one.ok('read_messages', { thread_id });
  expect(messages.at(-1)?.metadata).toMatchObject({ deleted: true, document: { document_id } });
});

test('[KNOW-17] a document without a text gives no empty answer', async () => {
  const workspace = 'w-empty';
  const one = scene.as('ed', { role: 'orchestrator', workspace });
  const content = { mime_type: 'text/markdown', body: '' };
  await one.ok('create_document', newPage({ content, metadata: { title: 'Zebrafish' } }) as never);
  const ask = () => one.ok('query_knowledge', { query: 'zebrafish', routing: { max_latency_ms: 10_000 } });
  const alone = await ask();
  expect(alone).toMatchObject({ response: '', answer_mode: 'none' });
  const body = 'Stripes help the zebrafish to hide.';
  await one.ok('create_document', newPage({ content: { ...content, body } }) as never);
  const { response, context } = await ask();
  const n = context.find(({ snippet }) => snippet === body)?.n ?? 0;
  expect(response).toContain(`${body} [${n}]`);
  expect(response).not.toMatch(/(^|\n)(- )?\s*\[\d+\]/);
});

test.each(faces)('[KNOW-12] over $name a name that is a path in disguise is refused', async (face) => {
  const one = scene.as('ed', { role: 'orchestrator', workspace: 'w1', face });
  const put = (name: string) => ({ name, mime_type: 'text/plain', content: 'x' });
  for (const name of [
    '..%2fx',
    '..%2Fx.txt',
    '%2e%2e%2fetc%2fpasswd',
    '..%252fx',
    '..%5cx',
    'a%00.txt',
    '%2e%2e',
    '..\uFF0Fx',
    '..\u2215x',
    'page%2ehtml',
    'page.html.',
    'run.exe ',
  ])
    await one.refused('put_artifact', put(name), 'VALIDATION_ERROR');
  for (const name of ['100% sure.txt', 'a%zz.txt', 'v1.2..txt', 'Đường phố.txt'])
    await one.ok('put_artifact', put(name));
});
