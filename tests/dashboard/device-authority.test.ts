import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';

import { runCli, runJson } from '../harness/run-cli.ts';
import { type Reply, send } from '../harness/send.ts';
import { freshFolder, type HubProcess, startHub } from '../harness/start-hub.ts';
import { issueToken, registerSigner } from '../harness/tokens.ts';

const SOON_MS = 30_000;

let hub: HubProcess;
beforeAll(async () => {
  const settings = { 'auth.recheck_ms': 100, 'auth.clock_skew_ms': 0 };
  hub = await startHub({ data: freshFolder(), settings });
});
afterAll(async () => {
  expect(await hub.stop()).toBe(0);
});

const kim = { agent: 'kim', workspace: 'w1', role: 'operator' };
const own = (): Record<string, string> => ({ origin: hub.url, 'sec-fetch-site': 'same-origin' });

function post(path: string, headers: Record<string, string>, body: unknown = {}): Promise<Reply> {
  const all = { 'content-type': 'application/json', ...headers };
  return send(`${hub.url}${path}`, { method: 'POST', headers: all, body: JSON.stringify(body) });
}

type Credential = Record<string, string>;
const bearer = (token: string): Credential => ({ authorization: `Bearer ${token}` });

async function invite(by: Credential): Promise<string> {
  const reply = await post('/v1/pair_device', by);
  expect(reply.status, reply.text).toBe(200);
  return (JSON.parse(reply.text) as { key: string }).key;
}

async function letIn(by: Credential): Promise<Credential> {
  const reply = await post('/session', own(), { word: await invite(by) });
  expect(reply.status, reply.text).toBe(201);
  return { ...own(), cookie: reply.headers['set-cookie']?.[0]?.split(';')[0] ?? '' };
}

const whoAmI = async (device: Credential): Promise<number> =>
  (await send(`${hub.url}/session`, { headers: device })).status;

const idOf = (device: Credential): string => /=([^.]+)\./.exec(device['cookie'] ?? '')?.[1] ?? '';

async function listed(by: Credential): Promise<string[]> {
  const reply = await post('/v1/list_devices', by);
  return (JSON.parse(reply.text) as { devices: { device_id: string }[] }).devices.map(
    ({ device_id }) => device_id,
  );
}

/** Opens a stream and a socket; `ended` tells how both have ended. */
async function hold(device: Credential): Promise<{ ended: Promise<[string, number]> }> {
  const stream = send(`${hub.url}/v1/stream`, { headers: { ...device, accept: 'text/event-stream' } });
  const socket = new WebSocket(`${hub.url.replace('http', 'ws')}/ws?version=1.0`, { headers: device });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  return { ended: Promise.all([stream.then(() => 'ended'), closed]) };
}

test('a device ends with the token that let it in, with all that it holds open', async () => {
  const [lost, kept] = [await issueToken(kim, hub), await issueToken(kim, hub)];
  const [phone, tablet] = [await letIn(bearer(lost.token)), await letIn(bearer(kept.token))];
  const { ended } = await hold(phone);
  expect(await Promise.all([whoAmI(phone), whoAmI(tablet)])).toEqual([200, 200]);
  expect(await listed(bearer(kept.token))).toContain(idOf(phone));
  await runJson(['token', 'revoke', lost.jti], { data: hub.data });
  expect(await whoAmI(phone)).toBe(401);
  expect((await post('/v1/list_agents', phone)).status).toBe(401);
  expect((await post('/v1/ws_ticket', phone)).status).toBe(401);
  expect(await ended).toEqual(['ended', 4401]);
  expect(await whoAmI(tablet)).toBe(200);
  const devices = await listed(tablet);
  expect(devices).toContain(idOf(tablet));
  expect(devices).not.toContain(idOf(phone));
});

test('a device ends with the key that signed for it', async () => {
  const signer = await registerSigner('house-key', { data: hub.data });
  const device = await letIn(bearer(signer.token(kim)));
  const { ended } = await hold(device);
  expect(await whoAmI(device)).toBe(200);
  await runJson(['key', 'retire', 'house-key'], { data: hub.data });
  expect(await whoAmI(device)).toBe(401);
  expect(await ended).toEqual(['ended', 4401]);
});

test('a device outlives a token that merely runs out', async () => {
  const now = Math.floor(Date.now() / 1_000);
  const signer = await registerSigner('short', { data: hub.data });
  const token = bearer(signer.token(kim, { iat: now - 10, exp: now + 3 }));
  const device = await letIn(token);
  await vi.waitFor(async () => expect((await post('/v1/list_agents', token)).status).toBe(401), SOON_MS);
  expect(await whoAmI(device)).toBe(200);
});

test('a device ends with the one that let it in, unless that one signed itself out', async () => {
  const { token, jti } = await issueToken(kim, hub);
  const first = await letIn(bearer(token));
  const second = await letIn(first);
  const third = await letIn(second);
  expect((await send(`${hub.url}/session`, { method: 'DELETE', headers: second })).status).toBe(200);
  expect(await Promise.all([first, second, third].map(whoAmI))).toEqual([200, 401, 200]);
  const { ended } = await hold(third);
  expect(
    (await runCli(['device', 'revoke', idOf(first), '--workspace', 'w1'], { data: hub.data })).code,
  ).toBe(0);
  expect(await whoAmI(third)).toBe(401);
  expect(await ended).toEqual(['ended', 4401]);
  const fourth = await letIn(await letIn(bearer(token)));
  expect(await whoAmI(fourth)).toBe(200);
  await runJson(['token', 'revoke', jti], { data: hub.data });
  expect(await whoAmI(fourth)).toBe(401);
});

test('an invitation is good no longer than the right of the one who gave it', async () => {
  const { token, jti } = await issueToken(kim, hub);
  const word = await invite(bearer(token));
  const second = await invite(await letIn(bearer(token)));
  await runJson(['token', 'revoke', jti], { data: hub.data });
  for (const one of [word, second]) {
    const reply = await post('/session', own(), { word: one });
    expect([reply.status, reply.headers['set-cookie']]).toEqual([401, undefined]);
  }
});
