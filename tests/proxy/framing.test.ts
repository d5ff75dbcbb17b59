import { expect, test } from 'vitest';

import { type ProxyClient, until } from './proxy-client.ts';
import { useProxies } from './use-proxies.ts';

const { start } = useProxies();

interface Said {
  framing: 'header' | 'line';
  message: { id?: unknown; method?: string; params?: unknown; result?: unknown; error?: { code: number } };
}

/** Everything that the proxy says from now on, with the framing in which it came. */
function listen(proxy: ProxyClient): Said[] {
  const said: Said[] = [];
  let rest = Buffer.alloc(0);
  const take = (framing: Said['framing'], from: number, to: number): void => {
    said.push({ framing, message: JSON.parse(rest.toString('utf8', from, to)) as Said['message'] });
    rest = rest.subarray(to);
  };
  const next = (): boolean => {
    while (rest[0] === 0x0a) rest = rest.subarray(1);
    const head = /^Content-Length: (\d+)\r\n\r\n/.exec(rest.toString('latin1', 0, 64));
    const from = head?.[0].length ?? 0;
    const to = head === null ? rest.indexOf('\n') : from + Number(head[1]);
    if (to <= 0 || rest.length < to) return false;
    take(head === null ? 'line' : 'header', from, to);
    return true;
  };
  proxy.process.stdout.removeAllListeners('data');
  proxy.process.stdout.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (next());
  });
  return said;
}

const framed = (message: object): string => {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};
const answerTo = (said: Said[], id: unknown) => until(() => said.find(({ message }) => message.id === id));

test('[FR-1.2] [C-PROXY-01] a client with Content-Length gets its answers, events and questions so; Codex is spoken to in lines', async () => {
  const proxy = await start();
  const said = listen(proxy);
  const write = (text: string): void => void proxy.process.stdin.write(text);
  const turn = { name: 'codex', arguments: { prompt: 'say é\nask git init' } };
  const call = framed({ id: 'turn', method: 'tools/call', params: turn });
  // In pieces that end anywhere.
  for (let at = 0; at < call.length; at += 11) write(call.slice(at, at + 11));
  const { message: question } = await until(() =>
    said.find(({ message }) => message.method === 'elicitation/create'),
  );
  write(framed({ id: question.id, result: { action: 'accept' } }));
  expect((await answerTo(said, 'turn')).message.result).toMatchObject({
    structuredContent: { content: expect.stringContaining('approved') as unknown },
  });
  expect(said.some(({ message }) => message.method === 'codex/event')).toBe(true);
  expect(new Set(said.map(({ framing }) => framing))).toEqual(new Set(['header']));
  // What the child could not read as a line it would not have noted.
  expect(proxy.received().some(({ method }) => method === 'tools/call')).toBe(true);

  // Lines and headers in turn, with a lie in between that must swallow nothing.
  proxy.send({ id: 'line', method: 'ping' });
  expect(await answerTo(said, 'line')).toMatchObject({ framing: 'line', message: { result: {} } });
  write(`Content-Length: 999999999999\r\n\r\n{"a":1}${framed({ id: 'after', method: 'ping' })}`);
  expect(await answerTo(said, 'after')).toMatchObject({ framing: 'header', message: { result: {} } });
  expect(said.find(({ message }) => message.error !== undefined)?.message).toMatchObject({
    id: null,
    error: { code: -32_700 },
  });
});
