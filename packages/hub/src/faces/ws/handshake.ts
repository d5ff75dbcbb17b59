import type { IncomingMessage } from 'node:http';

import { type Claims, LIVE_VERSIONS, ParleyError } from '@parley/protocol';

import { type TokenCheck, tokenOf } from '../../auth/authenticate.ts';
import { peerOf } from '../../auth/peer.ts';
import { TokenRefused } from '../../auth/token-refused.ts';
import { HttpRefusal } from '../../exchange.ts';
import type { Tickets } from './tickets.ts';

/** The subprotocol that is chosen when a client offers any. */
export const SUBPROTOCOL = 'parley.v1';

const BEARER = 'bearer.';

/** The longest life a token in a URL may still have. */
const URL_TOKEN_MS = 60_000;

/** Told to whoever has a good token and puts it where it would be written down. */
const USE_A_TICKET =
  'a token in the URL must expire within a minute: get a single-use ticket with POST /v1/ws_ticket and send ' +
  '?token=<ticket>, or send the token in the Authorization header or as a subprotocol';

/** More than any client sends. */
const MAX_HEADERS = 100;

/** Refuses, before any message, what cannot become a conversation in a version we speak. */
export function checkHandshake({ rawHeaders, method }: IncomingMessage, query: URLSearchParams): void {
  if (rawHeaders.length / 2 > MAX_HEADERS)
    throw new HttpRefusal(431, 'VALIDATION_ERROR', `more than ${MAX_HEADERS} headers`);
  if (method !== 'GET') throw new HttpRefusal(405, 'NOT_FOUND', 'use GET here', { allow: 'GET' });
  const versions = query.getAll('version');
  if (versions.length > 1 || !/^1(\.\d{1,4})?$/.test(versions[0] ?? '1'))
    throw new ParleyError('VALIDATION_ERROR', `version: this hub speaks ${LIVE_VERSIONS.join(', ')}`, {
      field: 'version',
      supported: LIVE_VERSIONS,
    });
}

export interface Credentials {
  tokens: TokenCheck;
  tickets: Tickets;
  now: () => number;
  /** Who connects from a page of the hub's own; undefined for all others. */
  device: (request: IncomingMessage) => Promise<Claims> | undefined;
}

/** Who connects: by header, by subprotocol or by a ticket in the URL, and by exactly one of them; else by its device. */
export async function identify(
  request: IncomingMessage,
  query: URLSearchParams,
  { tokens, tickets, now, device }: Credentials,
): Promise<Claims> {
  const address = peerOf(request);
  const counted = <T>(find: () => T): T => {
    try {
      return find();
    } catch (error) {
      throw tokens.refuse(error, address);
    }
  };
  const found = counted(() => theToken(request, query));
  if (found === undefined) {
    const claims = await device(request)?.catch((error: unknown) =>
      Promise.reject(tokens.refuse(error, address)),
    );
    return claims ?? counted(() => noToken());
  }
  const { place, token } = found;
  if (place !== 'url') return tokens.check(token, address);
  const invited = await tickets
    .redeem(token)
    .catch((error: unknown) => Promise.reject(tokens.refuse(error, address)));
  if (invited !== undefined) return invited;
  const claims = await tokens.check(token, address);
  return counted(() => {
    if (claims.exp * 1_000 - now() <= URL_TOKEN_MS) return claims;
    throw new TokenRefused('a token in the URL that lives longer than a minute', undefined, USE_A_TICKET);
  });
}

interface Found {
  place: 'header' | 'subprotocol' | 'url';
  token: string;
}

function noToken(): never {
  throw new TokenRefused('no token');
}

function theToken(request: IncomingMessage, query: URLSearchParams): Found | undefined {
  const header = request.headers.authorization;
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const bearers = offered.filter((name) => name.startsWith(BEARER));
  if (bearers.length > 0 && !offered.includes(SUBPROTOCOL))
    throw new ParleyError('VALIDATION_ERROR', `offer the subprotocol ${SUBPROTOCOL} beside the token`);
  const found: Found[] = [
    ...(header === undefined ? [] : [{ place: 'header' as const, token: tokenOf(header) }]),
    ...bearers.map((name) => ({ place: 'subprotocol' as const, token: name.slice(BEARER.length) })),
    ...query.getAll('token').map((token) => ({ place: 'url' as const, token })),
  ];
  if (found.length > 1) throw new TokenRefused('more than one token');
  return found[0];
}
