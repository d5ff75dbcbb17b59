import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { send } from '../harness/send.ts';
import { startHub } from '../harness/start-hub.ts';
import { refused, succeeded } from '../harness/use-hub.ts';

interface Found {
  url: string;
  key: string;
}

const read = (data: string) => JSON.parse(readFileSync(join(data, 'hub.json'), 'utf8')) as Found;
/** The key is of the process that the file names, which may be one of several behind an address. */
const mint = ({ url }: Found, key: string | undefined, body: unknown, method = 'POST') =>
  send(`${url}/local/token`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
  });
const wanted = { agent_id: 'arch', session_id: 'codex:1' };
const tokenOf = ({ text }: { text: string }) => (JSON.parse(text) as { token: string }).token;

test('who can read the data folder gets a token for an agent of its own: a worker of the usual workspace', async () => {
  const hub = await startHub();
  expect(statSync(join(hub.data, 'hub.json')).mode & 0o777).toBe(0o600);
  const found = read(hub.data);
  const { key } = found;
  const token = tokenOf(await mint(found, key, wanted));
  const call = (operation: 'register_agent' | 'command_agent', input: unknown) =>
    v1Driver.call(hub.url, token, operation, input);
  expect(succeeded(await call('register_agent', { name: 'Arch' }))).toMatchObject({ agent_id: 'arch' });
  refused(await call('command_agent', { of_agent: 'arch', command: 'x' }), 'INSUFFICIENT_AUTHORITY');
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as unknown;
  expect(claims).toMatchObject({ ...wanted, workspace_id: 'default', role: 'worker' });
  const other = tokenOf(await mint(found, key, { ...wanted, workspace_id: 'far' }));
  expect(Buffer.from(other.split('.')[1] ?? '', 'base64url').toString()).toContain('"workspace_id":"far"');
  expect(hub.stderr()).not.toContain(key);
  expect(await hub.stop()).toBe(0);
  expect(read(hub.data)).toEqual({});
});

test('nobody else does, and nobody gets more', async () => {
  const hub = await startHub();
  const found = read(hub.data);
  const { key } = found;
  for (const wrong of [undefined, '', `${key}x`, key.slice(1)]) {
    const { status, text } = await mint(found, wrong, wanted);
    expect({ status, leaks: text.includes(key) }).toEqual({ status: 401, leaks: false });
  }
  expect((await mint(found, key, wanted, 'PUT')).status).toBe(405);
  for (const bad of [
    {},
    { ...wanted, role: 'operator' },
    { ...wanted, agent_id: 'parley' },
    { ...wanted, agent_id: 'all' },
    { ...wanted, agent_id: '../x' },
    [wanted],
  ])
    expect((await mint(found, key, bad)).status).toBe(400);
  const as = await v1Driver.call(hub.url, key, 'list_agents', {});
  refused(as, 'UNAUTHORIZED');
  await hub.kill();
  const next = await startHub({ data: hub.data });
  const again = read(next.data);
  expect((await mint(again, key, wanted)).status).toBe(401);
  expect((await mint(again, again.key, wanted)).status).toBe(200);
  await next.stop();
});
