import { spawnSync } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

import type { Artifact, OutputOf } from '@parley/protocol';
import { afterEach, describe, expect, test, vi } from 'vitest';

import { checkBlobs } from '../../packages/hub/src/artifacts/check-blobs.ts';
import { fakeClock } from '../harness/fake-clock.ts';
import { faces, v1Driver } from '../harness/call.ts';
import { runCli, runJson } from '../harness/run-cli.ts';
import { type Reply, send } from '../harness/send.ts';
import { freshFolder, startHub } from '../harness/start-hub.ts';
import { recordOf } from '../harness/stored-record.ts';
import { registerSigner } from '../harness/tokens.ts';
import { succeeded, useHub } from '../harness/use-hub.ts';
import { WITHOUT_MODEL } from '../harness/without-model.ts';
import { describeWith } from '../tools/describe-with.ts';
import { bad, envelopeOf, type Fields, good, newPage, sendEnvelope } from './envelope-client.ts';

const MAX_BYTES = 8 * 1_048_576;
const scene = useHub({
  settings: {
    ...WITHOUT_MODEL,
    'mcp.profile': 'full',
    'quota.messages_burst': 100_000,
    'artifacts.max_bytes': MAX_BYTES,
  },
});
const ed = () => scene.as('ed', { role: 'orchestrator', workspace: 'w1' });
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');
const ROUTES = ['/v1/artifacts', '/mcp/artifacts'];

interface Upload {
  route?: string;
  type?: string;
  name?: string;
  query?: Record<string, string>;
  token?: string;
  headers?: Record<string, string>;
}

async function upload(bytes: Uint8Array | string, more: Upload = {}): Promise<Reply> {
  const { route = '/v1/artifacts', type = 'text/plain', name = 'note.txt', token = ed().token } = more;
  const query = new URLSearchParams({ name, ...more.query });
  return send(`${scene.hub.url}${route}?${query.toString()}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': type, ...more.headers },
    body: bytes,
  });
}

async function keep(bytes: Uint8Array | string, more: Upload = {}): Promise<Artifact> {
  const reply = await upload(bytes, more);
  expect([reply.status, reply.text]).toEqual([200, expect.any(String)]);
  const body = JSON.parse(reply.text) as OutputOf<'put_artifact'> & { data?: OutputOf<'put_artifact'> };
  return (body.data ?? body).artifact;
}

const sign = (artifact_id: string, more = {}) => ed().ok('sign_artifact_url', { artifact_id, ...more });

describe.each(ROUTES)('an upload over %s', (route) => {
  test('[KNOW-12] [C-ENV-26] is kept under its hash, once per key, and stands in the log', async () => {
    const text = `hello ${randomUUID()}`;
    const headers = { 'idempotency-key': randomUUID() };
    const artifact = await keep(text, { route, headers, query: { sha256: sha256(text) } });
    expect(artifact).toMatchObject({
      name: 'note.txt',
      bytes: text.length,
      sha256: sha256(text),
      created_by: 'ed',
    });
    expect(await keep(text, { route, headers })).toEqual(artifact);
    expect(
      readFileSync(join(scene.hub.data, 'artifacts', artifact.sha256.slice(0, 2), artifact.sha256), 'utf8'),
    ).toBe(text);
    const { entries } = await ed().ok('read_log', { limit: 5 });
    const reported = entries.filter(({ event }) => JSON.stringify(event).includes(artifact.artifact_id));
    expect(reported).toHaveLength(1);
    const { artifacts } = await ed().ok('list_artifacts', {});
    expect(artifacts[0]).toEqual(artifact);
    expect((await ed().ok('get_artifact', { artifact_id: artifact.artifact_id })).artifact).toEqual(artifact);
  });

  test('[KNOW-12] [C-ENV-26] with another hash, or of a type that is not taken, is 422 and leaves nothing', async () => {
    await scene.unchanged(async () => {
      const refused: [Uint8Array | string, Upload][] = [
        ['hello', { query: { sha256: sha256('other') } }],
        ['hello', { query: { sha256: 'no hash' } }],
        ['<svg xmlns="http://www.w3.org/2000/svg"/>', { type: 'image/svg+xml', name: 'a.svg' }],
        ['<html></html>', { type: 'text/html', name: 'a.html' }],
        ['<html></html>', { type: 'text/plain', name: 'a.html' }],
        ['MZ\0\0', { type: 'application/x-msdownload', name: 'a.exe' }],
        ['MZ\0\0', { type: 'text/plain', name: 'a.txt' }],
        ['MZ\0\0', { type: 'image/png', name: 'a.png' }],
        ['hello', { type: '', name: 'a.txt' }],
        ['hello', { name: '../../etc/passwd' }],
        [randomBytes(MAX_BYTES + 1).toString('hex'), {}],
      ];
      for (const [bytes, more] of refused) {
        const reply = await upload(bytes, { route, ...more });
        expect([reply.status, more]).toEqual([422, more]);
      }
      expect(readdirSync(join(scene.hub.data, 'artifacts', 'incoming'))).toEqual([]);
    });
  });

  test('[KNOW-12] needs a token and a right', async () => {
    const look = scene.as('vi', { role: 'observer', workspace: 'w1' }).token;
    expect((await upload('hello', { route, token: look })).status).toBe(403);
    expect((await upload('hello', { route, token: 'nonsense' })).status).toBe(401);
  });
});

test('[KNOW-12] [C-ENV-25] [C-ENV-26] a signed URL is good for GET alone and for 15 minutes at most', async () => {
  const { artifact_id } = await keep('# Ünïcode', { type: 'text/markdown', name: 'Grüße "1".md' });
  const { artifact_uri, ...signed } = await sign(artifact_id, { ttl_sec: 3_600 });
  expect(signed).toMatchObject({ ttl_sec: 900, method: 'GET', artifact_hash: sha256('# Ünïcode') });
  expect(Date.parse(signed.expires_at)).toBeLessThanOrEqual(Date.now() + 900_000);
  const reply = await send(artifact_uri);
  expect([reply.status, reply.text]).toEqual([200, '# Ünïcode']);
  expect(reply.headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'content-disposition': expect.stringMatching(
      /^attachment; filename="Gr__e _1_.md"; filename\*=UTF-8''Gr%C3/,
    ) as unknown,
    'content-type': 'text/markdown; charset=utf-8',
    'content-security-policy': expect.stringContaining('sandbox') as unknown,
  });
  const head = await send(artifact_uri, { method: 'HEAD' });
  expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '11']);
  for (const method of ['PUT', 'POST', 'DELETE', 'PATCH']) {
    const refused = await send(artifact_uri, { method });
    expect([method, refused.status, refused.headers.allow]).toEqual([method, 405, 'GET, HEAD']);
  }
});

test('[KNOW-12] [C-ENV-26] whatever is changed of a URL makes it 403, and no other tenant can have one', async () => {
  const [one, two] = [await keep('one', { name: 'a.txt' }), await keep('two', { name: 'a.txt' })];
  const { artifact_uri } = await sign(one.artifact_id);
  const change = (edit: (url: URL) => void): string => {
    const url = new URL(artifact_uri);
    edit(url);
    return url.toString();
  };
  const set = (name: string, value: string) => change((url) => url.searchParams.set(name, value));
  const { searchParams } = new URL(artifact_uri);
  const sig = searchParams.get('sig') ?? '';
  const tampered = [
    artifact_uri.replace(one.artifact_id, two.artifact_id),
    artifact_uri.replace('a.txt', 'b.txt'),
    artifact_uri.replace('/w1/', '/w2/'),
    set('exp', String(Number(searchParams.get('exp')) + 60)),
    set('sha256', two.sha256),
    set('sig', `${sig.startsWith('A') ? 'B' : 'A'}${sig.slice(1)}`),
    set('sig', `${sig}=`),
    set('sig', ''),
    set('kid', 'other'),
    set('more', '1'),
    change((url) => url.searchParams.append('exp', '99999999999')),
    change((url) => (url.search = '')),
  ];
  for (const url of tampered) expect([url, (await send(url)).status]).toEqual([url, 403]);
  expect((await send(artifact_uri)).status).toBe(200);
  const other = scene.as('ed', { role: 'operator', workspace: 'w2' });
  for (const operation of ['get_artifact', 'sign_artifact_url'] as const)
    await other.refused(operation, { artifact_id: one.artifact_id }, 'OUT_OF_SCOPE_WORKSPACE');
  expect((await other.ok('list_artifacts', {})).artifacts).toEqual([]);
});

test('[KNOW-12] parts of a large artifact are served, and damage never is', async () => {
  const bytes = randomBytes(5_000_000);
  const zip = Buffer.concat([Buffer.from('PK\x03\x04'), bytes]);
  const artifact = await keep(zip, { type: 'application/zip', name: 'big.zip' });
  const { artifact_uri } = await sign(artifact.artifact_id);
  const part = async (range: string, more = {}) => {
    const response = await fetch(artifact_uri, { headers: { range, ...more } });
    return [
      response.status,
      response.headers.get('content-range'),
      Buffer.from(await response.arrayBuffer()),
    ] as const;
  };
  const size = zip.length;
  expect(await part('bytes=0-9')).toEqual([206, `bytes 0-9/${size}`, zip.subarray(0, 10)]);
  expect(await part('bytes=4999999-')).toEqual([
    206,
    `bytes 4999999-${size - 1}/${size}`,
    zip.subarray(4_999_999),
  ]);
  expect(await part('bytes=-5')).toEqual([206, `bytes ${size - 5}-${size - 1}/${size}`, zip.subarray(-5)]);
  expect((await part(`bytes=${size}-`)).slice(0, 2)).toEqual([416, `bytes */${size}`]);
  for (const range of ['bytes=5-1', 'lines=1-2', 'bytes=0-1,3-4'])
    expect((await part(range)).slice(0, 2)).toEqual([200, null]);
  expect((await part('bytes=0-9', { 'if-range': '"other"' }))[0]).toBe(200);
  expect((await part('bytes=0-9', { 'if-range': `"${artifact.sha256}"` }))[0]).toBe(206);

  const path = blobPath(artifact);
  const rotten = Buffer.from(readFileSync(path));
  rotten[2_500_000] = (rotten[2_500_000] ?? 0) ^ 1;
  writeFileSync(path, rotten);
  await expectRefused(artifact, 'damaged');
  expect(await doctor()).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`${artifact.sha256} is damaged`) as unknown,
  });
  // Uploaded once more, it is whole again.
  await keep(zip, { type: 'application/zip', name: 'big.zip' });
  expect((await part('bytes=0-9'))[0]).toBe(206);
  expect((await doctor()).code).toBe(0);
});

const blobPath = ({ sha256: hash }: Artifact) => join(scene.hub.data, 'artifacts', hash.slice(0, 2), hash);
const doctor = () => runCli(['doctor'], { data: scene.hub.data });

/** No byte of it goes out, whatever is asked for, and the log says why. */
async function expectRefused({ artifact_id, sha256: hash }: Artifact, fault: string): Promise<void> {
  const { artifact_uri } = await sign(artifact_id);
  const reported = scene.hub.stderr().length;
  for (const method of ['GET', 'HEAD'])
    for (const headers of [{}, { range: 'bytes=0-3' }]) {
      const reply = await send(artifact_uri, { method, headers });
      expect([method, reply.status, reply.headers['etag']]).toEqual([method, 500, undefined]);
      if (method === 'GET') expect(reply.text).toContain(`the bytes of artifact ${hash} are ${fault}`);
    }
  await vi.waitFor(
    () =>
      expect(scene.hub.stderr().slice(reported)).toMatch(new RegExp(`"level":"error".*${hash} are ${fault}`)),
    20_000,
  );
}

describe('a file that is not what was kept', () => {
  const outside = () => join(scene.hub.data, '..', 'outside');
  const linkTo = (path: string): void => {
    renameSync(path, outside());
    symlinkSync(outside(), path);
  };
  const folderOf = (text: string): string => join(scene.hub.data, 'artifacts', sha256(text).slice(0, 2));
  /** A text whose folder holds nothing else: what is done to the folder harms no other artifact of the hub. */
  const aloneInItsFolder = (make: (id: string) => string): string => {
    for (;;) {
      const text = make(randomUUID());
      if (!existsSync(folderOf(text))) return text;
    }
  };
  const spoilt: [string, string, (path: string) => void][] = [
    ['longer', 'damaged', (path) => appendFileSync(path, 'and more')],
    ['shorter', 'damaged', (path) => truncateSync(path, 5)],
    ['another', 'damaged', (path) => writeFileSync(path, 'x'.repeat(readFileSync(path).length))],
    ['gone', 'missing', (path) => rmSync(path)],
    ['a folder', 'damaged', (path) => (rmSync(path), mkdirSync(path))],
    ['a pipe', 'damaged', (path) => (rmSync(path), spawnSync('mkfifo', [path]))],
    ['a link', 'behind a link', linkTo],
    ['in a linked folder', 'behind a link', (path) => linkTo(dirname(path))],
  ];
  afterEach(() => rmSync(outside(), { recursive: true, force: true }));

  test.each(spoilt)('%s: it is %s, and never served', async (_how, fault, spoil) => {
    const text = aloneInItsFolder((id) => `the right bytes ${id} ${'y'.repeat(300_000)}`);
    const artifact = await keep(text);
    const path = blobPath(artifact);
    spoil(path);
    await expectRefused(artifact, fault);
    // What the doctor says, as its command does of what is damaged and of what a backup lacks.
    const { wrong } = checkBlobs(scene.hub.data, await (await recordOf(scene.hub.data)).artifacts());
    expect(wrong).toContain(`${artifact.sha256} is ${fault}`);
    rmSync(lstatSync(dirname(path)).isSymbolicLink() ? dirname(path) : path, {
      recursive: true,
      force: true,
    });
    await keep(text);
    const { artifact_uri } = await sign(artifact.artifact_id);
    expect((await send(artifact_uri)).text).toBe(text);
  });

  test('nothing is kept in a folder that is a link', async () => {
    const text = aloneInItsFolder((id) => id);
    const folder = folderOf(text);
    mkdirSync(outside());
    symlinkSync(outside(), folder);
    expect((await upload(text)).status).toBe(503);
    expect(readdirSync(outside())).toEqual([]);
    rmSync(folder);
    await keep(text);
  });
});

test.each(faces)('[KNOW-12] a small artifact is kept over $name', async (face) => {
  const agent = scene.as('wo', { workspace: 'w1', face });
  const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), randomBytes(64)]);
  const image = { name: 'dot.png', mime_type: 'image/png', content_base64: png.toString('base64') };
  const { artifact } = await agent.ok('put_artifact', image);
  expect(artifact).toMatchObject({ sha256: sha256(png), created_by: 'wo' });
  const { artifact_uri } = await agent.ok('sign_artifact_url', { artifact_id: artifact.artifact_id });
  expect(Buffer.from(await (await fetch(artifact_uri)).arrayBuffer())).toEqual(png);
  for (const wrong of [
    { mime_type: 'text/html' },
    { sha256: sha256('x') },
    { content: 'too' },
    { content_base64: undefined },
  ])
    await agent.refused('put_artifact', { ...image, ...wrong }, 'VALIDATION_ERROR');
});

test('[KNOW-12] [KNOW-25] E2E-05: what is too large for an envelope goes by artifact, checked at every step', async () => {
  const url = scene.hub.url;
  const { token } = ed();
  // Its text fits a document, but not, with all that is around it, an envelope.
  const page = newPage({ content: { mime_type: 'text/markdown', body: '"'.repeat(120_000) } });
  const direct = await sendEnvelope(url, token, envelopeOf('knowledge.create_document', page));
  expect(bad(direct, 'INVALID_ARGUMENT')['hint']).toContain('artifact_uri');

  const text = JSON.stringify(page);
  const artifact = await keep(text, { route: '/mcp/artifacts', type: 'application/json', name: 'args.json' });
  const signing = envelopeOf('artifact.sign', { artifact_id: artifact.artifact_id, ttl_sec: 3_600 });
  const signed = good(await sendEnvelope(url, token, signing));
  const { artifact_uri, artifact_hash } = signed;
  const byArtifact = (payload: Fields, more: Fields = {}) =>
    envelopeOf('knowledge.create_document', {}, { payload: { schema_version: '1.0', ...payload }, ...more });

  const send2 = (payload: Fields, more: Fields = {}) => sendEnvelope(url, token, byArtifact(payload, more));
  bad(await send2({ artifact_uri, artifact_hash: sha256('other') }), 'UNPROCESSABLE_ENTITY');
  bad(await send2({ artifact_uri }), 'INVALID_ARGUMENT');
  bad(await send2({ artifact_uri, artifact_hash, args: {} }), 'INVALID_ARGUMENT');
  bad(
    await send2({ artifact_uri: String(artifact_uri).replace('sig=', 'sig=A'), artifact_hash }),
    'FORBIDDEN',
  );
  const elsewhere = scene.as('ed', { role: 'orchestrator', workspace: 'w2' }).token;
  bad(
    await sendEnvelope(url, elsewhere, byArtifact({ artifact_uri, artifact_hash }, { tenant_id: 'w2' })),
    'FORBIDDEN',
  );
  const list = await keep('[1]', { type: 'application/json', name: 'list.json' });
  const listUri = (await sign(list.artifact_id)).artifact_uri;
  bad(await send2({ artifact_uri: listUri, artifact_hash: list.sha256 }), 'UNPROCESSABLE_ENTITY');

  const key = { idempotency_key: randomUUID() };
  const made = good(await send2({ artifact_uri, artifact_hash }, key));
  expect(made).toMatchObject({ id: page.document_id, revision: 1 });
  expect(good(await send2({ artifact_uri, artifact_hash: `sha256:${String(artifact_hash)}` }, key))).toEqual(
    made,
  );
  const { document } = await ed().ok('get_document', { document_id: page.document_id });
  expect(document.content.body).toHaveLength(120_000);
  // Who gets the URL holds the bytes against the hash.
  expect(sha256((await send(String(artifact_uri))).text)).toBe(artifact_hash);
});

test('[C-LOCAL-09] a URL that somebody sends is never fetched, however it is spelled', async () => {
  const calls: string[] = [];
  const canary = createServer((request_, response) => {
    calls.push(request_.url ?? '');
    response.writeHead(302, { location: '/again' }).end();
  });
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
  const { port } = canary.address() as AddressInfo;
  const own = (await sign((await keep('{}', { type: 'application/json', name: 'a.json' })).artifact_id))
    .artifact_uri;
  const { pathname, search } = new URL(own);
  const hosts = [
    '127.0.0.1',
    'localhost',
    'localhost.',
    '2130706433',
    '0177.0.0.1',
    '0x7f.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[2002:7f00:1::]',
    '[64:ff9b::7f00:1]',
    '[fec0::1]',
    'user@127.0.0.1',
  ];
  const urls = hosts.flatMap((host) => [
    `http://${host}:${port}/x`,
    `http://${host}:${port}${pathname}${search}`,
    `${scene.hub.url}@${host}:${port}${pathname}${search}`,
  ]);
  try {
    for (const artifact_uri of [...urls, `file:///etc/passwd`, `//127.0.0.1:${port}/x`, pathname + search]) {
      const payload = { schema_version: '1.0', artifact_uri, artifact_hash: sha256('{}') };
      const answer = await sendEnvelope(
        scene.hub.url,
        ed().token,
        envelopeOf('knowledge.create_document', {}, { payload, resource_links: [artifact_uri] }),
      );
      bad(answer, 'UNPROCESSABLE_ENTITY');
      const page = newPage({ metadata: { title: 'x', source: artifact_uri } });
      good(
        await sendEnvelope(
          scene.hub.url,
          ed().token,
          envelopeOf('knowledge.create_document', page, {
            resource_links: [artifact_uri, { href: artifact_uri }],
          }),
        ),
      );
    }
    expect(calls).toEqual([]);
  } finally {
    await new Promise((resolve) => canary.close(resolve));
  }
});

test('[KNOW-12] parley artifact keeps, lists, signs and fetches', async () => {
  const { data } = scene.hub;
  const folder = join(data, '..');
  const options = { data, env: { PARLEY_WORKSPACE: 'w1' } };
  const file = join(folder, 'report.csv');
  writeFileSync(file, 'a,b\n1,2\n');
  const { artifact } = await runJson<OutputOf<'put_artifact'>>(['artifact', 'put', file], options);
  expect(artifact).toMatchObject({ name: 'report.csv', mime_type: 'text/csv', bytes: 8 });
  const { artifact_id: id } = artifact;
  const listed = await runCli(['artifact', 'ls'], options);
  expect(listed.stdout).toContain(id);
  expect((await runCli(['artifact', 'get', id], options)).stdout).toBe('a,b\n1,2\n');
  const out = join(folder, 'copy.csv');
  expect((await runCli(['artifact', 'get', id, '--out', out], options)).code).toBe(0);
  expect(readFileSync(out, 'utf8')).toBe('a,b\n1,2\n');
  expect((await runCli(['artifact', 'get', id, '--out', out], options)).code).toBe(1);
  const { stdout } = await runCli(['artifact', 'url', id, '--ttl', '60'], options);
  expect((await send(stdout.trim())).text).toBe('a,b\n1,2\n');
  const piped = await runJson<OutputOf<'put_artifact'>>(['artifact', 'put', '-', '--name', 'in.txt'], {
    ...options,
    stdin: 'piped',
  });
  expect(piped.artifact.sha256).toBe(sha256('piped'));
  for (const wrong of [
    ['put', file, '--sha256', sha256('x')],
    ['put', file, '--type', 'text/html'],
  ])
    expect((await runCli(['artifact', ...wrong], options)).code).toBe(2);
  expect((await runCli(['artifact', 'put', join(folder, 'none.txt')], options)).code).toBe(3);
});

test('[KNOW-12] a backup holds the bytes, an export tells of them, and the doctor misses what is gone', async () => {
  const { data } = scene.hub;
  const artifact = await keep('a,b\n1,2\n', { type: 'text/csv', name: 'kept.csv' });
  const backup = join(data, '..', 'backup');
  const made = await runJson<{ counts: { artifacts: number } }>(['backup', backup], { data });
  expect(made.counts.artifacts).toBe((await scene.counts()).artifacts);
  expect(readFileSync(join(backup, 'artifacts', artifact.sha256.slice(0, 2), artifact.sha256), 'utf8')).toBe(
    'a,b\n1,2\n',
  );
  rmSync(join(backup, 'artifacts', artifact.sha256.slice(0, 2), artifact.sha256));
  expect((await runCli(['doctor'], { data: backup })).stdout).toContain(`${artifact.sha256} is missing`);
  const record = await runCli(['export'], { data });
  expect(record.stdout).toContain(
    `"type":"artifact","artifact":{"workspace_id":"w1","artifact_id":"${artifact.artifact_id}"`,
  );
});

test('[KNOW-12] an upload that breaks off, or is cut off by a SIGKILL, leaves nothing behind', async () => {
  const data = freshFolder();
  const hub = await startHub({ data });
  const signer = await registerSigner('k', { data });
  const token = signer.token({ agent: 'ed', role: 'orchestrator', workspace: 'w1' });
  const incoming = join(data, 'artifacts', 'incoming');
  const begin = async () => {
    const outgoing = request(`${hub.url}/v1/artifacts?name=a.txt`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'text/plain',
        'content-length': '1000000',
      },
    });
    outgoing.on('error', () => {});
    outgoing.write('x'.repeat(100_000));
    await vi.waitFor(() => expect(readdirSync(incoming)).toHaveLength(1), 20_000);
    return outgoing;
  };
  (await begin()).destroy();
  await vi.waitFor(() => expect(readdirSync(incoming)).toEqual([]), 20_000);
  const second = await begin();
  await hub.kill();
  second.destroy();
  expect(readdirSync(incoming)).toHaveLength(1);
  const again = await startHub({ data });
  expect(existsSync(incoming) ? readdirSync(incoming) : []).toEqual([]);
  const { artifacts } = succeeded(await v1Driver.call(again.url, token, 'list_artifacts', {}));
  expect(artifacts).toEqual([]);
  expect(await again.stop()).toBe(0);
});

describeWith(['libfaketime'], 'signed URLs with another clock', ({ libfaketime }) => {
  test('[KNOW-12] [C-ENV-25] a URL is good until its time is up, over a restart, and not a second longer', async () => {
    const data = freshFolder();
    const { move, env } = fakeClock(libfaketime);
    const first = await startHub({ data, env });
    const signer = await registerSigner('k', { data });
    const token = signer.token({ agent: 'ed', role: 'orchestrator', workspace: 'w1' });
    const call = (operation: 'put_artifact' | 'sign_artifact_url', input: Fields) =>
      v1Driver.call(first.url, token, operation, input);
    const put = await call('put_artifact', { name: 'a.txt', mime_type: 'text/plain', content: 'hello' });
    const { artifact_id } = succeeded(put).artifact;
    const signed = succeeded(await call('sign_artifact_url', { artifact_id, ttl_sec: 3_600 }));
    const { artifact_uri, expires_at } = signed as OutputOf<'sign_artifact_url'>;
    const { pathname, search } = new URL(artifact_uri);
    await first.stop();
    const end = Date.parse(expires_at);
    move(end - 60_000 - Date.now());
    const again = await startHub({ data, env });
    const statusAt = async (at: number) => {
      move(at - Date.now());
      return (await send(again.url + pathname + search)).status;
    };
    expect(await statusAt(end - 60_000)).toBe(200);
    expect(await statusAt(end + 1_000)).toBe(403);
    // Before it was signed: the clock was set back, and the URL would live too long.
    expect(await statusAt(end - 1_800_000)).toBe(403);
    expect(await again.stop()).toBe(0);
  });
});
