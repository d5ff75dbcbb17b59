import { createHmac, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { expectNoWayIn } from '../harness/other-routes.ts';
import { runJson } from '../harness/run-cli.ts';
import { send } from '../harness/send.ts';
import { freshFolder } from '../harness/start-hub.ts';
import {
  claimsOf,
  createSigner,
  issueByCommand,
  joinToken,
  keysOf,
  registerByCommand,
} from '../harness/tokens.ts';
import { useHub } from '../harness/use-hub.ts';

const data = freshFolder();
const jwks = join(dirname(data), 'jwks.json');
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed = generateKeyPairSync('ed25519');

mkdirSync(dirname(data), { recursive: true });
writeFileSync(
  jwks,
  JSON.stringify({
    keys: [
      { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'rsa' },
      { ...ec.publicKey.export({ format: 'jwk' }), kid: 'ec' },
      { ...ed.publicKey.export({ format: 'jwk' }), kid: 'ed' },
    ],
  }),
);

const scene = useHub({
  data,
  settings: {
    'quota.bad_tokens_burst': 100_000,
    'auth.issuers': JSON.stringify([
      { issuer: 'https://strict.example', jwks },
      { issuer: 'https://wide.example', jwks, algorithms: ['EdDSA', 'RS256', 'ES256'] },
    ]),
  },
});

let connections = 0;
const canary = createServer((_request, response) => response.end('{"keys":[]}'));
canary.on('connection', () => connections++);
let canaryUrl = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
  canaryUrl = `http://127.0.0.1:${(canary.address() as AddressInfo).port}/jwks.json`;
});
afterAll(() => {
  expect(connections).toBe(0);
  canary.close();
});

const rs256 = (text: Buffer): Buffer => sign('sha256', text, rsa.privateKey);
const es256 = (text: Buffer): Buffer =>
  sign('sha256', text, { key: ec.privateKey, dsaEncoding: 'ieee-p1363' });
const hmac =
  (algorithm: string, secret: string | Buffer) =>
  (text: Buffer): Buffer =>
    createHmac(algorithm, secret).update(text).digest();

async function refuse(token: string): Promise<void> {
  for (const face of faces)
    await scene.with('alice', token, face).refused('list_threads', {}, 'UNAUTHORIZED');
}

async function accept(token: string): Promise<void> {
  for (const face of faces) await scene.with('alice', token, face).ok('list_threads', {});
}

/** The keys the hub signs with itself, as its file has them. */
async function ownKeys(): Promise<{ kid: string; public: { x: string } }[]> {
  const { keys } = await keysOf(data);
  return keys.filter((key) => key.private !== undefined) as never;
}

test('[HUB-A1] [C-AUTH-04] alg none is refused in every spelling, with and without a key id', async () => {
  const [own] = await ownKeys();
  const claims = { ...claimsOf({ agent: 'alice' }), iss: 'parley', aud: 'parley' };
  for (const alg of ['none', 'None', 'nOnE', 'NONE', '']) {
    for (const kid of [own?.kid, scene.signer.kid, undefined]) {
      await refuse(joinToken({ alg, kid, typ: 'JWT' }, claims, () => Buffer.alloc(0)));
      await refuse(joinToken({ alg, kid }, claims, () => Buffer.from('x')));
    }
    const unsigned = joinToken({ alg, kid: own?.kid, typ: 'JWT' }, claims, () => Buffer.alloc(0));
    await expectNoWayIn(scene.hub.url, unsigned, 'th_none');
  }
  await refuse(joinToken({ kid: scene.signer.kid }, claims, () => Buffer.alloc(0)));
});

test('[HUB-A1] [C-AUTH-05] the public key is no HMAC secret, in whatever form', async () => {
  const issued = await issueByCommand({ agent: 'alice' }, { data });
  await accept(issued.token);
  const [own] = await ownKeys();
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: own?.public.x ?? '' };
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  const secrets: (string | Buffer)[] = [
    key.export({ type: 'spki', format: 'pem' }).toString(),
    key.export({ type: 'spki', format: 'pem' }).toString().trim(),
    key.export({ type: 'spki', format: 'der' }),
    Buffer.from(jwk.x, 'base64url'),
    jwk.x,
    JSON.stringify(own?.public),
  ];
  const claims = { ...claimsOf({ agent: 'alice' }), iss: 'parley', aud: 'parley' };
  for (const secret of secrets) {
    for (const [alg, algorithm] of [
      ['HS256', 'sha256'],
      ['HS384', 'sha384'],
      ['HS512', 'sha512'],
    ] as const)
      await refuse(joinToken({ alg, kid: own?.kid, typ: 'JWT' }, claims, hmac(algorithm, secret)));
  }
});

test('[C-AUTH-06] which algorithms count is configured, never taken from the header', async () => {
  const claims = claimsOf({ agent: 'alice' });
  const { kid } = scene.signer;
  await refuse(joinToken({ alg: 'RS256', kid }, claims, rs256));
  await refuse(joinToken({ alg: 'ES256', kid }, claims, es256));
  await refuse(joinToken({ alg: 'HS512', kid }, claims, hmac('sha512', 'secret')));
  const from = (issuer: string) => ({ ...claims, iss: issuer, aud: 'parley' });
  await refuse(joinToken({ alg: 'RS256', kid: 'rsa' }, from('https://strict.example'), rs256));
  await refuse(joinToken({ alg: 'ES256', kid: 'ec' }, from('https://strict.example'), es256));
  await accept(joinToken({ alg: 'RS256', kid: 'rsa' }, from('https://wide.example'), rs256));
  await accept(joinToken({ alg: 'ES256', kid: 'ec' }, from('https://wide.example'), es256));
  await refuse(
    joinToken({ alg: 'HS512', kid: 'rsa' }, from('https://wide.example'), hmac('sha512', 'secret')),
  );
});

test('[HUB-A7] tokens of a configured JWKS are accepted for their issuer and audience alone', async () => {
  const eddsa = (text: Buffer): Buffer => sign(null, text, ed.privateKey);
  const claims = { ...claimsOf({ agent: 'alice' }), iss: 'https://strict.example', aud: 'parley' };
  const header = { alg: 'EdDSA', kid: 'ed' };
  await accept(joinToken(header, claims, eddsa));
  await refuse(joinToken(header, { ...claims, aud: 'another' }, eddsa));
  await refuse(joinToken(header, { ...claims, aud: undefined }, eddsa));
  await refuse(joinToken(header, { ...claims, iss: 'https://unknown.example' }, eddsa));
  await refuse(joinToken(header, { ...claims, iss: undefined }, eddsa));
  await refuse(joinToken({ ...header, kid: 'rsa' }, claims, eddsa));
});

test('[HUB-A1] [C-AUTH-07] a key id that is missing, unknown or of another workspace opens nothing', async () => {
  const claims = claimsOf({ agent: 'alice' });
  await refuse(scene.signer.craft(claims, { kid: undefined }));
  await refuse(
    scene.signer.craft({ ...claims, iss: 'https://strict.example', aud: 'parley' }, { kid: undefined }),
  );
  for (const kid of ['unknown', '', 5, null, ['test-key'], '../auth.json', canaryUrl])
    await refuse(scene.signer.craft(claims, { kid }));
  const bound = await registerByCommand('of-w2', { data, workspace: 'w2' });
  await refuse(bound.token({ agent: 'alice', workspace: 'w1' }));
  await accept(bound.token({ agent: 'alice', workspace: 'w2' }));
  expect(connections).toBe(0);
});

test('[HUB-A1] [C-AUTH-17] a token from the future is refused', async () => {
  const now = Math.floor(Date.now() / 1_000);
  const day = 86_400;
  await refuse(scene.signer.token({ agent: 'alice' }, { iat: now + day, exp: now + 3 * day }));
  await refuse(scene.signer.token({ agent: 'alice' }, { nbf: now + day }));
  await accept(scene.signer.token({ agent: 'alice' }, { nbf: now - 1 }));
});

test('[C-AUTH-18] a token may not live longer than the longest lifetime', async () => {
  const now = Math.floor(Date.now() / 1_000);
  const longest = 31 * 86_400;
  await refuse(scene.signer.token({ agent: 'alice' }, { iat: now, exp: now + 3_650 * 86_400 }));
  await refuse(scene.signer.token({ agent: 'alice' }, { iat: now, exp: now + longest + 1 }));
  await accept(scene.signer.token({ agent: 'alice' }, { iat: now, exp: now + longest }));
  const own = await issueByCommand({ agent: 'alice', ttl: '3650d' }, { data }).catch((error: unknown) =>
    String(error),
  );
  expect(own).toMatch(/at most 31d/);
});

test('[C-AUTH-19] a token can neither demand extensions nor bring its own key', async () => {
  const claims = claimsOf({ agent: 'alice' });
  const mallory = createSigner('mallory');
  const jwk = mallory.publicKey.export({ format: 'jwk' });
  const headers: Record<string, unknown>[] = [
    { crit: ['x'], x: 1 },
    { crit: ['exp'] },
    { crit: [] },
    { jku: canaryUrl },
    { x5u: canaryUrl },
    { jwk },
    { x5c: ['MIIB'] },
    { jku: canaryUrl, jwk, x5u: canaryUrl },
  ];
  for (const header of headers) {
    await refuse(scene.signer.craft(claims, header));
    await refuse(mallory.craft(claims, header));
    await refuse(mallory.craft(claims, { ...header, kid: scene.signer.kid }));
    await refuse(
      mallory.craft({ ...claims, iss: 'https://strict.example', aud: 'parley' }, { ...header, kid: 'ed' }),
    );
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(connections).toBe(0);
});

test('[HUB-A1] a token that is no longer what was signed is refused', async () => {
  const good = scene.signer.token({ agent: 'alice' });
  const [header = '', claims = '', signature = ''] = good.split('.');
  const raised = Buffer.from(
    JSON.stringify({
      ...(JSON.parse(Buffer.from(claims, 'base64url').toString()) as object),
      role: 'operator',
    }),
  ).toString('base64url');
  const forged = [
    `${header}.${raised}.${signature}`,
    `${header}.${claims}.`,
    `${header}.${claims}`,
    `${header}.${claims}.${signature}.${signature}`,
    `${header}.${claims}.${signature.slice(0, -4)}AAAA`,
    `${header}..${signature}`,
    `.${claims}.${signature}`,
    `${signature}.${claims}.${header}`,
    '..',
    'x',
    Buffer.from('{}').toString('base64url'),
  ];
  for (const token of forged) await refuse(token);
  await expectNoWayIn(scene.hub.url, forged[0] ?? '', 'th_none');
  await accept(good);
});

test('[C-AUTH-20] two tokens in one request are refused, whichever stands first', async () => {
  const alice = scene.as('alice');
  const bob = scene.as('bob');
  const url = `${scene.hub.url}/v1/list_threads`;
  const json = { 'content-type': 'application/json' };
  const bodies = [];
  const statuses = [400, 400, 400, 400, 401, 401, 401, 401, 401, 401];
  for (const pair of [
    [alice.token, bob.token],
    [bob.token, alice.token],
    [alice.token, alice.token],
    [alice.token, ''],
  ]) {
    const headers = { ...json, authorization: pair.map((token) => `Bearer ${token}`) };
    bodies.push(await send(url, { method: 'POST', headers, body: '{}' }));
  }
  const headers = { ...json, authorization: `Bearer ${alice.token}` };
  for (const query of [`token=${bob.token}`, `token=${alice.token}`, `x=1&token=${bob.token}`])
    bodies.push(await send(`${url}?${query}`, { method: 'POST', headers, body: '{}' }));
  bodies.push(await send(`${scene.hub.url}/v1/threads?token=${bob.token}`, { headers }));
  bodies.push(await send(`${scene.hub.url}/v1/threads?token=${bob.token}`));
  bodies.push(
    await send(url, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${alice.token}, Bearer ${bob.token}` },
      body: '{}',
    }),
  );
  expect(bodies.map(({ status }) => status)).toEqual(statuses);
  for (const { text } of bodies) {
    const { error } = JSON.parse(text) as { error: { code: string; request_id: string } };
    scene.ledger.refusals.push(error);
  }
});

test('[C-AUTH-25] every refused token gets the same words; only the log knows why', async () => {
  const { token: revoked, jti } = await issueByCommand({ agent: 'alice' }, { data });
  await accept(revoked);
  await runJson(['token', 'revoke', jti], { data });
  const claims = claimsOf({ agent: 'alice' });
  const cases: Record<string, string> = {
    'signature verification failed': joinToken({ alg: 'EdDSA', kid: 'test-key' }, claims, () =>
      Buffer.alloc(64),
    ),
    'unknown key (kid nobody)': scene.signer.craft(claims, { kid: 'nobody' }),
    '"exp" claim timestamp check failed': scene.signer.craft({
      ...claims,
      exp: Number(claims['iat']) - 3_600,
    }),
    revoked,
    'issued in the future': scene.signer.craft({ ...claims, iat: Number(claims['iat']) + 3_000 }),
    'claim role is missing or wrong': scene.signer.craft({ ...claims, role: 'root' }),
  };
  const seen = new Set<string>();
  const idByCause = new Map<string, string>();
  for (const [cause, token] of Object.entries(cases)) {
    const answer = await scene.with('alice', token).call('list_threads', {});
    const { request_id = '', ...reported } = answer.error ?? {};
    const { date: _date, 'x-request-id': header, ...headers } = answer.headers;
    expect(header).toBe(request_id);
    seen.add(JSON.stringify([answer.status, reported, { ...headers, 'content-length': '' }]));
    idByCause.set(cause, request_id);
  }
  expect([...seen]).toHaveLength(1);
  await expect.poll(() => [...idByCause.values()].every((id) => scene.hub.stderr().includes(id))).toBe(true);
  for (const [cause, id] of idByCause) {
    const line = scene.hub
      .stderr()
      .split('\n')
      .find((text) => text.includes(id));
    expect((JSON.parse(line ?? '{}') as { why?: string }).why).toBe(cause);
  }
});
