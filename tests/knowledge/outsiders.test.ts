import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { runCli, runJson } from '../harness/run-cli.ts';
import { createSigner, joinToken, type Signer } from '../harness/tokens.ts';
import { startHub } from '../harness/start-hub.ts';
import { useHub } from '../harness/use-hub.ts';
import { bad, envelopeOf, type Fields, good, jws, newPage, sendEnvelope } from './envelope-client.ts';

const scene = useHub({ settings: { 'quota.bad_tokens_burst': 10_000 } });

/** Whoever connects here was led here by a token. */
let visits = 0;
const canary = createServer((socket) => {
  visits += 1;
  socket.destroy();
});
let canaryUrl = '';
let partner: Signer;

async function register(kid: string, data: string, ...more: string[]): Promise<Signer> {
  const signer = createSigner(kid);
  const stdin = signer.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const named = ['--kid', kid, '--workspace', 'w1', '--external', ...more];
  await runJson(['key', 'add', '--public', '-', ...named], { data, stdin });
  return signer;
}

beforeAll(async () => {
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
  canaryUrl = `http://127.0.0.1:${(canary.address() as AddressInfo).port}/`;
  partner = await register('partner-1', scene.hub.data, '--role', 'editor');
});
afterAll(() => {
  canary.close();
  expect(visits).toBe(0);
});

const outside = { principal: { sub: 'svc:partner', roles: ['editor', 'agent'] } };
const create = (token: string, more: Fields = {}, args = newPage()) =>
  sendEnvelope(scene.hub.url, token, envelopeOf('knowledge.create_document', args, { ...outside, ...more }));

test('[KNOW-1] one outside is known by the JWS of a registered key, up to the role of that key', async () => {
  const args = newPage();
  good(await create(jws(partner), {}, args));
  const { document } = await scene.as('ed').ok('get_document', { document_id: args.document_id });
  expect(document.created_by).toBe('svc:partner');
  const update = {
    document_id: args.document_id,
    patch: { metadata: { title: 'y' } },
    update_mask: ['metadata.title'],
  };
  const change = (token: string, roles: string[]) =>
    sendEnvelope(
      scene.hub.url,
      token,
      envelopeOf('knowledge.update_document', update, { principal: { sub: 'svc:partner', roles } }),
    );
  good(await change(jws(partner, { roles: ['codex'] }), ['editor']));
  bad(await change(jws(partner, { roles: ['agent'] }), ['editor']), 'FORBIDDEN');
  bad(await change(jws(partner), ['owner']), 'FORBIDDEN');
  bad(await change(jws(partner, { roles: ['owner'] }), ['owner']), 'UNAUTHORIZED');
  const bound = await register('bound', scene.hub.data, '--subject', 'svc:only');
  bad(await create(jws(bound)), 'UNAUTHORIZED');
  const agent = { principal: { sub: 'svc:only', roles: ['agent'] } };
  good(await create(jws(bound, { sub: 'svc:only' }), agent));
});

test('[KNOW-1] the key of an outsider opens no other face', async () => {
  const platform = partner.token({ agent: 'mallory', role: 'operator' });
  await scene.with('mallory', platform).refused('list_threads', {}, 'UNAUTHORIZED');
  await scene.with('mallory', jws(partner)).refused('list_threads', {}, 'UNAUTHORIZED');
  bad(await create(platform, { principal: { sub: 'mallory', roles: ['owner'] } }), 'UNAUTHORIZED');
});

test('[KNOW-1] [C-AUTH-14] [C-AUTH-07] a JWS without kid, exp, iat or nonce, or of another tenant, is refused', async () => {
  for (const claim of ['exp', 'iat', 'nonce', 'sub'])
    bad(await create(jws(partner, { [claim]: undefined })), 'UNAUTHORIZED');
  for (const nonce of ['', 5, 'x'.repeat(300)]) bad(await create(jws(partner, { nonce })), 'UNAUTHORIZED');
  for (const kid of [undefined, 'unknown', 5]) bad(await create(jws(partner, {}, { kid })), 'UNAUTHORIZED');
  bad(await create(jws(partner, { tenant_id: 'w2' })), 'UNAUTHORIZED');
  bad(await create(jws(partner), { tenant_id: 'w2' }), 'UNAUTHORIZED');
  good(await create(jws(partner, { tenant_id: 'w1' })));
});

test('[KNOW-1] [C-AUTH-04] [C-AUTH-06] other algorithms than Ed25519 are refused', async () => {
  const iat = Math.floor(Date.now() / 1_000);
  const claims = () => ({ sub: 'svc:partner', iat, exp: iat + 300, nonce: randomUUID() });
  for (const alg of ['none', 'None', 'nOnE', 'NONE', ''])
    bad(await create(joinToken({ alg, kid: 'partner-1' }, claims(), () => Buffer.alloc(0))), 'UNAUTHORIZED');
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const publicKey = partner.publicKey.export({ type: 'spki', format: 'der' });
  const stranger = generateKeyPairSync('ed25519').privateKey;
  const signatures: Record<string, (text: Buffer) => Buffer> = {
    RS256: (text) => sign('sha256', text, rsa),
    ES256: (text) => sign('sha256', text, { key: ec, dsaEncoding: 'ieee-p1363' }),
    HS512: (text) => createHmac('sha512', Buffer.alloc(64, 1)).update(text).digest(),
    HS256: (text) => createHmac('sha256', publicKey).update(text).digest(),
    EdDSA: (text) => sign(null, text, stranger),
  };
  for (const [alg, signText] of Object.entries(signatures))
    bad(await create(joinToken({ alg, kid: 'partner-1' }, claims(), signText)), 'UNAUTHORIZED');
});

test('[KNOW-1] [C-AUTH-15] [C-AUTH-16] a nonce is good for once, however its token is spelled', async () => {
  const token = jws(partner);
  good(await create(token));
  bad(await create(token), 'UNAUTHORIZED');
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  for (const last of letters) bad(await create(`${token.slice(0, -1)}${last}`), 'UNAUTHORIZED');
  const crowd = jws(partner);
  const answers = await Promise.all(Array.from({ length: 50 }, () => create(crowd)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  const nonce = randomUUID();
  good(await create(jws(partner, { nonce })));
  bad(await create(jws(partner, { nonce })), 'UNAUTHORIZED');
});

test('[KNOW-1] [C-AUTH-15] a nonce is remembered over a restart', async () => {
  const hub = await startHub();
  const signer = await register('again', hub.data);
  const agent = { principal: { sub: 'svc:partner', roles: ['agent'] } };
  const token = jws(signer);
  const to = (url: string, args: Fields) =>
    sendEnvelope(url, token, envelopeOf('knowledge.create_document', args, agent));
  good(await to(hub.url, newPage()));
  await hub.kill();
  const restarted = await startHub({ data: hub.data });
  bad(await to(restarted.url, newPage()), 'UNAUTHORIZED');
  await restarted.stop();
});

test('[KNOW-1] [C-AUTH-18] a JWS that lives too long, or comes from the future, is refused', async () => {
  const iat = Math.floor(Date.now() / 1_000);
  bad(await create(jws(partner, { iat, exp: iat + 315_360_000 })), 'UNAUTHORIZED');
  bad(await create(jws(partner, { iat, exp: iat + 901 })), 'UNAUTHORIZED');
  bad(await create(jws(partner, { iat: iat + 86_400, exp: iat + 86_700 })), 'UNAUTHORIZED');
  bad(await create(jws(partner, { iat: iat - 900, exp: iat - 600 })), 'UNAUTHORIZED');
  good(await create(jws(partner, { iat, exp: iat + 900 })));
});

test('[KNOW-1] a JWS that brings its own key or demands what is not understood is refused', async () => {
  for (const header of [
    { crit: ['x'], x: 1 },
    { jku: canaryUrl },
    { x5u: canaryUrl },
    { jwk: partner.publicKey.export({ format: 'jwk' }) },
  ])
    bad(await create(jws(partner, {}, header)), 'UNAUTHORIZED');
});

test('[KNOW-1] a retired key is refused from the next envelope on; the newer one goes on', async () => {
  const [older, newer] = [
    await register('older', scene.hub.data, '--role', 'agent'),
    await register('newer', scene.hub.data),
  ];
  good(await create(jws(older), { principal: { sub: 'svc:partner', roles: ['agent'] } }));
  await runJson(['key', 'retire', 'older'], { data: scene.hub.data });
  bad(await create(jws(older), { principal: { sub: 'svc:partner', roles: ['agent'] } }), 'UNAUTHORIZED');
  good(await create(jws(newer), { principal: { sub: 'svc:partner', roles: ['agent'] } }));
});

test('a key for outsiders needs a workspace, and other keys take neither role nor subject', async () => {
  const stdin = createSigner('x').publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const add = (...args: string[]) =>
    runCli(['key', 'add', '--public', '-', ...args], { data: scene.hub.data, stdin });
  expect((await add('--external')).code).toBe(2);
  expect((await add('--role', 'editor')).code).toBe(2);
  expect((await add('--external', '--workspace', 'w1', '--role', 'king')).code).toBe(2);
});
