import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

import { type Exchange, sendJson } from './exchange.ts';

/** A description as it is sent: its text, its compressed form and its tag. */
interface Description {
  text: string;
  gzip: Buffer;
  etag: string;
}

/** How many addresses a hub is known under at most. */
const KEPT = 16;

/** Serves a JSON description that names the hub's own address: made when first asked for, compressed, kept by a tag. */
export function createDescription(make: (address: string) => unknown, isSecure: boolean) {
  const byAddress = new Map<string, Description>();

  function find(host: string, tls: boolean): Description {
    const address = `${tls ? 'https' : 'http'}://${host}`;
    let known = byAddress.get(address);
    if (known === undefined) {
      const text = JSON.stringify(make(address));
      const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
      known = { text, gzip: gzipSync(text), etag };
      if (byAddress.size < KEPT) byAddress.set(address, known);
    }
    return known;
  }

  return (exchange: Exchange): void => {
    const { request, response, request_id } = exchange;
    const { text, gzip, etag } = find(request.headers.host ?? '', isSecure || 'encrypted' in request.socket);
    const headers = { 'cache-control': 'max-age=60', etag, vary: 'accept-encoding, origin' };
    if (request.headers['if-none-match']?.includes(etag) === true) {
      response.writeHead(304, { ...headers, 'x-request-id': request_id }).end();
      return;
    }
    if (!/\bgzip\b(?!;\s*q=0(?:\.0*)?(?:,|$))/.test(request.headers['accept-encoding'] ?? '')) {
      sendJson(exchange, 200, text, headers);
      return;
    }
    response.writeHead(200, {
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'content-encoding': 'gzip',
      'content-length': gzip.length,
      'x-content-type-options': 'nosniff',
      'x-request-id': request_id,
    });
    response.end(request.method === 'HEAD' ? undefined : gzip);
  };
}
