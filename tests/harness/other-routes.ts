import { expect } from 'vitest';

import { dial, refusal } from '../ws/live-client.ts';
import { send } from './send.ts';

/** Every route beside those of the operations that wants a token. */
export function otherRoutes(thread_id: string): { method: string; path: string }[] {
  return [
    { method: 'GET', path: `/v1/threads/${thread_id}/events` },
    { method: 'GET', path: '/v1/stream' },
    { method: 'GET', path: '/v1/live/messages' },
    { method: 'POST', path: '/v1/live/messages' },
    { method: 'POST', path: '/v1/ws_ticket' },
    { method: 'POST', path: '/v1/artifacts' },
    { method: 'POST', path: '/mcp' },
    { method: 'POST', path: '/mcp/envelope' },
    { method: 'POST', path: '/v1/envelope' },
    { method: 'POST', path: '/mcp/artifacts' },
    { method: 'GET', path: '/metrics' },
    { method: 'GET', path: '/d/00000000-0000-4000-8000-000000000000' },
  ];
}

/** How a refusal says that there is no good token: the code, or on a page for people the same in words. */
export const UNAUTHORIZED = /"code":"UNAUTHORIZED"|Sign in first/;

/** Holds that a token opens none of them, nor the handshake of `/ws`. */
export async function expectNoWayIn(url: string, token: string, thread_id: string): Promise<void> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  for (const { method, path } of otherRoutes(thread_id)) {
    const body = method === 'POST' ? { body: '{}' } : {};
    const { status, text } = await send(`${url}${path}`, { method, headers, ...body });
    expect([path, status, text]).toEqual([path, 401, expect.stringMatching(UNAUTHORIZED)]);
  }
  const { status, body } = await refusal(dial(url, 'alice', token));
  expect(['/ws', status, body]).toEqual(['/ws', 401, expect.stringMatching(UNAUTHORIZED)]);
}
