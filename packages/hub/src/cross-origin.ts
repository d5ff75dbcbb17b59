import type { IncomingMessage, ServerResponse } from 'node:http';

/** What a page of another origin may send beside what browsers allow by themselves. */
const REQUEST_HEADERS = [
  'authorization',
  'content-type',
  'idempotency-key',
  'last-event-id',
  'mcp-protocol-version',
  'mcp-session-id',
  'prefer',
];

/** What it may read of an answer. */
const ANSWER_HEADERS = [
  'deprecation',
  'etag',
  'link',
  'mcp-session-id',
  'retry-after',
  'sunset',
  'traceparent',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-request-id',
];

/** How long a browser may remember what it was allowed. */
const REMEMBERED_S = 600;

/** Opens the answers of the hub to pages of the configured origins, and of no others. */
export interface CrossOrigin {
  /** Puts the headers on whatever is answered; true where the request was a preflight and is answered thereby. */
  admit(request: IncomingMessage, response: ServerResponse): boolean;
}

/**
 * CORS for the origins in `http.allowed_origins`. Credentials are never allowed: a page of another origin brings a
 * token, and the cookie of the dashboard is not sent with it nor would it count.
 */
export function createCrossOrigin(origins: readonly string[]): CrossOrigin {
  const allowed = new Set(origins);
  return {
    admit({ method, headers }, response) {
      const { origin } = headers;
      if (allowed.size > 0) response.setHeader('vary', 'origin');
      if (origin === undefined || !allowed.has(origin)) return false;
      response.setHeader('access-control-allow-origin', origin);
      response.setHeader('access-control-expose-headers', ANSWER_HEADERS.join(', '));
      if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
      response.writeHead(204, {
        'access-control-allow-methods': 'GET, HEAD, POST, DELETE',
        'access-control-allow-headers': REQUEST_HEADERS.join(', '),
        'access-control-max-age': String(REMEMBERED_S),
      });
      response.end();
      return true;
    },
  };
}
