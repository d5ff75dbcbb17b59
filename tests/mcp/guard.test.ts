import { Agent } from 'node:http';

import { describe, expect, test } from 'vitest';

import { LEGACY, modernMessage, postRpc } from '../harness/mcp-wire.ts';
import { send } from '../harness/send.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub();

const handshake = {
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  }),
  headers: {},
};
const eras = [
  { era: '2026-07-28', ...modernMessage('server/discover', {}, { id: 1 }) },
  { era: '2025-11-25', ...handshake },
];

describe.each(eras)('revision $era', ({ body, headers }) => {
  test('[C-MCP-01] a foreign Origin or Host gets 403, before the token is looked at', async () => {
    const { url } = scene.hub;
    const { token } = scene.as('alice');
    const { host, port } = new URL(url);
    const foreign: Record<string, string>[] = [
      { origin: 'http://evil.example.com' },
      { origin: 'null' },
      { origin: `http://evil.example.com:${port}` },
      { host: 'evil.example.com' },
      { host: `evil.example.com:${port}` },
      { host, origin: 'https://evil.example.com' },
    ];
    for (const more of foreign) {
      for (const bearer of [token, 'nonsense']) {
        const agent = new Agent();
        const reply = await postRpc(url, bearer, body, { headers: { ...headers, ...more }, agent });
        expect([reply.status, more]).toEqual([403, more]);
        expect(reply.answer).toMatchObject({
          jsonrpc: '2.0',
          id: null,
          error: { data: { code: 'FORBIDDEN' } },
        });
      }
    }
    const own = await postRpc(url, token, body, { headers: { ...headers, host, origin: `http://${host}` } });
    expect(own.status).toBe(200);
  });

  test('[C-MCP-08] a token only in the query string opens neither /mcp nor /v1', async () => {
    const { token } = scene.as('alice');
    const plain = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    for (const path of [
      `/mcp?token=${token}`,
      `/mcp?access_token=${token}`,
      `/v1/list_threads?token=${token}`,
    ]) {
      const reply = await send(scene.hub.url + path, {
        method: 'POST',
        body: path.startsWith('/mcp') ? body : '{}',
        headers: { ...plain, ...headers },
      });
      expect([path, reply.status]).toEqual([path, 401]);
    }
    const both = await send(`${scene.hub.url}/mcp?token=${token}`, {
      method: 'POST',
      body,
      headers: { ...plain, ...headers, authorization: `Bearer ${token}` },
    });
    expect(both.status).toBe(401);
  });

  test('[C-MCP-12] a 401 names the scheme, and no OAuth server that is not there', async () => {
    for (const token of [undefined, 'nonsense', scene.signer.token({ agent: 'alice' }).slice(0, -2)]) {
      const reply = await postRpc(scene.hub.url, token, body, { headers });
      expect(reply.status).toBe(401);
      expect(reply.headers['www-authenticate']).toBe('Bearer realm="parley"');
      expect(reply.answer).toMatchObject({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32_000, data: { code: 'UNAUTHORIZED' } },
      });
    }
    for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'])
      expect((await send(scene.hub.url + path)).status).toBe(404);
  });
});

test('the other methods of HTTP are told what to use', async () => {
  const { token } = scene.as('alice');
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' };
  for (const method of ['PUT', 'PATCH', 'OPTIONS']) {
    const reply = await send(`${scene.hub.url}/mcp`, { method, headers });
    expect([method, reply.status, reply.headers.allow]).toEqual([method, 405, 'POST, GET, DELETE']);
  }
  for (const method of ['GET', 'DELETE'])
    expect((await send(`${scene.hub.url}/mcp`, { method, headers })).status).toBe(400);
});
