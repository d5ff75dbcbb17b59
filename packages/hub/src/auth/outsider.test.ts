import { expect, test } from 'vitest';

import type { KeyRecord } from './key-file.ts';
import { houseOf, readOutsider } from './outsider.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const AT = NOW / 1_000;
const auth = { audience: 'hub', issuer: 'parley', clock_skew_ms: 5_000, external_lifetime_ms: 120_000 };
const said = { sub: 'ann', iat: AT, exp: AT + 60, nonce: 'n', tenant_id: 'w' };
const key = (more: Partial<KeyRecord> = {}): KeyRecord => ({
  kid: 'k1',
  created_at: new Date(NOW).toISOString(),
  public: {},
  ...more,
});
const read = (claims: object = {}, known: Partial<KeyRecord> = {}, limits: object = {}) =>
  readOutsider({ ...said, ...claims }, key(known), { ...auth, ...limits }, NOW);
const reason = (word: string) =>
  expect.objectContaining({ details: expect.objectContaining({ reason: word }) as object }) as Error;

test('one from outside has a name that no other key gives, and is good for its time', () => {
  expect(read()).toEqual({
    kid: 'k1',
    workspace_id: 'w',
    agent_id: 'ann@k1',
    sub: 'ann',
    role: 'owner',
    nonce: 'n',
    until: (AT + 60) * 1_000 + 5_000,
  });
  expect(read({}, { subject: 'ann' }).agent_id).toBe('ann');
  expect(() => read({}, { subject: 'bob' })).toThrow(reason('wrong_subject'));
  expect(() => read({ sub: 'a'.repeat(126) })).toThrow(reason('wrong_subject'));
});

test('what a claim lacks, or has wrong, is told by its name', () => {
  for (const name of ['sub', 'iat', 'exp', 'nonce'] as const)
    expect(() => read({ [name]: undefined })).toThrow(
      expect.objectContaining({
        reason: `claim ${name} is missing or wrong`,
        details: { reason: 'claim_missing' },
      }) as Error,
    );
});

test('it is of now, within what clocks differ by, and does not live too long', () => {
  expect(() => read({ iat: AT + 5, exp: AT + 60 })).not.toThrow();
  expect(() => read({ iat: AT + 6, exp: AT + 60 })).toThrow(reason('not_yet_valid'));
  expect(() => read({ exp: AT + 120 })).not.toThrow();
  const tooLong = (limit_ms: number, limit: string) =>
    expect.objectContaining({
      message: `the token lives too long: exp may lie at most ${limit} after iat`,
      details: { reason: 'lifetime_too_long', limit_ms, hint: expect.stringContaining(limit) as string },
    }) as Error;
  expect(() => read({ exp: AT + 121 })).toThrow(tooLong(120_000, '2 minutes'));
  expect(() => read({ exp: AT + 100 }, {}, { external_lifetime_ms: 90_000 })).toThrow(
    tooLong(90_000, '90 seconds'),
  );
});

test('an audience is the hub where one is named, or must be', () => {
  for (const aud of [undefined, 'hub', ['other', 'hub']]) expect(() => read({ aud })).not.toThrow();
  for (const aud of ['other', ['other'], []]) expect(() => read({ aud })).toThrow(reason('wrong_audience'));
  expect(() => read({}, { audience: 'required' })).toThrow(reason('wrong_audience'));
  expect(() => read({ aud: 'hub' }, { audience: 'required' })).not.toThrow();
});

test('an issuer is the one of its key, else itself, its key, the hub or nobody', () => {
  for (const iss of [undefined, 'ann', 'k1', 'parley']) expect(() => read({ iss })).not.toThrow();
  expect(() => read({ iss: 'other' })).toThrow(reason('wrong_issuer'));
  expect(() => read({ iss: 'house' }, { issuer: 'house' })).not.toThrow();
  for (const iss of [undefined, 'ann'])
    expect(() => read({ iss }, { issuer: 'house' })).toThrow(reason('wrong_issuer'));
});

test('a workspace is that of the key, or of the token where the key names none', () => {
  expect(read({}, { workspace: 'w' }).workspace_id).toBe('w');
  expect(read({ tenant_id: undefined }, { workspace: 'v' }).workspace_id).toBe('v');
  expect(() => read({}, { workspace: 'v' })).toThrow(reason('wrong_tenant'));
  expect(() => read({ tenant_id: undefined })).toThrow(reason('wrong_tenant'));
});

test('a role is the mightiest of those that the token names and the key allows', () => {
  expect(read({}, { role: 'agent' }).role).toBe('agent');
  expect(read({ roles: ['agent', 'editor'] }).role).toBe('editor');
  expect(read({ roles: ['owner', 'agent'] }, { role: 'editor' }).role).toBe('agent');
  // What some clients call them.
  expect(read({ roles: ['codex'] }).role).toBe('editor');
  expect(read({ roles: ['cursor'] }).role).toBe('agent');
  expect(() => read({ roles: ['owner'] }, { role: 'agent' })).toThrow(reason('wrong_role'));
  for (const roles of [[], ['king']]) expect(() => read({ roles })).toThrow(reason('wrong_role'));
});

test('what stands behind the @ is the key, or a digest where its name would not do', () => {
  expect(houseOf('k.1:a-b_c')).toBe('k.1:a-b_c');
  expect(houseOf('x'.repeat(64))).toBe('x'.repeat(64));
  for (const kid of ['x'.repeat(65), 'a b', 'a@b', 'ä']) expect(houseOf(kid)).toMatch(/^key-[0-9a-f]{20}$/);
  expect(houseOf('a b')).not.toBe(houseOf('a c'));
});
