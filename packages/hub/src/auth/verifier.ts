import type { Grant, StateFiles } from '@parley/core';
import { type Caller, Claims, ParleyError } from '@parley/protocol';
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  importJWK,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyOptions,
} from 'jose';

import type { Config } from '../config/schema.ts';
import { keySet, KeysUnavailable } from './key-set.ts';
import { houseOf, type Outsider, readOutsider } from './outsider.ts';
import { type RefusalReason, TokenRefused } from './token-refused.ts';
import { KEY_FILE, keysIn, type KeyRecord, MAX_KEY_AGE_MS, WARN_KEY_AGE_MS } from './key-file.ts';

/** Longest token that is looked at. */
const MAX_TOKEN = 8_192;

/** Headers by which a token would choose the key it is checked with. */
const OWN_KEY_HEADERS = ['jku', 'jwk', 'x5u', 'x5c'];

/** Claims that were verified, and by what they hold. */
export interface Verified {
  claims: Claims;
  kid: string;
  /** Of whose keys it is one, where it is none of the hub's own file. */
  issuer?: string;
  /** Wall-clock moment after which the token or its key is no longer good. */
  until: number;
}

export interface VerifierOptions {
  config: Pick<Config, 'auth'>;
  stateFiles: StateFiles;
  now: () => number;
  warn: (message: string) => void;
}

/** Turns a token into claims; revocation and retirement hold from the very next request. */
export interface Verifier {
  /** Settles once all below heeds what was revoked or retired before this call; undefined where it always does. */
  fresh: () => Promise<void> | undefined;
  verify: (token: string) => Promise<Claims>;
  /** Claims of a token that was verified before and is still good; cheap. */
  known: (token: string) => Claims | undefined;
  /** Throws when claims that were accepted before no longer hold: expired, revoked, key retired. */
  recheck: (claims: Claims) => void;
  /** Claims as another node can take them over; undefined for those that came from no token. */
  origin: (claims: Claims) => Verified | undefined;
  /** Takes over claims that another node has verified: they hold here as they do there. */
  adopt: (origin: Verified) => Claims;
  /** What the right of those rests on whom the bearer of these claims lets in. */
  grantOf: (caller: Caller) => Grant | undefined;
  /** True once a token was revoked, or the key that signed it is no longer there or retired. */
  ended: (grant: Grant) => boolean;
  /** True for a name that only those outside bear. */
  isOutside: (agentId: string) => boolean;
  /** Verifies the JWS of one outside; undefined when the token is none but may be one of the platform. */
  external: (token: string) => Promise<Outsider | undefined>;
}

/** Verifies tokens of the hub's own keys, of registered keys and of configured issuers. */
export function createVerifier({ config, stateFiles, now, warn }: VerifierOptions): Verifier {
  const { auth } = config;
  const skew = auth.clock_skew_ms;
  const verified = new Map<string, Verified>();
  const originByClaims = new WeakMap<Caller, Verified>();
  const warned = new Set<string>();
  const issuers = auth.issuers.map((issuer) => ({ ...issuer, keys: keySet(issuer.jwks) }));
  let version = '';
  let keysById = new Map<string, KeyRecord>();
  let revoked = new Set<string>();
  /** What the names of outsiders end with. */
  let houses = new Set<string>();

  /** Reads the key file again when it has changed. */
  function refresh(): void {
    const { revision, text } = stateFiles.look(KEY_FILE);
    if (revision === version) return;
    const file = keysIn(text);
    keysById = new Map(file.keys.map((key) => [key.kid, key]));
    revoked = new Set(file.revoked.map(({ jti }) => jti));
    houses = new Set(file.keys.filter((key) => key.external === true).map(({ kid }) => houseOf(kid)));
    verified.clear();
    version = revision;
  }

  function known(token: string): Claims | undefined {
    refresh();
    const hit = verified.get(token);
    if (hit === undefined) return undefined;
    if (hit.until > now()) return hit.claims;
    verified.delete(token);
    return undefined;
  }

  function options(extra: JWTVerifyOptions): JWTVerifyOptions {
    return { clockTolerance: Math.ceil(skew / 1_000), currentDate: new Date(now()), ...extra };
  }

  async function check(token: string): Promise<Verified> {
    const header = decodeProtectedHeader(token);
    const { kid } = header;
    if (typeof kid !== 'string') throw new TokenRefused('no kid');
    const brought = OWN_KEY_HEADERS.find((name) => Object.hasOwn(header, name));
    if (brought !== undefined) throw new TokenRefused(`brings its own key (${brought})`);
    const key = keysById.get(kid);
    if (key !== undefined) return withRecord(token, key);
    const { iss } = decodeJwt(token);
    const issuer = issuers.find((candidate) => candidate.issuer === iss);
    if (issuer === undefined) throw new TokenRefused(`unknown key (kid ${kid.slice(0, 64)})`);
    const { payload } = await jwtVerify(
      token,
      issuer.keys,
      options({ algorithms: issuer.algorithms, issuer: issuer.issuer, audience: issuer.audience }),
    );
    const claims = toClaims(payload);
    return { claims, kid, issuer: issuer.issuer, until: claims.exp * 1_000 + skew };
  }

  async function openWith(token: string, key: KeyRecord): Promise<JWTPayload> {
    const { payload } = await jwtVerify(
      token,
      await importJWK(key.public, 'EdDSA'),
      options({ algorithms: ['EdDSA', 'Ed25519'] }),
    );
    // Only now, so that none but who has the key hears what has become of it.
    if (key.retired_at !== undefined) throw new TokenRefused('the key is retired', 'key_retired');
    if (Math.abs(now() - Date.parse(key.created_at)) > MAX_KEY_AGE_MS)
      throw new TokenRefused('the key is older than 90 days, or from as far in the future', 'key_too_old');
    return payload;
  }

  function warnOfAge({ kid, created_at }: KeyRecord): void {
    if (now() - Date.parse(created_at) <= WARN_KEY_AGE_MS || warned.has(kid)) return;
    warned.add(kid);
    warn(`key ${kid} is more than 80 days old and will be refused at 90; replace it with \`parley key add\``);
  }

  async function withRecord(token: string, key: KeyRecord): Promise<Verified> {
    if (key.external === true) throw new TokenRefused('the key of an outsider');
    const created = Date.parse(key.created_at);
    const payload = await openWith(token, key);
    const own = key.private !== undefined;
    if ((own || payload.iss !== undefined) && payload.iss !== auth.issuer)
      throw new TokenRefused('another issuer');
    const audiences = [payload.aud ?? []].flat();
    if ((own || payload.aud !== undefined) && !audiences.includes(auth.audience))
      throw new TokenRefused('another audience');
    const claims = toClaims(payload);
    if (key.workspace !== undefined && key.workspace !== claims.workspace_id)
      throw new TokenRefused('the key speaks for another workspace');
    warnOfAge(key);
    return { claims, kid: key.kid, until: Math.min(claims.exp * 1_000 + skew, created + MAX_KEY_AGE_MS) };
  }

  function toClaims(payload: unknown): Claims {
    const parsed = Claims.safeParse(payload);
    if (!parsed.success)
      throw new TokenRefused(`claim ${parsed.error.issues[0]?.path.join('.') ?? ''} is missing or wrong`);
    const claims = parsed.data;
    if (claims.iat * 1_000 > now() + skew) throw new TokenRefused('issued in the future');
    if ((claims.exp - claims.iat) * 1_000 > auth.max_lifetime_ms) throw new TokenRefused('lives too long');
    if (revoked.has(claims.jti)) throw new TokenRefused('revoked');
    if (isOutside(claims.agent_id)) throw new TokenRefused('the name of an outsider');
    return claims;
  }

  function isOutside(agentId: string): boolean {
    const at = agentId.lastIndexOf('@');
    return at > 0 && houses.has(agentId.slice(at + 1));
  }

  async function external(token: string): Promise<Outsider | undefined> {
    await stateFiles.fresh();
    refresh();
    if (token.length > MAX_TOKEN) throw new TokenRefused('too long');
    const { key, payload: unverified } = peek(token);
    if (key === undefined || key.private !== undefined) return undefined;
    if (key.external !== true && Object.hasOwn(unverified, 'agent_id')) return undefined;
    const outsider = readOutsider(await openWith(token, key), key, auth, now());
    warnOfAge(key);
    return outsider;
  }

  /** What a token says of itself, before any of it is believed. */
  function peek(token: string): { key: KeyRecord | undefined; payload: JWTPayload } {
    try {
      const header = decodeProtectedHeader(token);
      if (OWN_KEY_HEADERS.some((name) => Object.hasOwn(header, name)))
        throw new TokenRefused('brings its own key');
      return { key: keysById.get(header.kid ?? ''), payload: decodeJwt(token) };
    } catch (error) {
      throw error instanceof TokenRefused ? error : new TokenRefused('not a token');
    }
  }

  return {
    fresh: () => stateFiles.fresh(),
    known,
    isOutside(agentId) {
      refresh();
      return isOutside(agentId);
    },
    async external(token) {
      try {
        return await external(token);
      } catch (error) {
        // A record that does not answer is no fault of the token.
        if (error instanceof ParleyError) throw error;
        throw new TokenRefused(causeOf(error), claimFault(error));
      }
    },
    recheck(claims) {
      // Where others change the keys too, the next look knows what this one only asks for.
      stateFiles.fresh()?.catch(() => {});
      refresh();
      const { kid, until } = originByClaims.get(claims) ?? { kid: '', until: 0 };
      if (until <= now()) throw new TokenRefused('expired');
      if (revoked.has(claims.jti)) throw new TokenRefused('revoked');
      if (keysById.get(kid)?.retired_at !== undefined) throw new TokenRefused('the key is retired');
    },
    origin: (claims) => originByClaims.get(claims),
    adopt(origin) {
      originByClaims.set(origin.claims, origin);
      return origin.claims;
    },
    grantOf(caller) {
      const origin = originByClaims.get(caller);
      if (origin === undefined) return undefined;
      const { claims, kid, issuer } = origin;
      return { jti: claims.jti, kid, ...(issuer === undefined ? {} : { issuer }), devices: [] };
    },
    ended({ jti, kid, issuer }) {
      refresh();
      if (jti !== undefined && revoked.has(jti)) return true;
      if (kid === undefined) return false;
      const key = keysById.get(kid);
      if (key !== undefined) return key.retired_at !== undefined;
      return !issuers.some((one) => one.issuer === issuer);
    },
    async verify(token) {
      const hit = known(token);
      if (hit !== undefined) return hit;
      if (token.length > MAX_TOKEN) throw new TokenRefused('too long');
      let result: Verified;
      const seen = version;
      try {
        result = await check(token);
      } catch (error) {
        if (error instanceof KeysUnavailable) throw error;
        // On these faces every cause has the same words.
        throw new TokenRefused(causeOf(error));
      }
      originByClaims.set(result.claims, result);
      // What was checked against keys that have changed meanwhile is not remembered.
      if (auth.cache > 0 && seen === version) {
        if (verified.size >= auth.cache) verified.delete(verified.keys().next().value ?? '');
        verified.set(token, result);
      }
      return result.claims;
    },
  };
}

function causeOf(error: unknown): string {
  if (error instanceof TokenRefused) return error.reason;
  return error instanceof Error ? error.message : 'not a token';
}

/** What is wrong with claims of which jose says so itself: it looks at them once the signature is good. */
function claimFault(error: unknown): RefusalReason | undefined {
  if (error instanceof errors.JWTExpired) return 'expired';
  if (!(error instanceof errors.JWTClaimValidationFailed)) return undefined;
  return error.claim === 'nbf' && error.reason === 'check_failed' ? 'not_yet_valid' : 'claim_missing';
}
