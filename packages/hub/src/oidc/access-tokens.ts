import { hash } from 'node:crypto';

import type { Clock, Grant, PersonGrant } from '@parley/core';
import { type Caller, Claims, ParleyError } from '@parley/protocol';
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose';

import { TokenRefused } from '../auth/token-refused.ts';
import type { Config } from '../config/schema.ts';
import type { Issuer } from './issuer.ts';
import { claimText, type IssuerClaims, mapClaims } from './mapping.ts';
import type { People } from './people.ts';

/** Access tokens of the issuer: who comes with one, and for how long. */
export interface AccessTokens {
  /** True for a token that says it is of the issuer; nothing of it is believed yet. */
  isOurs(token: string): boolean;
  verify(token: string): Promise<Claims>;
  /** What the right of its bearer rests on; undefined for claims that came from no such token. */
  grantOf(caller: Caller): Grant | undefined;
  /** Throws when a token has run out, or its person was signed out. */
  recheck(claims: Claims): void;
  /** What this node has found out of a token, on its way to another; undefined for claims that came from no such token. */
  handOver(claims: Claims): Issued | undefined;
  /** Takes what another node has found out; refused where its person was signed out meanwhile. */
  takeOver(issued: Issued): Promise<Claims>;
}

/** Who comes with an access token, and what that rests on. */
export interface Issued {
  claims: Claims;
  person: PersonGrant;
}

/** Longest token that is looked at. */
const MAX_TOKEN = 8_192;

/** Headers by which a token would choose the key it is checked with. */
const OWN_KEY_HEADERS = ['jku', 'jwk', 'x5u', 'x5c', 'crit'];

/** What only tokens have that are meant for somebody else than a service: ID tokens and notices of sign-outs. */
const FOREIGN_CLAIMS = ['nonce', 'at_hash', 'events'];

interface AccessTokenOptions {
  config: Pick<Config, 'oidc' | 'auth'>;
  issuer: Issuer;
  people: People;
  clock: Pick<Clock, 'now'>;
  /** The `aud` of tokens that are for this hub. */
  audience: () => string;
  /** True for names that only outside signers bear. */
  isOutside: (name: string) => boolean;
}

/** Verifies access tokens by the issuer's keys; each request looks whether its person was signed out. */
export function createAccessTokens(options: AccessTokenOptions): AccessTokens {
  const { config, issuer, people, clock } = options;
  const { oidc, auth } = config;
  const verified = new Map<string, Issued>();
  const grantByClaims = new WeakMap<Caller, PersonGrant>();

  async function check(token: string): Promise<Issued> {
    const header = decodeProtectedHeader(token);
    const brought = OWN_KEY_HEADERS.find((name) => Object.hasOwn(header, name));
    if (brought !== undefined) throw new TokenRefused(`brings its own key (${brought})`);
    if (header.typ !== undefined && !/^(?:application\/)?(?:at\+)?jwt$/i.test(header.typ))
      throw new TokenRefused('no access token, by its typ');
    const { payload } = await jwtVerify(token, await issuer.keys(), {
      algorithms: oidc.algorithms,
      issuer: oidc.issuer,
      audience: options.audience(),
      clockTolerance: Math.ceil(auth.clock_skew_ms / 1_000),
      currentDate: new Date(clock.now()),
      requiredClaims: ['sub', 'iat', 'exp'],
    });
    const foreign = FOREIGN_CLAIMS.find((name) => Object.hasOwn(payload, name));
    if (foreign !== undefined) throw new TokenRefused(`no access token: it has ${foreign}`);
    // These claims were demanded of the verification.
    return toVerified(token, payload as typeof payload & { sub: string; iat: number; exp: number });
  }

  async function toVerified(
    token: string,
    payload: IssuerClaims & { sub: string; iat: number; exp: number },
  ): Promise<Issued> {
    const mapped = mapClaims(payload, oidc.agents, ({ sub, ...claims }) => {
      const name = claimText(claims, oidc.name_claim) ?? String(sub);
      return oidc.agent_name.replace('{name}', () => name);
    });
    if (mapped === 'nobody') throw new TokenRefused('no rule of oidc.agents matches its claims');
    if (mapped === 'nameless') throw new TokenRefused('its claims give no name that an agent may bear');
    const [place] = mapped.places;
    const { sub, iat, exp } = payload;
    if (iat * 1_000 > clock.now() + auth.clock_skew_ms) throw new TokenRefused('issued in the future');
    if ((exp - iat) * 1_000 > auth.max_lifetime_ms) throw new TokenRefused('lives too long');
    if (options.isOutside(mapped.name)) throw new TokenRefused('the name of an outsider');
    const client = claimText(payload, 'client_id') ?? claimText(payload, 'azp') ?? '';
    const claims = Claims.parse({
      agent_id: mapped.name,
      workspace_id: place.workspace_id,
      role: place.role,
      // The same over tokens that are renewed.
      session_id: `oidc-${hash('sha256', JSON.stringify([sub, client]), 'hex').slice(0, 16)}`,
      iat,
      exp,
      jti: `oidc:${hash('sha256', token, 'base64url')}`,
    });
    const person: PersonGrant = {
      issuer: oidc.issuer,
      subject: sub,
      name: mapped.name,
      workspace_id: place.workspace_id,
      since: new Date(iat * 1_000).toISOString(),
      until: new Date(exp * 1_000 + auth.clock_skew_ms).toISOString(),
      places: [place],
    };
    const standing = await people.look(person);
    if (standing === 'unknown' || standing === 'another') await people.bind(person, mapped.named);
    return { claims, person };
  }

  const isOver = ({ person }: Issued): boolean => Date.parse(person.until) <= clock.now();

  async function verify(token: string): Promise<Issued> {
    const hit = verified.get(token);
    if (hit !== undefined) {
      if (!isOver(hit)) return hit;
      verified.delete(token);
    }
    const result = await check(token);
    grantByClaims.set(result.claims, result.person);
    if (auth.cache > 0) {
      if (verified.size >= auth.cache) verified.delete(verified.keys().next().value ?? '');
      verified.set(token, result);
    }
    return result;
  }

  return {
    isOurs(token) {
      if (token.length > MAX_TOKEN) return false;
      try {
        return decodeJwt(token).iss === oidc.issuer;
      } catch {
        return false;
      }
    },
    async verify(token) {
      try {
        const { claims, person } = await verify(token);
        const standing = await people.look(person);
        if (standing !== 'good') throw new TokenRefused('the person was signed out');
        return claims;
      } catch (error) {
        throw refusalOf(error);
      }
    },
    grantOf(caller) {
      const person = grantByClaims.get(caller);
      return person === undefined ? undefined : { person, devices: [] };
    },
    handOver(claims) {
      const person = grantByClaims.get(claims);
      return person === undefined ? undefined : { claims, person };
    },
    async takeOver({ claims, person }) {
      if ((await people.look(person)) !== 'good') throw new TokenRefused('the person was signed out');
      grantByClaims.set(claims, person);
      return claims;
    },
    recheck(claims) {
      const person = grantByClaims.get(claims);
      if (person === undefined || Date.parse(person.until) <= clock.now()) throw new TokenRefused('expired');
      if (people.ended(person)) throw new TokenRefused('the person was signed out');
    },
  };
}

/** A token that is no good is refused; that the issuer or the disk does not answer is no fault of the token. */
function refusalOf(error: unknown): unknown {
  if (error instanceof ParleyError && error.code !== 'CONFLICT') return error;
  const isOfToken = error instanceof errors.JOSEError || error instanceof TypeError;
  if (isOfToken || error instanceof ParleyError) return new TokenRefused(error.message);
  return error;
}
