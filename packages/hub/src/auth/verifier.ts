import { readFileSync, statSync } from 'node:fs';

import { Claims, ParleyError } from '@parley/protocol';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  importJWK,
  jwtVerify,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from 'jose';

import type { Config } from '../config/schema.ts';
import { keyFilePath, type KeyRecord, MAX_KEY_AGE_MS, readKeyFile, WARN_KEY_AGE_MS } from './key-file.ts';

/** Longest token that is looked at. */
const MAX_TOKEN = 8_192;

/** How long a look at the key file holds. */
const LOOK_AGAIN_MS = 2;

/** Headers by which a token would choose the key it is checked with. */
const OWN_KEY_HEADERS = ['jku', 'jwk', 'x5u', 'x5c'];

/** A refusal whose cause goes to the log and never to the caller. */
export class TokenRefused extends ParleyError {
  readonly reason: string;

  constructor(reason: string) {
    super('UNAUTHORIZED', 'a valid token is needed: send Authorization: Bearer <token>');
    this.reason = reason;
  }
}

interface Verified {
  claims: Claims;
  kid: string;
  /** Wall-clock moment after which the token or its key is no longer good. */
  until: number;
}

export interface VerifierOptions {
  config: Pick<Config, 'data' | 'auth'>;
  now: () => number;
  warn: (message: string) => void;
}

/** Turns a token into claims; revocation and retirement hold from the very next request. */
export interface Verifier {
  verify: (token: string) => Promise<Claims>;
  /** Claims of a token that was verified before and is still good; cheap. */
  known: (token: string) => Claims | undefined;
  /** Throws when claims that were accepted before no longer hold: expired, revoked, key retired. */
  recheck: (claims: Claims) => void;
}

/** Verifies tokens of the hub's own keys, of registered keys and of configured issuers. */
export function createVerifier({ config, now, warn }: VerifierOptions): Verifier {
  const { auth, data } = config;
  const skew = auth.clock_skew_ms;
  const verified = new Map<string, Verified>();
  const originByClaims = new WeakMap<Claims, Verified>();
  const warned = new Set<string>();
  const issuers = auth.issuers.map((issuer) => ({ ...issuer, keys: keySet(issuer.jwks) }));
  let version = '';
  let checkedAt = -Infinity;
  let keysById = new Map<string, KeyRecord>();
  let revoked = new Set<string>();

  /** Re-reads the key file when it has changed; looks at it again after a moment shorter than a command line takes to end. */
  function refresh(): void {
    const moment = performance.now();
    if (moment - checkedAt < LOOK_AGAIN_MS) return;
    checkedAt = moment;
    const stat = statSync(keyFilePath(data), { bigint: true, throwIfNoEntry: false });
    const current = stat === undefined ? 'none' : `${stat.ino} ${stat.mtimeNs} ${stat.size}`;
    if (current === version) return;
    const file = readKeyFile(data);
    keysById = new Map(file.keys.map((key) => [key.kid, key]));
    revoked = new Set(file.revoked.map(({ jti }) => jti));
    verified.clear();
    version = current;
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
    return { claims, kid, until: claims.exp * 1_000 + skew };
  }

  async function withRecord(token: string, key: KeyRecord): Promise<Verified> {
    const created = Date.parse(key.created_at);
    if (key.retired_at !== undefined) throw new TokenRefused('the key is retired');
    if (Math.abs(now() - created) > MAX_KEY_AGE_MS)
      throw new TokenRefused('the key is older than 90 days, or from as far in the future');
    const { payload } = await jwtVerify(
      token,
      await importJWK(key.public, 'EdDSA'),
      options({ algorithms: ['EdDSA', 'Ed25519'] }),
    );
    const own = key.private !== undefined;
    if ((own || payload.iss !== undefined) && payload.iss !== auth.issuer)
      throw new TokenRefused('another issuer');
    const audiences = [payload.aud ?? []].flat();
    if ((own || payload.aud !== undefined) && !audiences.includes(auth.audience))
      throw new TokenRefused('another audience');
    const claims = toClaims(payload);
    if (key.workspace !== undefined && key.workspace !== claims.workspace_id)
      throw new TokenRefused('the key speaks for another workspace');
    if (now() - created > WARN_KEY_AGE_MS && !warned.has(key.kid)) {
      warned.add(key.kid);
      warn(
        `key ${key.kid} is more than 80 days old and will be refused at 90; replace it with \`parley key add\``,
      );
    }
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
    return claims;
  }

  return {
    known,
    recheck(claims) {
      refresh();
      const { kid, until } = originByClaims.get(claims) ?? { kid: '', until: 0 };
      if (until <= now()) throw new TokenRefused('expired');
      if (revoked.has(claims.jti)) throw new TokenRefused('revoked');
      if (keysById.get(kid)?.retired_at !== undefined) throw new TokenRefused('the key is retired');
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
        if (error instanceof TokenRefused) throw error;
        throw new TokenRefused(error instanceof Error ? error.message : 'not a token');
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

function keySet(place: string): JWTVerifyGetKey {
  if (place.startsWith('https://')) return createRemoteJWKSet(new URL(place));
  return createLocalJWKSet(JSON.parse(readFileSync(place, 'utf8')) as { keys: [] });
}
