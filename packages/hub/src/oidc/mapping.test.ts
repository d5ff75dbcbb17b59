import { expect, test } from 'vitest';

import type { OidcRule } from '../config/oidc-settings.ts';
import { claimText, type IssuerClaims, mapClaims } from './mapping.ts';

const rule = (more: Partial<OidcRule>): OidcRule => ({
  claim: 'groups',
  workspaces: ['w1'],
  role: 'worker',
  ...more,
});

const nameOf = (claims: IssuerClaims): string | undefined => claimText(claims, 'preferred_username');

const map = (claims: IssuerClaims, ...rules: OidcRule[]) =>
  mapClaims({ preferred_username: 'kim', ...claims }, rules, nameOf);

test('a claim matches by its whole value, as one of a list, by a way through objects, and as a scope', () => {
  const matches = (claims: IssuerClaims, more: Partial<OidcRule>): boolean =>
    map(claims, rule(more)) !== 'nobody';
  expect(matches({ groups: ['a', 'staff'] }, { value: 'staff' })).toBe(true);
  expect(matches({ groups: 'staff' }, { value: 'staff' })).toBe(true);
  expect(matches({ groups: ['staffers'] }, { value: 'staff' })).toBe(false);
  expect(matches({ groups: [['staff']] }, { value: 'staff' })).toBe(false);
  expect(matches({ groups: [{ toString: () => 'staff' }] }, { value: 'staff' })).toBe(false);
  expect(matches({ realm: { roles: ['x'] } }, { claim: 'realm.roles', value: 'x' })).toBe(true);
  expect(matches({ 'https://a.example/r': 'x' }, { claim: 'https://a.example/r', value: 'x' })).toBe(true);
  expect(matches({ scope: 'openid parley' }, { claim: 'scope', value: 'parley' })).toBe(true);
  expect(matches({ scope: 'openid parley-not' }, { claim: 'scope', value: 'parley' })).toBe(false);
  expect(matches({ admin: true }, { claim: 'admin', value: 'true' })).toBe(true);
  expect(matches({ admin: false }, { claim: 'admin' })).toBe(false);
  expect(matches({ sub: 'u' }, { claim: 'sub' })).toBe(true);
});

test('what stands on every object is no claim, and an address that nobody verified is none', () => {
  for (const claim of ['constructor', '__proto__', 'toString', 'groups.constructor'])
    expect(map({ groups: ['x'] }, rule({ claim })), claim).toBe('nobody');
  const byMail = rule({ claim: 'email', value: 'kim@example.com' });
  const email = 'kim@example.com';
  expect(map({ email }, byMail)).toBe('nobody');
  expect(map({ email, email_verified: 'true' }, byMail)).toBe('nobody');
  expect(map({ email, email_verified: true }, byMail)).toMatchObject({ name: 'kim' });
  expect(claimText({ email }, 'email')).toBeUndefined();
});

test('every rule that matches gives its workspaces, and of two for one the first counts', () => {
  const mapped = map(
    { groups: ['a', 'b'] },
    rule({ value: 'a', workspaces: ['w1', 'w2'], role: 'observer' }),
    rule({ value: 'b', workspaces: ['w2', 'w3'], role: 'operator', read_only: true }),
    rule({ value: 'c', workspaces: ['w4'], role: 'operator' }),
  );
  expect(mapped).toEqual({
    name: 'kim',
    named: false,
    places: [
      { workspace_id: 'w1', role: 'observer', read_only: false },
      { workspace_id: 'w2', role: 'observer', read_only: false },
      { workspace_id: 'w3', role: 'operator', read_only: true },
    ],
  });
});

test('a rule may name whom it matches; else the claim must hold a name that can be borne', () => {
  expect(map({ sub: 'u-1' }, rule({ claim: 'sub', value: 'u-1', name: 'boss' }))).toMatchObject({
    name: 'boss',
    named: true,
  });
  for (const preferred_username of [undefined, '', 'system', 'a b', '-x', 7])
    expect(map({ groups: ['x'], preferred_username }, rule({}))).toBe('nameless');
});
