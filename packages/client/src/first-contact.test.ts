import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

import { expect, onTestFinished, test } from 'vitest';

import { isAffected } from './first-contact.ts';

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}';

test('the first call of a process ends though its connection is closed at once', async () => {
  let connections = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    // The first finds the hub away behind its proxy.
    if (++connections === 1) return socket.destroy();
    return socket.on('data', () => socket.write(ANSWER));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const client = fileURLToPath(new URL('client.ts', import.meta.url));
  const script = `
    import { createClient } from ${JSON.stringify(client)};
    const hub = createClient({ url: 'http://127.0.0.1:${port}', token: 't', timeoutMs: 20_000 });
    const begun = performance.now();
    await hub.whoami();
    console.log(performance.now() - begun);
    process.exit();`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await once(child, 'close');
  expect(Number(said)).toBeGreaterThan(0);
  expect(Number(said)).toBeLessThan(15_000);
  expect(connections).toBeGreaterThan(1);
}, 60_000);

test.each([
  ['5.28.4', true],
  ['6.24.1', true],
  ['7.11.0', true],
  ['7.12.0', false],
  ['7.16.0', false],
  ['8.0.0', false],
  [undefined, false],
])('undici %s is affected: %s', (version, expected) => expect(isAffected(version)).toBe(expected));
