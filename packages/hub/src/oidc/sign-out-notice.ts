import { type JWTPayload, jwtVerify } from 'jose';

import { TokenRefused } from '../auth/token-refused.ts';
import type { OidcSettings } from '../config/oidc-settings.ts';
import type { Issuer } from './issuer.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** How old a notice may be; its like is not heard twice in that time. */
const MAX_AGE_S = 120;
const MAX_HEARD = 10_000;

/** Reads the issuer's notices that a session there has ended (OpenID Connect Back-Channel Logout 1.0). */
export function createNoticeReader(
  { issuer: iss, client_id, algorithms }: Pick<OidcSettings, 'issuer' | 'client_id' | 'algorithms'>,
  issuer: Issuer,
  now: () => number,
): (token: string) => Promise<string> {
  const heard = new Set<string>();

  function check({ events, nonce, sub, jti }: JWTPayload): string {
    if (events === null || typeof events !== 'object' || !Object.hasOwn(events, EVENT))
      throw new TokenRefused('no notice of a sign-out');
    if (nonce !== undefined) throw new TokenRefused('an ID token');
    if (sub === undefined || jti === undefined) throw new TokenRefused('it names no account, or not itself');
    if (heard.has(jti)) throw new TokenRefused('heard before');
    if (heard.size >= MAX_HEARD) heard.delete(heard.values().next().value ?? '');
    heard.add(jti);
    return sub;
  }

  return async (token) => {
    const { payload } = await jwtVerify(token, await issuer.keys(), {
      algorithms,
      issuer: iss,
      audience: client_id,
      currentDate: new Date(now()),
      clockTolerance: 30,
      maxTokenAge: MAX_AGE_S,
      requiredClaims: ['iat'],
    });
    return check(payload);
  };
}
