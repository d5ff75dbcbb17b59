import { describe, expect, test } from 'vitest';

import { errorOf, type ProxyClient, until } from './proxy-client.ts';
import { useProxies } from './use-proxies.ts';

const { start } = useProxies();

const KEY = 'io.modelcontextprotocol/';
const meta = (capabilities: object = { elicitation: { form: {} } }, version = '2026-07-28') => ({
  [`${KEY}protocolVersion`]: version,
  [`${KEY}clientInfo`]: { name: 'test', version: '0' },
  [`${KEY}clientCapabilities`]: capabilities,
});

interface Paused {
  resultType: string;
  requestState: string;
  inputRequests: Record<string, { method: string; params: Record<string, unknown> }>;
  structuredContent: { agent_id: string; content: string };
}

/** A tool call in the words of the newest revision. */
const call = (proxy: ProxyClient, name: string, args: object, more: object = {}, of = meta()) =>
  proxy.request('tools/call', { name, arguments: args, _meta: of, ...more }) as unknown as Promise<Paused>;

const accept = { action: 'accept', content: {} };
const answers = ({ inputRequests }: Paused, given: unknown = accept) =>
  Object.fromEntries(Object.keys(inputRequests).map((id) => [id, given]));

describe('[C-PROXY-44] the newest revision of MCP', () => {
  test('is told by server/discover, which wakes nobody; another is refused with its own code', async () => {
    const proxy = await start();
    expect(await proxy.request('server/discover', { _meta: meta() })).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: true } },
      _meta: { [`${KEY}serverInfo`]: { name: 'atm-agent-mcp' } },
    });
    expect(await errorOf(proxy.request('server/discover', { _meta: meta({}, '2031-01-01') }))).toMatchObject({
      code: -32_022,
      data: { supported: ['2026-07-28'], requested: '2031-01-01' },
    });
    const { [`${KEY}clientCapabilities`]: _left, ...bare } = meta();
    expect((await errorOf(proxy.request('tools/list', { _meta: bare }))).code).toBe(-32_602);
    expect(proxy.received()).toEqual([]);
  });

  test('every result says that it is complete; lists are not to be kept', async () => {
    const proxy = await start();
    expect(await proxy.request('tools/list', { _meta: meta() })).toMatchObject({
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
    });
    expect(await call(proxy, 'codex', { prompt: 'say hi' })).toMatchObject({
      resultType: 'complete',
      structuredContent: { content: 'hi' },
    });
    expect(await proxy.request('echo/this', { _meta: meta() })).toMatchObject({ resultType: 'complete' });
  });

  test('a subscription is acknowledged, hears of new tools under its own id, and ends with its request', async () => {
    const proxy = await start({ env: { SCRIPT_TOOLS: 'extra' } });
    const requestId = proxy.nextId();
    const listening = proxy.request('subscriptions/listen', {
      _meta: meta(),
      notifications: { toolsListChanged: true, promptsListChanged: true },
    });
    await call(proxy, 'codex', { prompt: 'say hi' });
    const changed = await until(() =>
      proxy.heard.find(({ method }) => method === 'notifications/tools/list_changed'),
    );
    expect(proxy.heard[0]).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { toolsListChanged: true }, _meta: { [`${KEY}subscriptionId`]: requestId } },
    });
    expect(changed.params).toMatchObject({ _meta: { [`${KEY}subscriptionId`]: requestId } });
    proxy.send({ method: 'notifications/cancelled', params: { requestId } });
    expect(await listening).toMatchObject({ resultType: 'complete' });
  });
});

describe('[FR-18.1] [FR-18.3] an approval is asked in the answer to the call', () => {
  test('and the call that is made again with the answer goes on', async () => {
    const proxy = await start();
    const args = { prompt: 'ask git init', identity: 'arch' };
    const paused = await call(proxy, 'codex', args);
    expect(paused.resultType).toBe('input_required');
    const [question] = Object.values(paused.inputRequests);
    expect(question).toMatchObject({
      method: 'elicitation/create',
      params: { mode: 'form', agent_id: expect.stringContaining('codex:'), codex_command: ['git init'] },
    });
    expect(question?.params['message']).toContain('identity: arch');
    const more = { requestState: paused.requestState, inputResponses: answers(paused) };
    const done = await call(proxy, 'codex', args, more);
    expect(done).toMatchObject({ resultType: 'complete' });
    expect(done.structuredContent.content).toContain('approved');
    expect(proxy.asked).toEqual([]);
  });

  test('[FR-18.2] one after the other, each under a state of its own', async () => {
    const proxy = await start();
    const args = { prompt: 'ask one\nask two' };
    const first = await call(proxy, 'codex', args);
    const second = await call(proxy, 'codex', args, {
      requestState: first.requestState,
      inputResponses: answers(first, { action: 'decline' }),
    });
    expect(second.resultType).toBe('input_required');
    expect(second.requestState).not.toBe(first.requestState);
    expect(JSON.stringify(proxy.received())).toContain('denied');
    const again = await call(proxy, 'codex', args, { requestState: second.requestState });
    expect(again.inputRequests).toEqual(second.inputRequests);
    const done = await call(proxy, 'codex', args, {
      requestState: again.requestState,
      inputResponses: answers(again),
    });
    expect(done.structuredContent.content).toContain('approved');
  });

  test('[C-MCP-07] a state that is altered by a byte, used, of another call or of another client is refused, and decides nothing', async () => {
    const proxy = await start();
    const other = await start({ args: ['--identity', 'other'] });
    const args = { prompt: 'ask git init' };
    const paused = await call(proxy, 'codex', args);
    const inputResponses = answers(paused);
    const { requestState } = paused;
    const retry = (given: object, state: unknown) =>
      errorOf(call(proxy, 'codex', given, { requestState: state, inputResponses }));
    const swap = (at: number) =>
      requestState.slice(0, at) + (requestState[at] === 'A' ? 'B' : 'A') + requestState.slice(at + 1);
    for (const altered of [`${requestState}x`, swap(0), swap(requestState.length - 2), '', 7])
      expect([altered, (await retry(args, altered)).code]).toEqual([altered, -32_602]);
    expect((await retry({ prompt: 'ask other' }, requestState)).code).toBe(-32_602);
    const stolen = errorOf(call(other, 'codex', args, { requestState, inputResponses }));
    expect((await stolen).code).toBe(-32_602);
    expect(proxy.received().some(({ result }) => result !== undefined)).toBe(false);
    const done = await call(proxy, 'codex', args, { requestState, inputResponses });
    expect(done.structuredContent.content).toContain('approved');
    expect((await retry(args, requestState)).code).toBe(-32_602);
  });

  test('[FR-18.4] who does not come back in time has declined, and may still have the result', async () => {
    const proxy = await start({ args: ['--set', 'approval_timeout_secs=0.5'] });
    const args = { prompt: 'ask git init' };
    const { requestState, ...paused } = await call(proxy, 'codex', args);
    await until(() => JSON.stringify(proxy.received()).includes('denied'));
    const late = { requestState, inputResponses: answers({ ...paused, requestState }) };
    expect((await call(proxy, 'codex', args, late)).structuredContent.content).toContain('denied');
  });

  test('a client that cannot be asked has declined', async () => {
    const proxy = await start();
    const done = await call(proxy, 'codex', { prompt: 'ask git init' }, {}, meta({}));
    expect(done.structuredContent.content).toContain('denied');
  });

  test('[AT approval/4] a session that is closed meanwhile has declined, and its call says so', async () => {
    const proxy = await start();
    const opened = await call(proxy, 'codex', { prompt: 'say hi' });
    const { agent_id } = opened.structuredContent;
    const args = { agent_id, prompt: 'ask git init\nwait' };
    const { requestState } = await call(proxy, 'codex-reply', args);
    await call(proxy, 'agent_close', { agent_id });
    expect(JSON.stringify(proxy.received())).toContain('denied');
    expect((await errorOf(call(proxy, 'codex-reply', args, { requestState }))).code).toBe(-32_003);
  });

  test('taking the second round back interrupts the turn', async () => {
    const proxy = await start();
    const args = { prompt: 'ask git init\nwait' };
    const paused = await call(proxy, 'codex', args);
    const requestId = proxy.nextId();
    const more = { requestState: paused.requestState, inputResponses: answers(paused) };
    const second = call(proxy, 'codex', args, more);
    await until(() => JSON.stringify(proxy.received()).includes('"decision":"approved"'));
    proxy.send({ method: 'notifications/cancelled', params: { requestId } });
    expect(await second).toMatchObject({ isError: true });
  });
});
