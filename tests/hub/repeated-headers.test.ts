import { connect } from 'node:net';

import { describe, expect, test } from 'vitest';

import { useHub } from '../harness/use-hub.ts';

const scene = useHub();

/** Sends a request line by line, as no HTTP client would, and gives what comes back. */
function raw(path: string, lines: string[]): Promise<string> {
  const { hostname, port } = new URL(scene.hub.url);
  const method = READ.has(path) ? 'GET' : 'POST';
  const text = [`${method} ${path} HTTP/1.1`, ...lines, '', '{}'].join('\r\n');
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8').on('data', (piece: string) => (answer += piece));
    socket.on('close', () => resolve(answer)).on('error', reject);
  });
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1]);

const READ = new Set([
  '/healthz',
  '/v1/openapi.json',
  '/v1/asyncapi.json',
  '/v1/capabilities',
  '/v1/stream',
  '/d/00000000-0000-4000-8000-000000000000',
  '/ws?version=1.0',
]);

const PATHS = [
  ...READ,
  '/v1/list_threads',
  '/mcp',
  '/mcp/envelope',
  '/v1/threads/th_x/events',
  '/v1/live/messages',
  '/v1/ws_ticket',
  '/session',
];

describe.each(PATHS)('%s', (path) => {
  const head = (...more: string[]): string[] => [
    'Connection: close',
    'Content-Length: 2',
    ...(path.startsWith('/ws')
      ? ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
      : []),
    ...more,
  ];

  test('two Host headers are refused, whichever stands first, before the token is looked at', async () => {
    const { host } = new URL(scene.hub.url);
    const { token } = scene.as('alice');
    for (const hosts of [
      [host, 'evil.example'],
      ['evil.example', host],
      [host, host],
    ])
      for (const bearer of [`Bearer ${token}`, 'Bearer nonsense']) {
        const [first = '', second = ''] = hosts;
        const lines = [
          `Host: ${first}`,
          'Content-Type: application/json',
          `Authorization: ${bearer}`,
          `hOST: ${second}`,
        ];
        const answer = await raw(path, head(...lines));
        expect([hosts, statusOf(answer)]).toEqual([hosts, 400]);
        expect(answer).toContain('send the header host once');
      }
  });

  test('and so is a second one of any other header that counts once', async () => {
    const { host } = new URL(scene.hub.url);
    const { token } = scene.as('alice');
    const own = [
      `Host: ${host}`,
      `Origin: http://${host}`,
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      'Sec-Fetch-Site: same-origin',
    ];
    for (const again of own.slice(1)) {
      const answer = await raw(path, head(...own, again));
      expect([again, statusOf(answer)]).toEqual([again, 400]);
    }
    for (const framing of ['Content-Length: 2', 'Content-Length: 0', 'Transfer-Encoding: chunked'])
      expect(statusOf(await raw(path, head(...own, framing)))).toBe(400);
  });
});

test('what may come several times still does', async () => {
  const { host } = new URL(scene.hub.url);
  const lines = [
    `Host: ${host}`,
    'Connection: close',
    'Content-Length: 2',
    'Content-Type: application/json',
    `Authorization: Bearer ${scene.as('alice').token}`,
    'Accept: application/json',
    'Accept: text/event-stream',
    'Cookie: a=1',
    'Cookie: b=2',
  ];
  expect(statusOf(await raw('/v1/list_threads', lines))).toBe(200);
});
