import { Agent, type IncomingHttpHeaders, request } from 'node:http';

import { onPostgres } from './store-profile.ts';

export interface SendOptions {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Uint8Array;
  agent?: Agent;
  /** The address to call from, so that one test can be several peers. */
  localAddress?: string;
  signal?: AbortSignal;
}

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

// Before several nodes each call is a connection of its own, and goes to the next of them.
const shared = new Agent({ keepAlive: !onPostgres, maxSockets: 256 });

/** One HTTP exchange, exactly as told: no header is added but what HTTP itself needs. */
export function send(url: string, options: SendOptions = {}): Promise<Reply> {
  const { method = 'GET', headers = {}, body, agent = shared, localAddress, signal } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      {
        method,
        agent,
        headers: {
          ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
          ...headers,
        },
        ...(localAddress === undefined ? {} : { localAddress }),
        ...(signal === undefined ? {} : { signal }),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      },
    );
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

/** Drops the idle connections that calls have left behind. */
export function closeConnections(): void {
  shared.destroy();
}
