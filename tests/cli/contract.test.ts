import { statSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { freshPath, parley, parleyJson, startHub } from './parley.ts';

test('serve --json prints one ready line, a token of the data folder is good there, and SIGTERM ends it with 0', async () => {
  const hub = await startHub();
  expect(hub.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(hub.pid).toBeGreaterThan(0);
  const args = ['token', 'issue', '--agent', 'A', '--workspace', 'W', '--role', 'worker', '--session', 'S'];
  const { token } = await parleyJson<{ token: string }>([...args, '--ttl', '1h', '--data', hub.data]);
  const response = await fetch(`${hub.url}/v1/sessions`, { headers: { authorization: `Bearer ${token}` } });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ sessions: [], next_after: null });
  expect(await parleyJson<object>(['status', '--data', hub.data])).toMatchObject({ up: true, url: hub.url });
  await hub.stop('SIGTERM');
  expect((await parley(['status', '--data', hub.data])).code).toBe(5);
});

test('--data stands before or after the command, and ATM_HOME names the folder too', async () => {
  const data = freshPath();
  const before = await parleyJson<{ data: string }>(['--data', data, 'config', 'path']);
  const after = await parleyJson<{ data: string }>(['config', 'path', '--data', data]);
  const home = await parleyJson<{ data: string }>(['config', 'path'], { env: { ATM_HOME: data } });
  expect([before.data, after.data, home.data]).toEqual([data, data, data]);
});

test('tokens and keys are made before any hub has run, in a private folder', async () => {
  const data = freshPath();
  const issue = [
    'token',
    'issue',
    '--agent',
    'a',
    '--workspace',
    'w',
    '--role',
    'observer',
    '--session',
    's',
  ];
  const { token } = await parleyJson<{ token: string }>([...issue, '--data', data]);
  expect(token.split('.')).toHaveLength(3);
  expect(statSync(data).mode & 0o777).toBe(0o700);
  expect(statSync(join(data, 'auth.json')).mode & 0o777).toBe(0o600);
  const { keys } = await parleyJson<{ keys: { kid: string; state: string }[] }>([
    'key',
    'list',
    '--data',
    data,
  ]);
  expect(keys.map(({ state }) => state)).toEqual(['in use']);
  const added = await parleyJson<{ kid: string }>(['key', 'add', '--data', data]);
  const retired = await parleyJson<{ state: string }>(['key', 'retire', added.kid, '--data', data]);
  expect(retired.state).toBe('retired');
});
