import { hash } from 'node:crypto';

import {
  AgentName,
  Claims,
  ENVELOPE_ROLES,
  type EnvelopeRole,
  ROLE_ALIASES,
  entriesOf,
} from '@parley/protocol';
import type { JWTPayload } from 'jose';
import * as z from 'zod';

import type { Config } from '../config/schema.ts';
import type { KeyRecord } from './key-file.ts';
import { TokenRefused } from './token-refused.ts';

/** Whom a JWS from outside speaks for, and the nonce that makes it good for once. */
export interface Outsider {
  kid: string;
  /** The workspace that the key, or else the token, names. */
  workspace_id: string;
  /** The name it has inside, which no other key and no token gives. */
  agent_id: string;
  /** The name it calls itself by. */
  sub: string;
  role: EnvelopeRole;
  nonce: string;
  /** Wall-clock moment after which it is refused anyway. */
  until: number;
}

/** What a JWS from outside must carry. */
const OutsiderClaims = z.object({
  sub: AgentName,
  iat: Claims.shape.iat,
  exp: Claims.shape.exp,
  nonce: z.string().min(1).max(256),
  aud: z.union([z.string(), z.array(z.string()).max(16)]).optional(),
  iss: z.string().max(256).optional(),
  tenant_id: Claims.shape.workspace_id.optional(),
  roles: z.array(z.string().max(64)).max(16).optional(),
});

/** Reads the claims of a JWS whose signature is verified; each refusal says which of them does not do. */
export function readOutsider(
  payload: JWTPayload,
  key: KeyRecord,
  auth: Pick<Config['auth'], 'audience' | 'issuer' | 'clock_skew_ms' | 'external_lifetime_ms'>,
  now: number,
): Outsider {
  const parsed = OutsiderClaims.safeParse(payload);
  if (!parsed.success)
    throw new TokenRefused(
      `claim ${parsed.error.issues[0]?.path.join('.') ?? ''} is missing or wrong`,
      'claim_missing',
    );
  const { sub, iat, exp, nonce, aud, iss, tenant_id, roles } = parsed.data;
  if (iat * 1_000 > now + auth.clock_skew_ms) throw new TokenRefused('issued in the future', 'not_yet_valid');
  if ((exp - iat) * 1_000 > auth.external_lifetime_ms) throw tooLong(auth.external_lifetime_ms);
  if (aud === undefined ? key.audience === 'required' : ![aud].flat().includes(auth.audience))
    throw new TokenRefused('another audience, or none', 'wrong_audience');
  const issuers = key.issuer === undefined ? [sub, key.kid, auth.issuer, undefined] : [key.issuer];
  if (!issuers.includes(iss)) throw new TokenRefused('another issuer', 'wrong_issuer');
  const workspace_id = key.workspace ?? tenant_id;
  if (workspace_id === undefined || (tenant_id ?? workspace_id) !== workspace_id)
    throw new TokenRefused('the key speaks for another workspace', 'wrong_tenant');
  if (key.subject !== undefined && key.subject !== sub)
    throw new TokenRefused('the key speaks for somebody else', 'wrong_subject');
  const agent_id = key.subject ?? `${sub}@${houseOf(key.kid)}`;
  if (!AgentName.safeParse(agent_id).success)
    throw new TokenRefused('claim sub is too long for a key without a subject', 'wrong_subject');
  const role = mightiest(roles, key.role);
  return { kid: key.kid, workspace_id, agent_id, sub, role, nonce, until: exp * 1_000 + auth.clock_skew_ms };
}

/** What stands behind the @ in the name of an outsider whose key has no subject: the key, so that the name is its own. */
export function houseOf(kid: string): string {
  return /^[\w.:-]{1,64}$/.test(kid) ? kid : `key-${hash('sha256', kid, 'hex').slice(0, 20)}`;
}

/** The mightiest of the roles that a token names and its key allows; without any name, what the key allows. */
function mightiest(roles: readonly string[] | undefined, most: EnvelopeRole = 'owner'): EnvelopeRole {
  const allowed = ENVELOPE_ROLES.slice(ENVELOPE_ROLES.indexOf(most));
  if (roles === undefined) return most;
  const named = roles.map((name) => entriesOf(ROLE_ALIASES).find(([alias]) => alias === name)?.[1] ?? name);
  const role = allowed.find((candidate) => named.includes(candidate));
  if (role === undefined) throw new TokenRefused('none of its roles is allowed to its key', 'wrong_role');
  return role;
}

/** Whoever has signed for too long is told how long it may be. */
function tooLong(limitMs: number): TokenRefused {
  const limit = limitMs % 60_000 === 0 ? `${limitMs / 60_000} minutes` : `${limitMs / 1_000} seconds`;
  return new TokenRefused(
    'lives too long',
    'lifetime_too_long',
    `the token lives too long: exp may lie at most ${limit} after iat`,
    { limit_ms: limitMs, hint: `sign a token whose exp is at most ${limit} after its iat` },
  );
}
