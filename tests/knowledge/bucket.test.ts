import { randomUUID } from 'node:crypto';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { send } from '../harness/send.ts';
import { freshFolder, HubRefused, type HubProcess, startHub } from '../harness/start-hub.ts';
import { registerSigner } from '../harness/tokens.ts';
import { succeeded } from '../harness/use-hub.ts';
import { amazonService, googleService, startBucket } from './bucket-server.ts';
import { bad, envelopeOf, type Fields, good, newPage, sendEnvelope } from './envelope-client.ts';

const BUCKET = 'acme-agent-data-artifacts-test';
const REGION = 'eu-central-1';

function credentialsFile(data: string, text: string, mode = 0o600): string {
  const path = join(data, '..', 'credentials.json');
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

describe.each([googleService(), amazonService(REGION)])('a bucket of $name', (service) => {
  let bucket: Awaited<ReturnType<typeof startBucket>>;
  let hub: HubProcess;
  let token: string;

  beforeAll(async () => {
    bucket = await startBucket(service);
    const data = freshFolder();
    const settings = {
      'artifacts.service': service.name,
      'artifacts.bucket': BUCKET,
      'artifacts.region': REGION,
      'artifacts.endpoint': bucket.endpoint,
      'artifacts.credentials': credentialsFile(data, JSON.stringify(service.credentials)),
    };
    hub = await startHub({ data, settings });
    const signer = await registerSigner('k', { data });
    token = signer.token({ agent: 'ed', role: 'orchestrator', workspace: 'w1' });
  });
  afterAll(async () => {
    expect(await hub.stop()).toBe(0);
    await bucket.close();
  });

  const put = (content: string) =>
    v1Driver.call(hub.url, token, 'put_artifact', {
      name: 'a "b".json',
      mime_type: 'application/json',
      content,
    });
  const sign = async (artifact_id: string, more = {}) =>
    succeeded(await v1Driver.call(hub.url, token, 'sign_artifact_url', { artifact_id, ...more }));

  test('[KNOW-12] the bytes go there, and its own signed URLs lead to them', async () => {
    const { artifact } = succeeded(await put('{"a":1}'));
    expect(bucket.objects.get(`/${BUCKET}/w1/${artifact.sha256}`)?.toString()).toBe('{"a":1}');
    const { artifact_uri, ttl_sec } = await sign(artifact.artifact_id, { ttl_sec: 3_600 });
    expect(ttl_sec).toBe(900);
    const expires = Number(new URL(artifact_uri).searchParams.get(`${service.prefix}Expires`));
    expect(expires).toBeGreaterThan(890);
    expect(expires).toBeLessThanOrEqual(900);
    const reply = await send(artifact_uri);
    expect([reply.status, reply.text, reply.headers['content-type']]).toEqual([
      200,
      '{"a":1}',
      'application/json',
    ]);
    expect(reply.headers['content-disposition']).toMatch(/^attachment; filename="a _b_.json"/);
    expect((await send(artifact_uri, { method: 'PUT', body: 'x' })).status).toBe(403);
    expect((await send(artifact_uri.replace('w1/', 'w2/'))).status).toBe(403);
  });

  test('[KNOW-12] arguments by artifact come out of the bucket, and a changed URL does not count', async () => {
    const page = newPage();
    const { artifact } = succeeded(await put(JSON.stringify(page)));
    const { artifact_uri, artifact_hash } = await sign(artifact.artifact_id);
    const call = (uri: string) => {
      const payload: Fields = { schema_version: '1.0', artifact_uri: uri, artifact_hash };
      return sendEnvelope(hub.url, token, envelopeOf('knowledge.create_document', {}, { payload }));
    };
    const expires = `${service.prefix}Expires=`;
    bad(await call(artifact_uri.replace(expires, `${expires}1`)), 'FORBIDDEN');
    bad(await call(`${artifact_uri}0`), 'FORBIDDEN');
    bad(await call(artifact_uri.replace('w1/', 'w1/%ZZ')), 'FORBIDDEN');
    bad(await call(artifact_uri.replace(BUCKET, 'other')), 'UNPROCESSABLE_ENTITY');
    expect(good(await call(artifact_uri))).toMatchObject({ id: page.document_id, revision: 1 });
  });

  test('[KNOW-12] where it does not take it, that is UNAVAILABLE, and nothing is told of it', async () => {
    bucket.broken = true;
    const before = bucket.objects.size;
    expect((await put(randomUUID())).error?.code).toBe('UNAVAILABLE');
    bucket.broken = false;
    expect(bucket.objects.size).toBe(before);
    succeeded(await put('{}'));
  });
});

test.each([
  'acme-data',
  'agent-data-x-test',
  'Acme-agent-data-x-test',
  'acme-agent-data-test',
  'acme-agent-data-x_y-test',
  `${'a'.repeat(60)}-agent-data-x-test`,
])('[KNOW-12] a bucket named %s is refused', async (name) => {
  const started = startHub({ settings: { 'artifacts.bucket': name } });
  await expect(started).rejects.toThrow(HubRefused);
  await expect(started).rejects.toThrow('agent-data');
});

const KEY = { access_key_id: 'a', secret_access_key: 'canary-of-a-secret' };

test.each([
  ['is no JSON', 'canary-of-a-secret', 0o600, 'credentials.json is none'],
  ['lacks a part', '{"access_key_id":"a"}', 0o600, 'credentials.json is none'],
  ['is open to everybody', JSON.stringify(KEY), 0o644, 'chmod 600 /'],
])('[KNOW-12] a file for S3 that %s is refused, and not told of', async (_what, text, mode, told) => {
  const data = freshFolder();
  const settings = {
    'artifacts.service': 's3',
    'artifacts.bucket': BUCKET,
    'artifacts.credentials': credentialsFile(data, text, mode),
  };
  const refused = (await startHub({ data, settings }).catch((error: unknown) => error)) as HubRefused;
  expect(refused).toBeInstanceOf(HubRefused);
  expect(`${refused.stdout}${refused.stderr}`).toContain(told);
  expect(`${refused.stdout}${refused.stderr}`).not.toContain('canary');
});
