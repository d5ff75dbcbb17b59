import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { send } from '../harness/send.ts';
import { cleanEnv, freshFolder, PARLEY } from '../harness/start-hub.ts';
import { recordTraffic } from '../harness/traffic.ts';

test('serve --demo prints a link to a filled hub, and leaves nothing behind', async () => {
  const data = freshFolder();
  const traffic = recordTraffic();
  const child = spawn(
    process.execPath,
    [...traffic.args, PARLEY, 'serve', '--demo', '--port', '0', '--data', data, '--log-level', 'warn'],
    { env: cleanEnv(data, traffic.env) },
  );
  let stdout = '';
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  await new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (stdout.includes('Ctrl-C')) resolve();
    });
    void ended.then(() => resolve());
  });
  const [, origin = '', word = ''] = /Open {4}(http:\/\/127\.0\.0\.1:\d+)\/#k=([\w-]+)/.exec(stdout) ?? [];
  const folder = /data (\S+) {2}·/.exec(stdout)?.[1] ?? '';
  expect(folder).not.toBe(data);
  const headers = { 'content-type': 'application/json', origin };
  const signed = await send(`${origin}/session`, { method: 'POST', headers, body: JSON.stringify({ word }) });
  const cookie = signed.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const read = async <T>(path: string): Promise<T> =>
    JSON.parse(
      (await send(`${origin}${path}`, { headers: { cookie, 'sec-fetch-site': 'same-origin' } })).text,
    ) as T;
  const { agents } = await read<{ agents: { state: string }[] }>('/v1/agents');
  expect(new Set(agents.map(({ state }) => state))).toEqual(
    new Set(['needs_you', 'stuck', 'error', 'working', 'idle']),
  );
  expect((await read<{ asks: unknown[] }>('/v1/asks')).asks).toHaveLength(2);
  expect(existsSync(folder)).toBe(true);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(existsSync(folder)).toBe(false);
  expect(existsSync(join(data, 'parley.db'))).toBe(false);
});
