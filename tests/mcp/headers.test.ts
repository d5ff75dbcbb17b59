import { expect, test } from 'vitest';

import {
  MODERN,
  MODERN_META,
  modern,
  modernMessage,
  openLegacy,
  postRpc,
  type RpcOptions,
} from '../harness/mcp-wire.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub();
const VERSION = 'io.modelcontextprotocol/protocolVersion';

function call(options: RpcOptions) {
  const params = { name: 'list_threads', arguments: {} };
  return modern(scene.hub.url, scene.as('alice').token, 'tools/call', params, options);
}

test('[C-MCP-03] headers that are missing or differ from the body: 400 and -32020', async () => {
  const wrong: Record<string, string | undefined>[] = [
    { 'mcp-method': undefined },
    { 'mcp-method': 'tools/list' },
    { 'mcp-method': 'Tools/Call' },
    { 'mcp-name': undefined },
    { 'mcp-name': 'create_thread' },
    { 'mcp-name': 'LIST_THREADS' },
    { 'mcp-protocol-version': undefined },
    { 'mcp-protocol-version': '2025-11-25' },
    { 'mcp-protocol-version': '2099-01-01' },
  ];
  for (const headers of wrong) {
    const reply = await call({ headers, id: 'same-id' });
    expect([headers, reply.status, reply.answer?.error?.code]).toEqual([headers, 400, -32_020]);
    expect(reply.answer?.id).toBe('same-id');
  }
  expect((await call({})).status).toBe(200);
});

test('[C-MCP-03] an unknown version: 400 and -32022 with the list', async () => {
  for (const version of ['v999.0.0', '2027-01-01']) {
    const reply = await call({
      headers: { 'mcp-protocol-version': version },
      meta: { [VERSION]: version },
      id: 7,
    });
    expect(reply.status).toBe(400);
    expect(reply.answer).toMatchObject({
      id: 7,
      error: { code: -32_022, data: { supported: [MODERN], requested: version } },
    });
  }
});

test('[C-MCP-03] an unknown method, and those of the older revisions: 404 and -32601', async () => {
  const methods = [
    'unknown/method',
    'initialize',
    'ping',
    'logging/setLevel',
    'resources/subscribe',
    'resources/unsubscribe',
    'prompts/list',
    'tasks/list',
  ];
  for (const method of methods) {
    const reply = await modern(scene.hub.url, scene.as('alice').token, method, {}, { id: 'm' });
    expect([method, reply.status, reply.answer?.error?.code, reply.answer?.id]).toEqual([
      method,
      404,
      -32_601,
      'm',
    ]);
  }
});

test('a modern request without its envelope is refused, never served by the older rules', async () => {
  const { token } = scene.as('alice');
  for (const missing of [VERSION, 'io.modelcontextprotocol/clientCapabilities']) {
    const { headers } = modernMessage('tools/list');
    const { [missing as typeof VERSION]: _gone, ...meta } = MODERN_META;
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } });
    const reply = await postRpc(scene.hub.url, token, body, { headers });
    expect([missing, reply.status, reply.answer?.error?.code]).toEqual([missing, 400, -32_602]);
  }
});

test('an unknown tool is a JSON-RPC error, in both eras', async () => {
  const { token } = scene.as('alice');
  const session = await openLegacy(scene.hub.url, token);
  for (const name of ['rm_rf', 'LIST_THREADS', 'toString', '__proto__', '']) {
    const replies = [
      await modern(scene.hub.url, token, 'tools/call', { name }),
      await session.request('tools/call', { name }),
    ];
    for (const { status, answer } of replies)
      expect([name, status, answer?.error?.code]).toEqual([name, 200, -32_602]);
  }
});
