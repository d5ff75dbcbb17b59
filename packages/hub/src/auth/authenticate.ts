import type { IncomingMessage } from 'node:http';

import { type Quota, rateLimited } from '@parley/core';
import type { Claims } from '@parley/protocol';

import { TokenRefused, type Verifier } from './verifier.ts';

/** Finds out who sends a request, by its one Authorization header and nothing else. */
export type Authenticate = (request: IncomingMessage) => Claims | Promise<Claims>;

/** Verifies bearer tokens; an address that keeps sending bad ones is told to slow down. */
export function createAuthenticate(verifier: Verifier, badTokens: Quota): Authenticate {
  async function verify(token: string, address: string): Promise<Claims> {
    try {
      return await verifier.verify(token);
    } catch (error) {
      throw refuse(error, address);
    }
  }

  function refuse(error: unknown, address: string): unknown {
    if (!(error instanceof TokenRefused)) return error;
    const wait = badTokens.take(address);
    return wait > 0 ? rateLimited('too many refused tokens', wait) : error;
  }

  return (request) => {
    const address = request.socket.remoteAddress ?? '';
    try {
      const token = bearerToken(request);
      return verifier.known(token) ?? verify(token, address);
    } catch (error) {
      throw refuse(error, address);
    }
  };
}

const AUTHORIZATION = 'authorization';
const SCHEME = 'bearer ';

function bearerToken(request: IncomingMessage): string {
  let header: string | undefined;
  const { rawHeaders, url = '' } = request;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length !== AUTHORIZATION.length || name.toLowerCase() !== AUTHORIZATION) continue;
    if (header !== undefined) throw new TokenRefused('two Authorization headers');
    header = rawHeaders[i + 1] ?? '';
  }
  if (/[?&]token=/.test(url)) throw new TokenRefused('a token in the URL');
  if (header === undefined) throw new TokenRefused('no token');
  if (header.slice(0, SCHEME.length).toLowerCase() !== SCHEME) throw new TokenRefused('not a bearer token');
  return header.slice(SCHEME.length);
}
