import { randomUUID } from 'node:crypto';

import type { QueuedDelivery } from '@parley/protocol';
import { expect, test, vi } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { runCli, runJson } from '../harness/run-cli.ts';
import { freshFolder, startHub } from '../harness/start-hub.ts';
import { issueToken, registerSigner } from '../harness/tokens.ts';
import { succeeded, useHub } from '../harness/use-hub.ts';
import { WITHOUT_MODEL } from '../harness/without-model.ts';
import {
  bad,
  type EnvelopeAnswer,
  envelopeOf,
  type Fields,
  newPage,
  sendEnvelope,
} from './envelope-client.ts';

const settings = {
  ...WITHOUT_MODEL,
  'quota.messages_burst': 100_000,
  'envelope.requests_per_minute': 100_000,
  'queue.retry_ms': 10,
  'queue.retry_max_ms': 40,
};
const scene = useHub({ settings });
const headers = { prefer: 'respond-async' };
const ed = () => scene.as('ed', { role: 'orchestrator', workspace: 'w1' });

const post = (action: string, args: Fields, more: Fields = {}, token = ed().token) =>
  sendEnvelope(scene.hub.url, token, envelopeOf(action, args, more), { headers });

function accepted(answer: EnvelopeAnswer): string {
  expect([answer.status, answer.body]).toMatchObject([202, { ok: true, data: { status: 'waiting' } }]);
  expect(answer.headers['preference-applied']).toBe('respond-async');
  return String(answer.body.data?.['delivery_id']);
}

async function ended(delivery_id: string): Promise<QueuedDelivery> {
  return vi.waitFor(
    async () => {
      const { delivery } = await ed().ok('get_delivery', { delivery_id });
      expect(delivery.status).not.toBe('waiting');
      return delivery;
    },
    { timeout: 30_000, interval: 20 },
  );
}

test('[KNOW-3] an envelope that asks for it is accepted, carried out, and its answer kept', async () => {
  const capabilities = await (await fetch(`${scene.hub.url}/mcp/capabilities`)).json();
  expect(capabilities).toMatchObject({ transports: ['http-sync', 'pubsub-async'] });
  const page = newPage();
  const key = { idempotency_key: randomUUID() };
  const id = accepted(await post('knowledge.create_document', page, key));
  expect(await ended(id)).toMatchObject({ status: 'done', result: { id: page.document_id, revision: 1 } });
  // The same key is the same delivery, and called at once it has the same effect.
  expect(accepted(await post('knowledge.create_document', page, key))).toBe(id);
  const atOnce = await sendEnvelope(
    scene.hub.url,
    ed().token,
    envelopeOf('knowledge.create_document', page, key),
  );
  expect(atOnce.body.data).toMatchObject({ id: page.document_id, revision: 1 });
  bad(await post('knowledge.create_document', newPage(), key), 'CONFLICT');
  const asked = accepted(await post('knowledge.get_document', { document_id: page.document_id }));
  expect((await ended(asked)).result).toMatchObject({ document: { document_id: page.document_id } });
});

test('[KNOW-3] what could never be carried out is refused at once, and a lower number is ignored', async () => {
  bad(await post('knowledge.create_document', { document_id: 'no-uuid' }), 'UNPROCESSABLE_ENTITY');
  bad(await post('knowledge.create_document', newPage(), { tenant_id: 'w2' }), 'FORBIDDEN');
  const viewer = { principal: { sub: 'vi', roles: ['viewer'] } };
  const token = scene.as('vi', { role: 'observer', workspace: 'w1' }).token;
  bad(await post('knowledge.create_document', newPage(), viewer, token), 'FORBIDDEN');
  const timestamp = new Date(Date.now() - 400_000).toISOString();
  bad(await post('knowledge.create_document', newPage(), { timestamp }), 'EXPIRED');
  const context = { context_id: randomUUID() };
  accepted(await post('knowledge.create_document', newPage(), { ...context, seq: 9 }));
  const late = await post('knowledge.create_document', newPage(), { ...context, seq: 8 });
  expect([late.status, late.body.data]).toEqual([200, { ignored: true, last_seq: 9 }]);
});

test('a letter ends with the right of its sender: redriven after the token was revoked it is not carried out', async () => {
  const { token, jti } = await issueToken(
    { agent: 'leaver', role: 'orchestrator', workspace: 'w1' },
    { data: scene.hub.data },
  );
  const parent = newPage();
  const orphan = newPage({ parent_id: parent.document_id });
  const principal = { principal: { sub: 'leaver', roles: ['editor'] } };
  const id = accepted(await post('knowledge.create_document', orphan, principal, token));
  expect(await ended(id)).toMatchObject({ status: 'dead', error: { code: 'NOT_FOUND' } });
  accepted(await post('knowledge.create_document', parent));
  await vi.waitFor(() => ed().ok('get_document', { document_id: parent.document_id }), 30_000);
  await runJson(['token', 'revoke', jti], { data: scene.hub.data });
  await ed().ok('redrive_deliveries', { delivery_ids: [id] });
  expect(await ended(id)).toMatchObject({ status: 'dead', redrives: 1, error: { code: 'UNAUTHORIZED' } });
  await ed().refused('get_document', { document_id: orphan.document_id }, 'NOT_FOUND');
});

test('[KNOW-3] [C-ASYNC-04] [C-ASYNC-05] a letter that cannot be delivered is dead with its reason; redriven, it has one effect', async () => {
  const parent = newPage();
  const child = newPage({ parent_id: parent.document_id });
  const poison = accepted(await post('knowledge.create_document', child));
  const behind = newPage();
  expect(await ended(accepted(await post('knowledge.create_document', behind)))).toMatchObject({
    status: 'done',
  });
  expect(await ended(poison)).toMatchObject({ status: 'dead', error: { code: 'NOT_FOUND' }, attempts: 1 });
  const options = { data: scene.hub.data };
  const dead = await runJson<{ deliveries: QueuedDelivery[] }>(
    ['queue', 'dead', '--workspace', 'w1'],
    options,
  );
  expect(dead.deliveries.map(({ delivery_id }) => delivery_id)).toContain(poison);

  await ended(accepted(await post('knowledge.create_document', parent)));
  const redrive = () => runJson<unknown>(['queue', 'redrive', poison, '--workspace', 'w1'], options);
  expect(await redrive()).toMatchObject({ deliveries: [{ redriven: true }] });
  expect(await ended(poison)).toMatchObject({ status: 'done', redrives: 1 });
  expect(await redrive()).toMatchObject({ deliveries: [{ redriven: false, status: 'done' }] });
  const { document } = await ed().ok('get_document', { document_id: child.document_id });
  expect(document.revision).toBe(1);
});

test('[KNOW-3] [C-ASYNC-05] past its time a dead letter stays dead, and the command line says so', async () => {
  const args = newPage({ parent_id: randomUUID() });
  const id = accepted(await post('knowledge.create_document', args, { ttl_sec: 1 }));
  const { expires_at } = await ended(id);
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(expires_at)), 20_000);
  const { code, stdout } = await runCli(['queue', 'redrive', id, '--workspace', 'w1'], {
    data: scene.hub.data,
  });
  expect([code, stdout]).toEqual([1, expect.stringContaining('EXPIRED')]);
  expect((await ended(id)).status).toBe('dead');
});

test('[KNOW-3] deliveries are their sender’s own, and of those who steer; no other workspace finds them', async () => {
  const id = accepted(await post('knowledge.create_document', newPage()));
  await scene.as('eve', { workspace: 'w1' }).refused('get_delivery', { delivery_id: id }, 'NOT_FOUND');
  const { deliveries } = await scene.as('eve', { workspace: 'w1' }).ok('list_deliveries', {});
  expect(deliveries).toEqual([]);
  const boss = scene.as('boss', { role: 'operator', workspace: 'w1' });
  expect((await boss.ok('get_delivery', { delivery_id: id })).delivery.from).toBe('ed');
  const other = scene.as('ed', { role: 'operator', workspace: 'w2' });
  await other.refused('get_delivery', { delivery_id: id }, 'OUT_OF_SCOPE_WORKSPACE');
  await other.refused('redrive_deliveries', { delivery_ids: [id] }, 'OUT_OF_SCOPE_WORKSPACE');
});

test('[KNOW-3] [C-ASYNC-02] what was accepted survives a SIGKILL, and each has one effect', async () => {
  const data = freshFolder();
  const slow = { ...settings, 'queue.tenant_concurrent': 1 };
  const first = await startHub({ data, settings: slow });
  const signer = await registerSigner('k', { data });
  const token = signer.token({ agent: 'ed', role: 'orchestrator', workspace: 'w1' });
  const pages = Array.from({ length: 60 }, () => newPage());
  const answers = await Promise.all(
    pages.map((page) =>
      sendEnvelope(first.url, token, envelopeOf('knowledge.create_document', page), { headers }),
    ),
  );
  await first.kill();
  const ids = answers.map(accepted);
  const second = await startHub({ data, settings: slow });
  const list = async (status: string) =>
    succeeded(await v1Driver.call(second.url, token, 'list_deliveries', { status, limit: 200 })).deliveries;
  await vi.waitFor(async () => expect(await list('waiting')).toEqual([]), { timeout: 50_000, interval: 100 });
  expect(new Set((await list('done')).map(({ delivery_id }) => delivery_id))).toEqual(new Set(ids));
  const { documents } = succeeded(await v1Driver.call(second.url, token, 'list_documents', { limit: 200 }));
  expect(new Set(documents.map(({ document_id }) => document_id))).toEqual(
    new Set(pages.map(({ document_id }) => document_id)),
  );
  expect(documents.every(({ revision }) => revision === 1)).toBe(true);
  expect(await second.stop()).toBe(0);
  const { ok, counts } = await runJson<{ ok: boolean; counts: Fields }>(['doctor'], { data });
  expect([ok, counts['documents'], counts['dead_letters']]).toEqual([true, 60, 0]);
});
