import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { StateFiles } from '@parley/core';
import { ParleyError } from '@parley/protocol';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';

import type { Config } from '../config/schema.ts';
import { type KeyFile, type KeyRecord, MAX_KEY_AGE_MS, WARN_KEY_AGE_MS } from './key-file.ts';
import { createVerifier, type Verifier } from './verifier.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const AT = NOW / 1_000;
const SKEW_MS = 5_000;
type Pair = Awaited<ReturnType<typeof generateKeyPair>>;

let pair: Pair;
let other: Pair;
let jwk: Record<string, unknown>;
beforeAll(async () => {
  [pair, other] = [await generateKeyPair('EdDSA', { extractable: true }), await generateKeyPair('EdDSA')];
  jwk = { ...(await exportJWK(pair.publicKey)) };
});

let now: number;
let file: KeyFile;
let revision: number;
let warnings: string[];
let freshness: Promise<void> | undefined;
beforeEach(() => {
  [now, revision] = [NOW, 1];
  warnings = [];
  freshness = undefined;
  file = { keys: [own()], revoked: [] };
});

const own = (more: Partial<KeyRecord> = {}): KeyRecord => ({
  kid: 'k',
  created_at: new Date(NOW - 1_000).toISOString(),
  public: jwk,
  private: {},
  ...more,
});
const registered = (more: Partial<KeyRecord> = {}): KeyRecord => {
  const { private: _private, ...key } = own(more);
  return key;
};

function open(auth: object = {}): Verifier {
  const stateFiles = {
    shared: false,
    look: () => ({ revision: String(revision), text: JSON.stringify(file) }),
    fresh: () => freshness,
  } as unknown as StateFiles;
  const settings = {
    issuer: 'parley',
    audience: 'hub',
    clock_skew_ms: SKEW_MS,
    max_lifetime_ms: 3_600_000,
    external_lifetime_ms: 600_000,
    issuers: [],
    cache: 2,
    ...auth,
  };
  const config = { auth: settings } as unknown as Pick<Config, 'auth'>;
  return createVerifier({ config, stateFiles, now: () => now, warn: (text) => warnings.push(text) });
}
const change = (to: Partial<KeyFile>): void => {
  file = { ...file, ...to };
  revision++;
};

const CLAIMS = {
  agent_id: 'ann',
  workspace_id: 'w',
  role: 'worker',
  session_id: 's',
  iss: 'parley',
  aud: 'hub',
  iat: AT,
  exp: AT + 600,
  jti: 'j1',
};
const sign = (claims: object = {}, header: object = {}, by = pair): Promise<string> =>
  new SignJWT({ ...CLAIMS, ...claims })
    .setProtectedHeader({ alg: 'EdDSA', kid: 'k', ...header })
    .sign(by.privateKey);
const refused = (reason: string) =>
  expect.objectContaining({
    code: 'UNAUTHORIZED',
    reason: expect.stringContaining(reason) as string,
  }) as Error;
const rejects = async (token: Promise<string> | string, reason: string, verifier = open()) =>
  expect(verifier.verify(await token)).rejects.toThrow(refused(reason));

test('[HUB-A1] a token of the hub’s own key says who somebody is', async () => {
  const claims = await open().verify(await sign());
  expect(claims).toMatchObject({ agent_id: 'ann', workspace_id: 'w', role: 'worker', session_id: 's' });
});

test('a token that is none, is too long, or is signed by another is refused in the same words', async () => {
  await rejects('x.y.z', '');
  await rejects('x'.repeat(8_193), 'too long');
  await expect(open().verify('x'.repeat(8_192))).rejects.not.toThrow(refused('too long'));
  await rejects(sign({}, {}, other), 'signature');
  await rejects(sign({}, { kid: undefined }), 'no kid');
  await rejects(sign({}, { kid: 'unknown' }), 'unknown key (kid unknown)');
  await rejects(sign({}, { kid: 'x'.repeat(100) }), `(kid ${'x'.repeat(64)})`);
  for (const name of ['jku', 'jwk', 'x5u', 'x5c'])
    await rejects(sign({}, { [name]: 'x' }), `brings its own key (${name})`);
  const error = await open()
    .verify('x')
    .catch((one: unknown) => one);
  expect(error).toMatchObject({ message: expect.stringContaining('a valid token is needed') as string });
  expect((error as ParleyError).details).toBeUndefined();
});

test('issuer and audience are the hub’s: of its own key always, of a registered one where they are named', async () => {
  await rejects(sign({ iss: 'other' }), 'another issuer');
  await rejects(sign({ iss: undefined }), 'another issuer');
  await rejects(sign({ aud: 'other' }), 'another audience');
  await rejects(sign({ aud: undefined }), 'another audience');
  await expect(open().verify(await sign({ aud: ['other', 'hub'] }))).resolves.toBeDefined();
  file = { keys: [registered()], revoked: [] };
  await expect(open().verify(await sign({ iss: undefined, aud: undefined }))).resolves.toBeDefined();
  await rejects(sign({ iss: 'other' }), 'another issuer');
  await rejects(sign({ aud: 'other' }), 'another audience');
  file = { keys: [registered({ workspace: 'v' })], revoked: [] };
  await rejects(sign(), 'the key speaks for another workspace');
  await expect(open().verify(await sign({ workspace_id: 'v' }))).resolves.toBeDefined();
  file = { keys: [registered({ external: true })], revoked: [] };
  await rejects(sign(), 'the key of an outsider');
});

test('claims are whole, of now and not for too long', async () => {
  await rejects(sign({ agent_id: undefined }), 'claim agent_id is missing or wrong');
  await expect(open().verify(await sign({ iat: AT + 5 }))).resolves.toBeDefined();
  await rejects(sign({ iat: AT + 6 }), 'issued in the future');
  await expect(open().verify(await sign({ exp: AT + 3_600 }))).resolves.toBeDefined();
  await rejects(sign({ exp: AT + 3_601 }), 'lives too long');
  await expect(open().verify(await sign({ iat: AT - 60, exp: AT - 4 }))).resolves.toBeDefined();
  await rejects(sign({ iat: AT - 60, exp: AT - 5 }), 'exp');
  change({ revoked: [{ jti: 'j1', at: new Date(NOW).toISOString(), until: new Date(NOW).toISOString() }] });
  await rejects(sign(), 'revoked');
});

test('[HUB-A1] a token of an issuer is good by the keys of that issuer, for its audience and in its algorithms', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-issuer-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const jwks = join(folder, 'keys.json');
  writeFileSync(jwks, JSON.stringify({ keys: [{ ...jwk, kid: 'h' }] }));
  const house = { issuer: 'house', jwks, audience: 'desk', algorithms: ['EdDSA'] };
  const from = (more: object = {}) =>
    open({
      issuers: [
        { ...house, issuer: 'first' },
        { ...house, ...more },
      ],
    });
  const issued = (claims: object = {}, by = pair) =>
    sign({ iss: 'house', aud: 'desk', ...claims }, { kid: 'h' }, by);
  const verifier = from();
  const claims = await verifier.verify(await issued());
  const until = (AT + 600) * 1_000 + SKEW_MS;
  expect(verifier.origin(claims)).toStrictEqual({ claims, kid: 'h', issuer: 'house', until });
  // Its key is none of the hub's file, and need not be.
  expect(() => verifier.recheck(claims)).not.toThrow();
  await rejects(issued({ iss: 'other' }), 'unknown key', verifier);
  await rejects(issued({ aud: 'hub' }), 'aud', verifier);
  await rejects(issued({}, other), 'signature', verifier);
  await rejects(issued({ iat: AT - 60, exp: AT - 5 }), 'exp', verifier);
  await rejects(issued(), 'alg', from({ algorithms: ['RS256'] }));
  // Of one whose keys cannot be had nobody knows whether it is good.
  const away = from({ jwks: 'https://127.0.0.1:1/keys' });
  await expect(away.verify(await issued())).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});

test('clocks that differ by less than a second are forgiven a whole one', async () => {
  const verifier = open({ clock_skew_ms: 1 });
  await expect(verifier.verify(await sign({ iat: AT - 60, exp: AT }))).resolves.toBeDefined();
  await rejects(sign({ iat: AT - 60, exp: AT - 1 }), 'exp', verifier);
});

test('a key that is retired or too old signs nothing, and one that grows old is warned of once', async () => {
  const at = (ms: number): string => new Date(NOW + ms).toISOString();
  file = { keys: [own({ retired_at: at(0) })], revoked: [] };
  await rejects(sign(), 'the key is retired');
  await rejects(sign({}, {}, other), 'signature');
  for (const [age, isGood] of [
    [-MAX_KEY_AGE_MS, true],
    [-MAX_KEY_AGE_MS - 1, false],
    [MAX_KEY_AGE_MS, true],
    [MAX_KEY_AGE_MS + 1, false],
  ] as const) {
    file = { keys: [own({ created_at: at(age) })], revoked: [] };
    if (isGood) await expect(open().verify(await sign())).resolves.toBeDefined();
    else await rejects(sign(), 'older than 90 days');
  }
  warnings = [];
  file = { keys: [own({ created_at: at(-WARN_KEY_AGE_MS) })], revoked: [] };
  const verifier = open({ cache: 0 });
  await verifier.verify(await sign());
  expect(warnings).toEqual([]);
  now += 1;
  for (let again = 0; again < 2; again++) await verifier.verify(await sign());
  expect(warnings).toEqual([expect.stringContaining('key k is more than 80 days old')]);
});

test('a token that was verified is known until its time or that of its key is over', async () => {
  const verifier = open();
  const token = await sign();
  expect(verifier.known(token)).toBeUndefined();
  const claims = await verifier.verify(token);
  expect(verifier.known(token)).toBe(claims);
  expect(await verifier.verify(token)).toBe(claims);
  now = (AT + 600) * 1_000 + SKEW_MS - 1;
  expect(verifier.known(token)).toBe(claims);
  now += 1;
  expect(verifier.known(token)).toBeUndefined();
  now = NOW;
  expect(verifier.known(token)).toBeUndefined();
  file = { keys: [own({ created_at: new Date(NOW - MAX_KEY_AGE_MS + 1_000).toISOString() })], revoked: [] };
  const old = open();
  await old.verify(token);
  now = NOW + 999;
  expect(old.known(token)).toBeDefined();
  now = NOW + 1_000;
  expect(old.known(token)).toBeUndefined();
});

test('so many tokens are kept in mind, the first of them forgotten first; none where none are wanted', async () => {
  const verifier = open();
  const tokens = await Promise.all(['j1', 'j2', 'j3'].map((jti) => sign({ jti })));
  for (const token of tokens) await verifier.verify(token);
  expect(tokens.map((token) => verifier.known(token)?.jti)).toEqual([undefined, 'j2', 'j3']);
  const forgetful = open({ cache: 0 });
  await forgetful.verify(tokens[0]!);
  expect(forgetful.known(tokens[0]!)).toBeUndefined();
});

test('the keys are read again when they have changed, and what was known by the old ones is not known any more', async () => {
  const verifier = open();
  const token = await sign();
  const claims = await verifier.verify(token);
  verifier.recheck(claims);
  change({ keys: [own({ retired_at: new Date(NOW).toISOString() })] });
  expect(verifier.known(token)).toBeUndefined();
  expect(() => verifier.recheck(claims)).toThrow(refused('the key is retired'));
  change({ keys: [own()] });
  expect(() => verifier.recheck(claims)).not.toThrow();
  now = (AT + 600) * 1_000 + SKEW_MS;
  expect(() => verifier.recheck(claims)).toThrow(refused('expired'));
  now -= 1;
  expect(() => verifier.recheck(claims)).not.toThrow();
  change({ revoked: [{ jti: 'j1', at: new Date(NOW).toISOString(), until: new Date(NOW).toISOString() }] });
  expect(() => verifier.recheck(claims)).toThrow(refused('revoked'));
  expect(() => verifier.recheck({ ...claims })).toThrow(refused('expired'));
});

test('a recheck asks for what others have changed, and waits for nobody', async () => {
  const verifier = open();
  const claims = await verifier.verify(await sign());
  freshness = Promise.reject(new Error('not now'));
  expect(() => verifier.recheck(claims)).not.toThrow();
  await expect(verifier.fresh()).rejects.toThrow('not now');
});

test('what was checked against keys that have changed meanwhile is not kept in mind', async () => {
  const verifier = open();
  const token = await sign();
  const checking = verifier.verify(token);
  change({ keys: [own({ retired_at: new Date(NOW).toISOString() })] });
  verifier.isOutside('x');
  await checking.catch(() => {});
  expect(verifier.known(token)).toBeUndefined();
});

test('claims that another node has verified hold here as they do there', async () => {
  const claims = await open().verify(await sign());
  const verifier = open();
  expect(verifier.origin(claims)).toBeUndefined();
  expect(verifier.grantOf(claims)).toBeUndefined();
  const origin = { claims, kid: 'k', until: NOW + 1 };
  expect(verifier.adopt(origin)).toBe(claims);
  expect(verifier.origin(claims)).toBe(origin);
  expect(verifier.grantOf(claims)).toStrictEqual({ jti: 'j1', kid: 'k', devices: [] });
  verifier.adopt({ ...origin, issuer: 'house' });
  expect(verifier.grantOf(claims)).toStrictEqual({ jti: 'j1', kid: 'k', issuer: 'house', devices: [] });
});

test('a grant ends with its token, with its key, and with its issuer', () => {
  const at = new Date(NOW).toISOString();
  file = {
    keys: [own(), own({ kid: 'old', retired_at: at })],
    revoked: [{ jti: 'gone', at, until: at }],
  };
  const issuers = [
    { issuer: 'house', jwks: 'https://house.example/keys', audience: 'hub', algorithms: ['EdDSA'] },
  ];
  const verifier = open({ issuers: [...issuers, { ...issuers[0], issuer: 'second house' }] });
  const ended = (grant: object) => verifier.ended({ devices: [], ...grant });
  expect(ended({ jti: 'gone', kid: 'k' })).toBe(true);
  expect(ended({ jti: 'j', kid: 'k' })).toBe(false);
  expect(ended({ jti: 'j', kid: 'old' })).toBe(true);
  expect(ended({ jti: 'j', kid: 'unknown' })).toBe(true);
  expect(ended({ jti: 'j', kid: 'unknown', issuer: 'house' })).toBe(false);
  expect(ended({ jti: 'j', kid: 'unknown', issuer: 'other' })).toBe(true);
  expect(ended({})).toBe(false);
});

test('a name of those outside is borne by nobody else', async () => {
  file = { keys: [own(), registered({ kid: 'house', external: true })], revoked: [] };
  const verifier = open();
  // A key of the hub's own is no house.
  const outside = ['ann@house', 'ann@other', 'ann', '@house', 'a@b@house', 'ann@k'];
  expect(outside.map((name) => verifier.isOutside(name))).toEqual([true, false, false, false, true, false]);
  await rejects(sign({ agent_id: 'ann@house' }), 'the name of an outsider', verifier);
});

test('a JWS of one outside is told apart from a token of the platform', async () => {
  const outside = { sub: 'ann', iat: AT, exp: AT + 60, nonce: 'n', tenant_id: 'w', agent_id: undefined };
  const jws = (claims: object = {}, header: object = {}, by = pair) =>
    sign({ ...outside, iss: undefined, aud: undefined, jti: undefined, ...claims }, header, by);
  const external = async (token: Promise<string> | string, verifier = open()) =>
    verifier.external(await token);
  expect(await external(jws())).toBeUndefined();
  expect(await external(jws({}, { kid: 'unknown' }))).toBeUndefined();
  file = { keys: [registered()], revoked: [] };
  expect(await external(jws())).toMatchObject({ agent_id: 'ann@k', workspace_id: 'w', nonce: 'n' });
  expect(await external(jws({ agent_id: 'ann' }))).toBeUndefined();
  file = { keys: [registered({ external: true })], revoked: [] };
  expect(await external(jws({ agent_id: 'ann' }))).toMatchObject({ agent_id: 'ann@k' });
  for (const [token, reason, told] of [
    ['x'.repeat(8_193), 'too long', undefined],
    ['x'.repeat(8_192), 'not a token', undefined],
    ['x', 'not a token', undefined],
    [jws({}, { jku: 'x' }), 'brings its own key', undefined],
    [jws({}, {}, other), 'signature', undefined],
    [jws({ exp: AT - 6, iat: AT - 60 }), 'exp', 'expired'],
    [jws({ nbf: AT + 60 }), 'nbf', 'not_yet_valid'],
    [jws({ nbf: 'x' }), 'nbf', 'claim_missing'],
    [jws({ exp: 'x' }), 'exp', 'claim_missing'],
    [jws({ nonce: undefined }), 'claim nonce', 'claim_missing'],
  ] as const) {
    const error = await external(token).catch((one: unknown) => one);
    expect(error).toMatchObject({ code: 'UNAUTHORIZED', reason: expect.stringContaining(reason) as string });
    expect((error as ParleyError).details).toEqual(told === undefined ? undefined : { reason: told });
  }
});

test('the key of one outside grows old as any other, and a record that does not answer is no fault of its token', async () => {
  const token = await sign({ sub: 'ann', exp: AT + 60, nonce: 'n', tenant_id: 'w' });
  const created_at = new Date(NOW - WARN_KEY_AGE_MS - 1).toISOString();
  file = { keys: [registered({ external: true, created_at })], revoked: [] };
  const verifier = open();
  for (let again = 0; again < 2; again++) await verifier.external(token);
  expect(warnings).toEqual([expect.stringContaining('key k is more than 80 days old')]);
  freshness = Promise.reject(new ParleyError('UNAVAILABLE', 'no record now'));
  await expect(verifier.external(token)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
});
