import { expect, test } from 'vitest';

import { until } from './proxy-client.ts';
import { callInside, type Door, doorsOf } from './session-door.ts';
import { makeTeam } from './team.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();

const call = (door: Door, args: object, headers: Record<string, string> = {}) =>
  callInside(door, 'atm_send', { to: 'alice', message: 'x', ...args }, headers);

test('[FR-4.5] [NFR-3] the key of a session speaks as that session alone, as long as it lives; without one nobody speaks', async () => {
  const team = makeTeam(place(), 'default', ['alice']);
  const proxy = await start();
  const agents: string[] = [];
  for (const identity of ['one', 'two'])
    agents.push((await proxy.call('codex', { prompt: 'say hi', identity })).structuredContent.agent_id);
  const [one, two] = doorsOf(proxy) as [Door, Door];
  expect(one.http_headers.authorization).not.toBe(two.http_headers.authorization);
  for (const door of [one, two]) expect((await call(door, {})).status).toBe(200);
  expect(team.inbox('alice').map(({ from }) => from)).toEqual(['one', 'two']);

  expect((await call(one, { from: 'two' })).text).toContain('VALIDATION_ERROR');
  expect((await call(one, { identity: 'two' })).text).toContain('VALIDATION_ERROR');
  expect(await call(one, {}, { authorization: '' })).toEqual({ status: 401, text: '' });
  const guess = `${one.http_headers.authorization.slice(0, -1)}-`;
  expect(await call(one, {}, { authorization: guess })).toEqual({ status: 401, text: '' });
  expect(await call(one, {}, { origin: 'http://localhost' })).toEqual({ status: 403, text: '' });
  await proxy.call('agent_close', { agent_id: agents[0] });
  expect(await call(one, {})).toEqual({ status: 401, text: '' });
  expect((await call(two, {})).status).toBe(200);
  expect(team.inbox('alice').map(({ from }) => from)).toEqual(['one', 'two', 'two']);
  await proxy.end();
  await until(() =>
    call(two, {}).then(
      () => false,
      () => true,
    ),
  );
});
