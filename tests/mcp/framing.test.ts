import { describe, expect, test } from 'vitest';

import { LEGACY, modernMessage, openLegacy, postRpc, type RpcReply } from '../harness/mcp-wire.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub();

/** Posts bytes as one era would. */
type Post = (body: string | Uint8Array) => Promise<RpcReply>;

async function posts(): Promise<{ modern: Post; legacy: Post }> {
  const { token } = scene.as('alice');
  const { url } = scene.hub;
  const session = await openLegacy(url, token);
  const { headers } = modernMessage('tools/call', { name: 'create_thread' });
  return {
    modern: (body) => postRpc(url, token, body, { headers }),
    legacy: (body) =>
      postRpc(url, token, body, {
        headers: { 'mcp-session-id': session.id, 'mcp-protocol-version': LEGACY },
      }),
  };
}

describe.each(['modern', 'legacy'] as const)('%s', (era) => {
  test('[C-MCP-04] an array of messages is refused, also one of one', async () => {
    const post = (await posts())[era];
    const one = modernMessage('tools/call', { name: 'create_thread', arguments: { title: 'batch' } }).body;
    await scene.unchanged(async () => {
      for (const body of [`[${one}]`, `[${one},${one}]`, '[]', `[[${one}]]`]) {
        const reply = await post(body);
        expect([reply.status, reply.answer?.error?.code]).toEqual([400, -32_600]);
      }
    });
  });

  test('[C-MCP-04] a notification is accepted with 202 and no body', async () => {
    const post = (await posts())[era];
    for (const method of ['notifications/cancelled', 'notifications/unheard_of']) {
      const params = method === 'notifications/cancelled' ? { requestId: 99 } : {};
      const { headers } = modernMessage(method);
      const body = JSON.stringify({ jsonrpc: '2.0', method, params });
      const reply =
        era === 'modern'
          ? await postRpc(scene.hub.url, scene.as('alice').token, body, { headers })
          : await post(body);
      expect([method, reply.status, reply.text]).toEqual([method, 202, '']);
    }
  });

  test('[C-MCP-04] a response to nothing that was asked is refused', async () => {
    const post = (await posts())[era];
    const answers = [
      { jsonrpc: '2.0', id: 0, result: {} },
      { jsonrpc: '2.0', id: 1, result: { action: 'accept', content: {} } },
      { jsonrpc: '2.0', id: 'x', error: { code: -1, message: 'no' } },
    ];
    for (const answer of answers) {
      const reply = await post(JSON.stringify(answer));
      expect([reply.status, typeof reply.answer?.error?.code]).toEqual([400, 'number']);
    }
  });

  test('[C-HUB-27] bytes that are no strict JSON never reach a tool', async () => {
    const post = (await posts())[era];
    const good = modernMessage('tools/call', { name: 'create_thread', arguments: { title: 'T' } }).body;
    const title = (bytes: string | Buffer): Buffer => {
      const [before = '', after = ''] = good.split('"T"');
      return Buffer.concat([Buffer.from(`${before}"`), Buffer.from(bytes), Buffer.from(`"${after}`)]);
    };
    const bad: [string, string | Uint8Array][] = [
      ['nothing', ''],
      ['no JSON', '{'],
      ['two documents', good + good],
      ['not UTF-8', title(Buffer.from([0xc3, 0x28]))],
      ['overlong UTF-8', title(Buffer.from([0xc0, 0xaf]))],
      ['a surrogate in UTF-8', title(Buffer.from([0xed, 0xa0, 0x80]))],
      ['NUL', title(String.raw`a\u0000b`)],
      ['half a surrogate pair', title(String.raw`\ud800`)],
      ['a key twice', good.replace('"title":"T"', '"title":"T","title":"U"')],
      ['a method twice', good.replace('"jsonrpc"', '"method":"tools/list","jsonrpc"')],
      ['__proto__', good.replace('"title":"T"', '"title":"T","__proto__":{"x":1}')],
      ['nesting', good.replace('"T"', `${'['.repeat(80)}${']'.repeat(80)}`)],
      ['a number beyond the exact', good.replace('"T"', '9007199254740993')],
    ];
    await scene.unchanged(async () => {
      for (const [what, body] of bad) {
        const reply = await post(body);
        expect([what, reply.status, reply.answer?.error?.code]).toEqual([what, 400, -32_700]);
        expect(reply.answer?.id).toBeNull();
      }
    });
  });

  test('a body that is too large, compressed or of another type is refused as on /v1', async () => {
    const { token } = scene.as('alice');
    const { body, headers } = modernMessage('tools/list');
    const session = await openLegacy(scene.hub.url, token);
    const own = era === 'modern' ? headers : { 'mcp-session-id': session.id };
    const wrong: [number, string, Record<string, string>][] = [
      [413, body + ' '.repeat(200_000), {}],
      [415, body, { 'content-type': 'text/plain' }],
      [415, body, { 'content-type': 'application/json; charset=utf-16' }],
      [415, body, { 'content-encoding': 'gzip' }],
    ];
    for (const [status, text, more] of wrong) {
      const reply = await postRpc(scene.hub.url, token, text, { headers: { ...own, ...more } });
      expect([reply.status, reply.answer?.error?.data?.['code']]).toEqual([status, 'VALIDATION_ERROR']);
    }
  });

  test('JSON that is no JSON-RPC message is refused', async () => {
    const post = (await posts())[era];
    for (const body of ['null', '5', '"x"', '{}', '{"jsonrpc":"1.0","id":1,"method":"ping"}', '{"id":1}']) {
      const reply = await post(body);
      expect([body, reply.status]).toEqual([body, 400]);
      expect(reply.answer?.error?.code).toBe(-32_600);
    }
  });
});
