import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

import { type Quota, rateLimited } from '@parley/core';
import type { Claims } from '@parley/protocol';

import type { Devices } from './devices.ts';
import { peerOf } from './peer.ts';
import { TokenRefused } from './token-refused.ts';
import type { Verifier } from './verifier.ts';

/** Finds out who sends a request, by its one Authorization header or by the cookie of its device. */
export type Authenticate = (request: IncomingMessage) => Claims | Promise<Claims>;

/** Finds out who a token speaks for, wherever in a request it was found. */
export interface TokenCheck {
  check: (token: string, address: string) => Claims | Promise<Claims>;
  /** The refusal to answer with; an address that keeps sending bad tokens is told to slow down. */
  refuse: (error: unknown, address: string) => unknown;
}

/** Tokens of the issuer of the accounts, where there is one. */
interface IssuedTokens {
  isOurs: (token: string) => boolean;
  verify: (token: string) => Promise<Claims>;
}

/** Verifies tokens and counts the bad ones by address. */
export function createTokenCheck(
  verifier: Pick<Verifier, 'fresh' | 'known' | 'verify'>,
  badTokens: Quota,
  issued?: IssuedTokens,
): TokenCheck {
  async function verify(token: string, address: string): Promise<Claims> {
    try {
      return issued?.isOurs(token) === true ? await issued.verify(token) : await verifier.verify(token);
    } catch (error) {
      throw refuse(error, address);
    }
  }

  function refuse(error: unknown, address: string): unknown {
    if (!(error instanceof TokenRefused)) return error;
    const wait = badTokens.take(address);
    return wait > 0 ? rateLimited('too many refused tokens', wait) : error;
  }

  const find = (token: string, address: string) => verifier.known(token) ?? verify(token, address);
  return {
    check: (token, address) => verifier.fresh()?.then(() => find(token, address)) ?? find(token, address),
    refuse,
  };
}

/** Verifies the bearer tokens of requests, and where devices are given the cookies of those that bring no token. */
export function createAuthenticate(
  { check, refuse }: TokenCheck,
  devices?: Pick<Devices, 'identify'>,
): Authenticate {
  return (request) => {
    const address = peerOf(request);
    const { authorization } = request.headers;
    const device = authorization === undefined ? devices?.identify(request) : undefined;
    if (device !== undefined) return device.catch((error: unknown) => Promise.reject(refuse(error, address)));
    let token: string;
    try {
      token = sameAsLast(request.socket, bearerToken(request));
    } catch (error) {
      throw refuse(error, address);
    }
    return check(token, address);
  };
}

const tokensBySocket = new WeakMap<Socket, string>();

/** The same string again where a connection brings the same token: what is known by it is found without hashing it anew. */
function sameAsLast(socket: Socket, token: string): string {
  const last = tokensBySocket.get(socket);
  if (last === token) return last;
  tokensBySocket.set(socket, token);
  return token;
}

const SCHEME = 'bearer ';

/** The token of a request: in its one Authorization header and nowhere else. */
export function bearerToken({ headers, url = '' }: IncomingMessage): string {
  if (/[?&]token=/.test(url)) throw new TokenRefused('a token in the URL');
  if (headers.authorization === undefined) throw new TokenRefused('no token');
  return tokenOf(headers.authorization);
}

/** The token inside an Authorization header. */
export function tokenOf(header: string): string {
  if (header.slice(0, SCHEME.length).toLowerCase() !== SCHEME) throw new TokenRefused('not a bearer token');
  return header.slice(SCHEME.length);
}
