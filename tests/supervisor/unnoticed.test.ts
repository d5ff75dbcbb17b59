import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

import { expect, onTestFinished, test, vi } from 'vitest';

import { freshPath, PARLEY, parleyJson, startHub } from '../cli/parley.ts';
import { sitDown, supervised } from './person.ts';

vi.setConfig({ testTimeout: 120_000 });
const PATIENT = { timeout: 40_000, interval: 100 };
const DIST = join(dirname(PARLEY), '../dist');

test('what the program inherits is the person’s, also where there is a hub: the mask of new files, the signals', async () => {
  const hub = await startHub(freshPath());
  const program = ['/bin/sh', '-c', 'umask; grep -E "^Sig(Blk|Ign|Cgt)" /proc/self/status; echo end'];
  const seen = async (words: string[]): Promise<string> => {
    const person = await sitDown(['/bin/sh', '-c', 'umask 0027; exec "$@"', 'sh', ...words]);
    await person.exited;
    return person.raw().slice(person.raw().indexOf('00'));
  };
  for (const role of ['worker', 'operator'])
    expect(await seen(supervised(program, ['--data', hub.data, '--role', role]))).toBe(await seen(program));
});

test('a hub that refuses the session does not hold the program up, and is told of afterwards', async () => {
  let refused = 0;
  const server = createServer((_request, response) => {
    refused++;
    response.writeHead(403, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { code: 'FORBIDDEN', message: 'not you', request_id: 'r' } }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const file = freshPath('token');
  writeFileSync(file, 'a-token', { mode: 0o600 });
  const { port } = server.address() as AddressInfo;
  const options = ['--data', freshPath(), '--url', `http://127.0.0.1:${port}`, '--token-file', file];
  const program = ['/bin/sh', '-c', 'echo first; read line; echo last'];
  const person = await sitDown(supervised(program, options));
  await person.sees('first');
  await expect.poll(() => refused, PATIENT).toBeGreaterThan(0);
  expect((await person.screen()).join('\n')).toBe('first');
  person.type('\r');
  await person.exited;
  await person.sees(/last\s+parley: not you: nobody could reach sh through the hub/);
});

test('a session that needs more than the small program is the same: a role, a file of settings', async () => {
  const hub = await startHub(freshPath());
  const options = ['--data', hub.data, '--role', 'orchestrator', '--agent', 'chief'];
  const person = await sitDown(supervised(['/bin/sh', '-c', 'echo first; read line'], options));
  await person.sees('first');
  const states = async () =>
    (
      await parleyJson<{ agents: { agent_id: string; connected: string[] }[] }>([
        'agent',
        'ls',
        '--data',
        hub.data,
      ])
    ).agents;
  await expect
    .poll(states, PATIENT)
    .toMatchObject([{ agent_id: 'chief', connected: [expect.stringContaining('ws')] }]);
});

test('what `parley run` loads at its start holds no schemas, and none of what a hub or an agent’s driver needs', () => {
  const sources = new Set<string>();
  const load = (file: string): void => {
    const text = readFileSync(join(DIST, file), 'utf8');
    const map = JSON.parse(readFileSync(join(DIST, `${file}.map`), 'utf8')) as { sources: string[] };
    for (const source of map.sources) sources.add(source);
    for (const [, next = ''] of text.matchAll(/(?:from|import)\s*"\.\/(run-[A-Z0-9]+\.js)"/g)) load(next);
  };
  load('parley-run.js');
  const heavy = [...sources].filter((source) =>
    /\/(?:zod|ws|jose|@xterm|@agentclientprotocol)\/|packages\/(?:core|search)\//.test(source),
  );
  expect(heavy).toEqual([]);
  expect([...sources].some((source) => source.endsWith('supervisor/src/supervise.ts'))).toBe(true);
});
