import { describe, expect, test } from 'vitest';

import { errorOf, type ProxyClient, until } from './proxy-client.ts';
import { useProxies } from './use-proxies.ts';

const { start } = useProxies();

const MAIL = ['atm_send', 'atm_read', 'atm_broadcast', 'atm_pending_count'];
const OWN = ['codex', 'codex-reply', 'agent_sessions', 'agent_status', 'agent_close', ...MAIL];
const names = async (proxy: ProxyClient): Promise<string[]> =>
  ((await proxy.request('tools/list')) as { tools: { name: string }[] }).tools.map(({ name }) => name);
const asksOf = (proxy: ProxyClient, method: string) =>
  proxy.received().filter((line) => line['method'] === method);

describe('[FR-1.1] what is not the proxy own goes to the child and comes back', () => {
  test('[C-PROXY-02] a method that the proxy does not know is forwarded, and its result is as the child gave it', async () => {
    const proxy = await start();
    const params = { deep: { a: [1, null, 'é', { b: false }] }, _meta: { progressToken: 'p' } };
    expect(await proxy.request('echo/this', params)).toEqual({
      method: 'echo/this',
      params,
      odd: [null, 1.5, { é: '\u0000' }],
    });
    for (const bare of [null, [1, 2], 'text', 7, false])
      expect(await proxy.request('bare/this', { bare })).toEqual(bare);
    expect(proxy.received().filter((line) => 'started' in line)).toHaveLength(1);
  });

  test('[C-PROXY-02] [C-PROXY-37] [NFR-6] an error of the child keeps its code and words, and is told from ours', async () => {
    const proxy = await start();
    expect(await errorOf(proxy.request('no/such'))).toMatchObject({
      code: -32_601,
      message: 'method not found: no/such',
      data: { error_source: 'child', child_error: { code: -32_601, data: { method: 'no/such' } } },
    });
    expect(await errorOf(proxy.request('refuse/this'))).toMatchObject({
      code: -32_055,
      message: 'not today',
      data: {
        error_source: 'child',
        child_error: { code: -32_055, message: 'not today', data: { why: [1] } },
      },
    });
  });

  test('ids are as the client gave them, whatever order the answers have', async () => {
    const proxy = await start();
    const waiting = new Map<unknown, unknown>();
    proxy.process.stdout.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString().trim().split('\n')) {
        const { id, result } = JSON.parse(line) as { id?: unknown; result?: { params?: unknown } };
        if (id !== undefined) waiting.set(id, result?.params);
      }
    });
    const ids = ['one', 2.5, '3', 1e308, 'ü'];
    for (const id of ids) proxy.send({ id, method: 'echo/id', params: { of: id } });
    await until(() => ids.every((id) => waiting.has(id)));
    for (const id of ids) expect(waiting.get(id)).toEqual({ of: id });
  });

  test('notifications go both ways; those of the client wake nobody', async () => {
    const proxy = await start();
    proxy.send({ method: 'notifications/roots/list_changed' });
    await proxy.request('ping');
    expect(proxy.received()).toEqual([]);
    await proxy.request('echo/wake');
    proxy.send({ method: 'notifications/roots/list_changed', params: { a: 1 } });
    proxy.send({ method: 'some/other', params: { b: [2] } });
    await until(() => asksOf(proxy, 'some/other').length === 1);
    expect(asksOf(proxy, 'notifications/roots/list_changed')).toMatchObject([{ params: { a: 1 } }]);
    expect(asksOf(proxy, 'some/other')).toMatchObject([{ params: { b: [2] } }]);
    await proxy.request('tell/me');
    expect(proxy.heard).toEqual([
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 'p', progress: 1 } },
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed', params: {} },
    ]);
  });

  test('what the child asks of its client reaches it, and the answer the child', async () => {
    const proxy = await start();
    const asking = proxy.request('ask/roots', { method: 'roots/list', params: { x: 1 } });
    const [asked] = await until(() => proxy.asked.length > 0 && proxy.asked);
    expect(asked).toMatchObject({ method: 'roots/list', params: { x: 1 } });
    proxy.send({ id: asked?.id, result: { roots: [{ uri: 'file:///r' }] } });
    expect(await asking).toEqual({ answer: { result: { roots: [{ uri: 'file:///r' }] } } });
    const refused = proxy.request('ask/sampling', { method: 'sampling/createMessage', params: {} });
    await until(() => proxy.asked.length === 2);
    proxy.send({ id: proxy.asked[1]?.id, error: { code: -1, message: 'no', data: 5 } });
    expect(await refused).toEqual({ answer: { error: { code: -1, message: 'no', data: 5 } } });
  });

  test('a question of no session is asked too', async () => {
    const proxy = await start();
    const params = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
    const asking = proxy.request('ask/user', { method: 'elicitation/create', params });
    await until(() => proxy.asked.length === 1);
    expect(proxy.asked[0]).toMatchObject({ params: { message: 'Sure?', agent_id: null } });
    proxy.send({ id: proxy.asked[0]?.id, result: { action: 'accept', content: { a: 1 } } });
    expect(await asking).toMatchObject({ answer: { result: { action: 'accept', content: { a: 1 } } } });
  });
});

describe('every request has one answer, whatever the child does', () => {
  test('[FR-14.1] [FR-14.2] [PROXY-X5] silence is -32006, the child is told, and a late answer goes nowhere', async () => {
    const proxy = await start({ args: ['--timeout', '1'] });
    const answers: unknown[] = [];
    proxy.process.stdout.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString().trim().split('\n'))
        answers.push((JSON.parse(line) as { id?: unknown }).id);
    });
    const ids = [proxy.nextId(), proxy.nextId() + 1];
    const calls = ['mute/this', 'late/this'].map((method) => errorOf(proxy.request(method)));
    for (const error of await Promise.all(calls))
      expect(error).toMatchObject({ code: -32_006, data: { error_name: 'REQUEST_TIMEOUT' } });
    await until(() => asksOf(proxy, 'notifications/cancelled').length === 2);
    await proxy.request('echo/after');
    for (const id of ids) expect(answers.filter((one) => one === id)).toHaveLength(1);
  });

  test('a request that is taken back is answered, and the child told', async () => {
    const proxy = await start();
    const requestId = proxy.nextId();
    const call = errorOf(proxy.request('mute/this'));
    await until(() => asksOf(proxy, 'mute/this').length === 1);
    proxy.send({ method: 'notifications/cancelled', params: { requestId } });
    expect(await call).toMatchObject({ code: -32_800, data: { error_name: 'REQUEST_CANCELLED' } });
    const [asked] = asksOf(proxy, 'mute/this');
    await until(() => proxy.received().some((line) => line['cancelled'] === asked?.['id']));
  });

  test('[FR-11.1] the death of the child', async () => {
    const proxy = await start();
    const calls = ['mute/this', 'die/now'].map((method) => errorOf(proxy.request(method)));
    for (const error of await Promise.all(calls))
      expect(error).toMatchObject({ code: -32_005, data: { exit_code: 3, error_source: 'proxy' } });
    expect((await errorOf(proxy.request('echo/this'))).code).toBe(-32_005);
    expect(await names(proxy)).toEqual(OWN);
  });
});

describe('tools', () => {
  test("[C-PROXY-04] [FR-1.3] [C-PROXY-03] the list wakes nobody; with the child it holds the child's own, each name once, and the client is told", async () => {
    const proxy = await start({ env: { SCRIPT_TOOLS: 'extra agent_status more echo' } });
    expect(await names(proxy)).toEqual(OWN);
    expect(proxy.received()).toEqual([]);
    await proxy.call('codex', { prompt: 'say hi' });
    await until(() => proxy.heard.some(({ method }) => method === 'notifications/tools/list_changed'));
    expect(await names(proxy)).toEqual([...OWN, 'extra', 'more', 'echo']);
    const { tools } = (await proxy.request('tools/list')) as { tools: { inputSchema: object }[] };
    expect(JSON.stringify(tools[0])).toContain('agent_file');
  });

  test('a client is not told of tools when there are none', async () => {
    const proxy = await start();
    await proxy.call('codex', { prompt: 'say hi' });
    await until(() => asksOf(proxy, 'tools/list').length === 1);
    await names(proxy);
    expect(proxy.heard.map(({ method }) => method)).not.toContain('notifications/tools/list_changed');
  });

  test('[C-PROXY-37] a tool of the child is called as it is; one that nobody has is its own error result', async () => {
    const proxy = await start({ env: { SCRIPT_TOOLS: 'echo' } });
    const given = { name: 'echo', arguments: { a: 1, identity: 'x' }, _meta: { progressToken: 9 } };
    expect(await proxy.request('tools/call', given)).toMatchObject({ params: given });
    expect(await proxy.call('nope')).toEqual({
      isError: true,
      content: [{ type: 'text', text: "Unknown tool 'nope'" }],
    });
    expect((await errorOf(proxy.request('tools/call', { name: 5 }))).code).toBe(-32_602);
  });
});
