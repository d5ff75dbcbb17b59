import { createInterface } from 'node:readline';

import { describe, expect, test } from 'vitest';

import { type ProxyClient, until } from './proxy-client.ts';
import { useProxies } from './use-proxies.ts';

const { start } = useProxies();

/** What the proxy says from now on, line by line. */
function listen(proxy: ProxyClient): unknown[] {
  const said: unknown[] = [];
  createInterface({ input: proxy.process.stdout }).on('line', (line) => said.push(JSON.parse(line)));
  return said;
}

const write = (proxy: ProxyClient, text: string): void => void proxy.process.stdin.write(text);
const agree = (proxy: ProxyClient, protocolVersion: string) =>
  proxy.request('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 't', version: '0' } });

describe('batches', () => {
  const ping = (id: unknown) => ({ jsonrpc: '2.0', id, method: 'ping' });

  test('of revision 2025-03-26 are answered together, each request once, and what needs no answer gets none', async () => {
    const proxy = await start();
    await agree(proxy, '2025-03-26');
    const said = listen(proxy);
    const call = { name: 'codex', arguments: { prompt: 'say hi' } };
    const batch = [
      { jsonrpc: '2.0', id: 'turn', method: 'tools/call', params: call },
      ping('a'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 'again', method: 'initialize', params: { protocolVersion: '2025-03-26' } },
      7,
    ];
    write(proxy, `${JSON.stringify(batch)}\n`);
    const answers = await until(() => said.find((one) => Array.isArray(one)));
    expect(answers).toMatchObject([
      { jsonrpc: '2.0', id: 'turn', result: { content: [{ text: 'hi' }, {}] } },
      { id: 'a', result: {} },
      { id: 'again', error: { code: -32_600 } },
      { id: null, error: { code: -32_600 } },
    ]);
    write(proxy, `${JSON.stringify([{ jsonrpc: '2.0', method: 'notifications/initialized' }])}\n[]\n`);
    const empty = await until(() => said.find((one) => (one as { error?: object }).error !== undefined));
    expect(empty).toMatchObject({ id: null, error: { code: -32_600 } });
    expect(said.filter((one) => Array.isArray(one))).toHaveLength(1);
  });

  test.each(['2025-06-18', '2025-11-25', '2024-11-05'])('are no messages of revision %s', async (version) => {
    const proxy = await start();
    await agree(proxy, version);
    const said = listen(proxy);
    write(proxy, `${JSON.stringify([ping(1), ping(2)])}\n`);
    expect(await until(() => said[0])).toMatchObject({ id: null, error: { code: -32_600 } });
  });
});
