import { readFileSync } from 'node:fs';

import { ParleyError } from '@parley/protocol';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type FetchImplementation,
  type JWTVerifyGetKey,
} from 'jose';

/** After a failure the keys are asked for again no sooner than this: who sends tokens sets no pace. */
const REST_MS = 2_000;

/** The keys of an issuer could not be had: its token may be good, and nobody can tell. */
export class KeysUnavailable extends ParleyError {
  constructor(cause: unknown) {
    super('UNAVAILABLE', 'the keys of the issuer of this token cannot be had now; try again in a moment', {
      retry_after_ms: REST_MS,
      hint: 'the token may be good: send it again later; if it lasts, tell whoever runs the hub',
    });
    this.cause = cause;
  }
}

/** What is said of a token once the keys were had; anything else means that they were not. */
const OF_THE_TOKEN = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];

/** Keys at a URL, fetched when they are needed; that they cannot be had is told as such, and is no fault of a token. */
export function remoteKeys(
  url: URL,
  options: { fetch?: FetchImplementation; cacheMaxAge?: number; cooldownDuration?: number } = {},
): JWTVerifyGetKey {
  const { fetch: ask = (...asked) => fetch(...asked), ...settings } = options;
  let failed: { at: number; error: unknown } | undefined;
  const keys = createRemoteJWKSet(url, {
    ...settings,
    async [customFetch](...asked) {
      if (failed !== undefined && performance.now() - failed.at < REST_MS) throw failed.error;
      try {
        const response = await ask(...asked);
        if (response.status !== 200) throw new Error(`it answered ${response.status}`);
        failed = undefined;
        return response;
      } catch (error) {
        failed = { at: performance.now(), error };
        throw error;
      }
    },
  });
  return async (...asked) => {
    try {
      return await keys(...asked);
    } catch (error) {
      if (OF_THE_TOKEN.some((kind) => error instanceof kind)) throw error;
      throw error instanceof ParleyError ? error : new KeysUnavailable(error);
    }
  };
}

/** The keys of an issuer: of a URL as they are when they are needed, of a file as they were at the start. */
export function keySet(place: string): JWTVerifyGetKey {
  if (place.startsWith('https://')) return remoteKeys(new URL(place));
  // jose refuses what is none.
  return createLocalJWKSet(JSON.parse(readFileSync(place, 'utf8')) as { keys: [] });
}
