import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { runCli, runJson } from '../harness/run-cli.ts';
import { createSigner, joinToken, type Signer } from '../harness/tokens.ts';
import { startHub } from '../harness/start-hub.ts';
import { toldToAll } from '../harness/told-to-all.ts';
import { useHub } from '../harness/use-hub.ts';
import { WITHOUT_MODEL } from '../harness/without-model.ts';
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

/** Who comes from outside as an agent may write at the top here. */
const anywhere = { ...WITHOUT_MODEL, 'knowledge.agents_create_under': '["root"]' };
const scene = useHub({ settings: { 'quota.bad_tokens_burst': 10_000, ...anywhere } });

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

/** A refusal of the token, with this reason. */
function reported(answer: EnvelopeAnswer, reason: string): Fields {
  const details = bad(answer, 'UNAUTHORIZED');
  expect(details['reason']).toBe(reason);
  return details;
}

const outside = { principal: { sub: 'svc:partner', roles: ['editor', 'agent'] } };
const create = (token: string, more: Fields = {}, args = newPage()) =>
  sendEnvelope(scene.hub.url, token, envelopeOf('knowledge.create_document', args, { ...outside, ...more }));

test('[KNOW-1] one outside is known by the JWS of a registered key, up to the role of that key', async () => {
  const args = newPage();
  good(await create(jws(partner), {}, args));
  const { document } = await scene.as('ed').ok('get_document', { document_id: args.document_id });
  expect(document.created_by).toBe('svc:partner@partner-1');
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

test('a JWS is for this hub, of its own house and for its own subject, or it is refused', async () => {
  const foreign = ['another-service', ['another-service', 'third'], '', []];
  for (const aud of foreign) reported(await create(jws(partner, { aud })), 'wrong_audience');
  for (const aud of [['another-service', 'parley'], undefined]) good(await create(jws(partner, { aud })));
  const strict = await register('strict', scene.hub.data, '--role', 'editor', '--require-audience');
  for (const aud of [...foreign, undefined]) reported(await create(jws(strict, { aud })), 'wrong_audience');
  good(await create(jws(strict)));
  for (const iss of ['https://evil.example', '', 'svc:other'])
    reported(await create(jws(partner, { iss })), 'wrong_issuer');
  for (const iss of ['svc:partner', 'partner-1', 'parley']) good(await create(jws(partner, { iss })));
  const house = await register('house', scene.hub.data, '--issuer', 'https://house.example');
  const agent = { principal: { sub: 'svc:partner', roles: ['agent'] } };
  for (const iss of [undefined, 'svc:partner', 'house', 'parley', 'https://house.example/'])
    reported(await create(jws(house, { iss }), agent), 'wrong_issuer');
  good(await create(jws(house, { iss: 'https://house.example' }), agent));
});

test('[KNOW-7] nobody from outside has the name of one inside, nor one inside the name of an outsider', async () => {
  const context = { context_id: randomUUID() };
  const boss = scene.as('boss', { role: 'orchestrator', workspace: 'w1' });
  const inside = (seq: number, args = newPage()) =>
    sendEnvelope(
      scene.hub.url,
      boss.token,
      envelopeOf('knowledge.create_document', args, {
        principal: { sub: 'boss', roles: ['editor'] },
        ...context,
        seq,
      }),
    );
  good(await inside(5));
  const args = newPage();
  const outsideBoss = { principal: { sub: 'boss', roles: ['editor'] }, ...context };
  const far = { ...outsideBoss, seq: Number.MAX_SAFE_INTEGER };
  expect(good(await create(jws(partner, { sub: 'boss' }), far, args))).toMatchObject({ revision: 1 });
  const { document } = await boss.ok('get_document', { document_id: args.document_id });
  expect(document.created_by).toBe('boss@partner-1');
  // The number of one does not use up that of the other, nor its keys.
  expect(good(await inside(6))).toMatchObject({ revision: 1 });
  const idempotency_key = randomUUID();
  const other = newPage();
  good(await create(jws(partner, { sub: 'boss' }), { ...outsideBoss, idempotency_key, seq: 2 ** 53 - 1 }));
  expect(
    good(
      await sendEnvelope(
        scene.hub.url,
        boss.token,
        envelopeOf('knowledge.create_document', other, {
          principal: { sub: 'boss', roles: ['editor'] },
          idempotency_key,
        }),
      ),
    ),
  ).toMatchObject({ id: other.document_id });
  // Two houses that call themselves the same are two.
  const second = await register('partner-2', scene.hub.data, '--role', 'editor');
  expect(good(await create(jws(second), { ...outside, ...context, seq: 1 }))).toMatchObject({ revision: 1 });
  for (const name of ['boss@partner-1', 'x@partner-2', 'a@b@partner-1'])
    await scene.with(name, scene.signer.token({ agent: name })).refused('list_threads', {}, 'UNAUTHORIZED');
  await scene.as('kim@example.com').ok('list_threads', {});
  // However a key is called, its names are its own, and fit.
  const odd = await register('a key @ home', scene.hub.data);
  const agent = { principal: { sub: 'svc:partner', roles: ['agent'] } };
  const page = newPage();
  good(await create(jws(odd), agent, page));
  const made = await boss.ok('get_document', { document_id: page.document_id });
  expect(made.document.created_by).toMatch(/^svc:partner@key-[0-9a-f]{20}$/);
  const long = 'x'.repeat(120);
  reported(
    await create(jws(partner, { sub: long }), { principal: { sub: long, roles: ['editor'] } }),
    'wrong_subject',
  );
});

test('who has signed is told what is wrong; who has not hears one thing whatever was wrong', async () => {
  const iat = Math.floor(Date.now() / 1_000);
  const bound = await register('bound-2', scene.hub.data, '--subject', 'svc:lone');
  const used = jws(partner);
  good(await create(used));
  const retired = await register('retired', scene.hub.data);
  await runJson(['key', 'retire', 'retired'], { data: scene.hub.data });
  const signed: Record<string, string> = {
    expired: jws(partner, { iat: iat - 900, exp: iat - 600 }),
    not_yet_valid: jws(partner, { iat: iat + 600, exp: iat + 700 }),
    lifetime_too_long: jws(partner, { exp: iat + 100_000 }),
    claim_missing: jws(partner, { nonce: undefined }),
    wrong_tenant: jws(partner, { tenant_id: 'w2' }),
    wrong_subject: jws(bound),
    wrong_role: jws(partner, { roles: ['owner'] }),
    nonce_used: used,
    key_retired: jws(retired),
  };
  for (const [reason, token] of Object.entries(signed)) reported(await create(token), reason);
  reported(await create(jws(partner, { nbf: iat + 600 })), 'not_yet_valid');
  reported(await create(jws(partner, { exp: 'tomorrow' })), 'claim_missing');
  // The token is good, and the envelope is for somebody else.
  expect(bad(await create(jws(partner), { tenant_id: 'w2' }), 'FORBIDDEN')).toMatchObject({
    field: 'tenant_id',
    hint: expect.stringContaining('workspace') as unknown,
  });
  expect(await create(signed['lifetime_too_long'] ?? '')).toMatchObject({
    body: {
      error: {
        message: expect.stringContaining('at most 15 minutes') as unknown,
        details: { limit_ms: 900_000, hint: expect.stringContaining('15 minutes') as unknown },
      },
    },
  });

  // A forger tries the same claims without the key: expired, retired or unknown, all is the same.
  const forger = createSigner('forger');
  const forged = Object.keys(signed).flatMap((reason) => {
    const [, claims = ''] = (signed[reason] ?? '').split('.');
    const read = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Fields;
    return ['partner-1', 'retired', 'bound-2', 'nobody'].map((kid) => forger.craft(read, { kid }));
  });
  const platform = scene.signer.token({ agent: 'ed' }, { exp: iat - 600, iat: iat - 900 });
  const seen = new Set<string>();
  for (const token of [...forged, platform, 'nonsense', '']) {
    const answer = await create(token);
    const { trace_id: _trace, ...details } = reported(answer, 'invalid_token');
    const { date: _date, traceparent: _traceparent, ...headers } = answer.headers;
    const {
      'x-request-id': _id,
      'x-ratelimit-remaining': _left,
      'content-length': _length,
      ...same
    } = headers;
    seen.add(JSON.stringify([answer.status, answer.body.error?.message, details, same]));
  }
  expect([...seen]).toHaveLength(1);
});

test('a subject belongs to one key, and to its successor while they change places', async () => {
  const { data } = scene.hub;
  const first = await register('turn-1', data, '--subject', 'svc:turn');
  const stdin = createSigner('x').publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const add = (kid: string, ...more: string[]) =>
    runCli(['key', 'add', '--public', '-', '--external', '--workspace', 'w1', '--kid', kid, ...more], {
      data,
      stdin,
    });
  const refused = await add('turn-2', '--subject', 'svc:turn');
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--replaces turn-1')]);
  expect((await add('turn-2', '--subject', 'svc:turn', '--replaces', 'partner-1')).code).toBe(2);
  expect((await add('turn-2', '--replaces', 'turn-1')).code).toBe(2);
  const second = await register('turn-2', data, '--subject', 'svc:turn', '--replaces', 'turn-1');
  const speak = (signer: Signer) =>
    create(jws(signer, { sub: 'svc:turn' }), { principal: { sub: 'svc:turn', roles: ['agent'] } });
  good(await speak(first));
  good(await speak(second));
  await runJson(['key', 'retire', 'turn-1'], { data });
  reported(await speak(first), 'key_retired');
  good(await speak(second));
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
  // A good token, and an envelope for another tenant: that is about rights.
  bad(await create(jws(partner), { tenant_id: 'w2' }), 'FORBIDDEN');
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

test("[KNOW-1] [C-AUTH-15] a call over its minute spends no nonce, and who sends a captured JWS again spends nobody else's minute; a nonce is remembered over a restart", async () => {
  const settings = { 'envelope.requests_per_minute': 3 };
  const hub = await startHub({ settings: { ...settings, ...anywhere } });
  const signer = await register('again', hub.data);
  const agent = { principal: { sub: 'svc:partner', roles: ['agent'] } };
  const to = (url: string, token: string) =>
    sendEnvelope(url, token, envelopeOf('knowledge.create_document', newPage(), agent));
  const captured = jws(signer);
  good(await to(hub.url, captured));
  for (let i = 0; i < 3; i++) reported(await to(hub.url, captured), 'nonce_used');
  await toldToAll(hub);
  bad(await to(hub.url, captured), 'RATE_LIMIT_EXCEEDED');
  for (let i = 0; i < 2; i++) good(await to(hub.url, jws(signer)));
  await toldToAll(hub);
  const unspent = jws(signer);
  bad(await to(hub.url, unspent), 'RATE_LIMIT_EXCEEDED');
  await hub.kill();
  const restarted = await startHub({ data: hub.data, settings: { ...settings, ...anywhere } });
  good(await to(restarted.url, unspent));
  reported(await to(restarted.url, captured), 'nonce_used');
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
  expect((await add('--issuer', 'x')).code).toBe(2);
  expect((await add('--external', '--workspace', 'w1', '--subject', 'parley')).code).toBe(2);
  expect((await add('--external', '--workspace', 'w1', '--role', 'king')).code).toBe(2);
});
