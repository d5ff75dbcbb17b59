import { createHash, createVerify, generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { send } from '../harness/send.ts';
import { freshFolder, HubRefused, type HubProcess, startHub } from '../harness/start-hub.ts';
import { registerSigner } from '../harness/tokens.ts';
import { succeeded } from '../harness/use-hub.ts';
import { bad, envelopeOf, type Fields, good, newPage, sendEnvelope } from './envelope-client.ts';

const BUCKET = 'acme-agent-data-artifacts-test';
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const objects = new Map<string, Buffer>();
let broken = false;

/** A bucket that takes what is signed as Google documents it, and nothing else; written apart from the hub's own signer. */
const bucket = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const [signed = '', signature = ''] = query.split('&X-Goog-Signature=');
    const given = new URLSearchParams(signed);
    const time = given.get('X-Goog-Date') ?? '';
    const scope = `${time.slice(0, 8)}/auto/storage/goog4_request`;
    const canonical = `${request.method}\n${path}\n${signed}\nhost:${request.headers.host?.split(':')[0]}\n\nhost\nUNSIGNED-PAYLOAD`;
    const digest = createHash('sha256').update(canonical).digest('hex');
    const text = `GOOG4-RSA-SHA256\n${time}\n${scope}\n${digest}`;
    if (broken) response.writeHead(503).end();
    else if (!createVerify('RSA-SHA256').update(text).verify(publicKey, signature, 'hex'))
      response.writeHead(403).end();
    else if (request.method === 'PUT') {
      objects.set(path, Buffer.concat(chunks));
      response.writeHead(200).end();
    } else if (!objects.has(path)) response.writeHead(404).end();
    else {
      const type = given.get('response-content-type') ?? 'application/octet-stream';
      const disposition = given.get('response-content-disposition') ?? 'inline';
      response.writeHead(200, { 'content-type': type, 'content-disposition': disposition });
      response.end(objects.get(path));
    }
  });
});

let hub: HubProcess;
let token: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => bucket.listen(0, '127.0.0.1', resolve));
  const data = freshFolder();
  const credentials = join(data, '..', 'account.json');
  const private_key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  mkdirSync(join(data, '..'), { recursive: true });
  writeFileSync(credentials, JSON.stringify({ client_email: 'svc@acme.example', private_key }));
  const endpoint = `http://127.0.0.1:${(bucket.address() as AddressInfo).port}`;
  const settings = {
    'artifacts.bucket': BUCKET,
    'artifacts.endpoint': endpoint,
    'artifacts.credentials': credentials,
  };
  hub = await startHub({ data, settings });
  token = (await registerSigner('k', { data })).token({ agent: 'ed', role: 'orchestrator', workspace: 'w1' });
});
afterAll(async () => {
  expect(await hub.stop()).toBe(0);
  await new Promise((resolve) => bucket.close(resolve));
});

const put = (content: string) =>
  v1Driver.call(hub.url, token, 'put_artifact', {
    name: 'a "b".json',
    mime_type: 'application/json',
    content,
  });
const sign = async (artifact_id: string, more = {}) =>
  succeeded(await v1Driver.call(hub.url, token, 'sign_artifact_url', { artifact_id, ...more }));

test('[KNOW-12] with a bucket the bytes go there, and its own signed URLs lead to them', async () => {
  const { artifact } = succeeded(await put('{"a":1}'));
  expect(objects.get(`/${BUCKET}/w1/${artifact.sha256}`)?.toString()).toBe('{"a":1}');
  const { artifact_uri, ttl_sec } = await sign(artifact.artifact_id, { ttl_sec: 3_600 });
  expect(ttl_sec).toBe(900);
  const expires = Number(new URL(artifact_uri).searchParams.get('X-Goog-Expires'));
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
  bad(await call(artifact_uri.replace('X-Goog-Expires=', 'X-Goog-Expires=1')), 'FORBIDDEN');
  bad(await call(`${artifact_uri}0`), 'FORBIDDEN');
  bad(await call(artifact_uri.replace(BUCKET, 'other')), 'UNPROCESSABLE_ENTITY');
  expect(good(await call(artifact_uri))).toMatchObject({ id: page.document_id, revision: 1 });
});

test('[KNOW-12] a bucket that does not take it is UNAVAILABLE, and nothing is told of it', async () => {
  broken = true;
  const before = objects.size;
  expect((await put(randomUUID())).error?.code).toBe('UNAVAILABLE');
  broken = false;
  expect(objects.size).toBe(before);
  succeeded(await put('{}'));
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
