import { request } from 'node:http';

import { modernMessage, type RpcMessage, readMessages } from './mcp-wire.ts';

/** An answer on `/mcp` that stays open. */
export interface RpcStream {
  status: number;
  /** The messages so far. */
  messages(): RpcMessage[];
  ended: Promise<void>;
  close(): void;
}

/** Opens `subscriptions/listen` and resolves once its head has arrived. */
export function openListen(
  url: string,
  token: string,
  notifications: Record<string, unknown>,
): Promise<RpcStream> {
  const { body, headers } = modernMessage('subscriptions/listen', { notifications });
  return openRpcStream(url, token, { method: 'POST', body, headers });
}

/** Opens the GET stream of a session. */
export function openPush(url: string, token: string, sessionId: string): Promise<RpcStream> {
  return openRpcStream(url, token, { method: 'GET', headers: { 'mcp-session-id': sessionId } });
}

/** Sends a request and gives its answer while it is still coming. */
export function openRpcStream(
  url: string,
  token: string,
  options: { method: 'GET' | 'POST'; body?: string; headers: Record<string, string> },
): Promise<RpcStream> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      `${url}/mcp`,
      {
        method: options.method,
        agent: false,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: options.method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
          ...options.headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('error', () => {});
        const ended = new Promise<void>((done) => response.once('close', done));
        resolve({
          status: response.statusCode ?? 0,
          messages: () => readMessages('text/event-stream', text),
          ended,
          close: () => outgoing.destroy(),
        });
      },
    );
    outgoing.once('error', reject);
    outgoing.end(options.body);
  });
}
