import { createClient } from '@parley/client';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { type Reply, send } from '../harness/send.ts';
import { type HubProcess, startHub } from '../harness/start-hub.ts';
import { issueToken } from '../harness/tokens.ts';

const PER_ADDRESS = 5;
const CODES = 12;

let shared: HubProcess;
beforeAll(async () => {
  shared = await open();
});
afterAll(async () => void (await shared.stop()));

/** So many tries of one address, and so many codes of all together unless the test is about these. */
const open = (codes = 100): Promise<HubProcess> =>
  startHub({ settings: { 'quota.sign_ins_per_minute': PER_ADDRESS, 'quota.codes_per_minute': codes } });

async function pair(hub: HubProcess): Promise<{ code: string; key: string }> {
  const { token } = await issueToken({ agent: 'kim', role: 'operator' }, hub);
  return createClient({ url: hub.url, token }).pair_device();
}

function signIn(
  hub: HubProcess,
  word: string,
  from: number,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return send(`${hub.url}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: hub.url, ...headers },
    body: JSON.stringify({ word }),
    localAddress: `127.0.0.${from}`,
  });
}

const statuses = (replies: Reply[]): number[] => replies.map(({ status }) => status);

test('an address over its limit is refused with the right code too, and the code stays good for others', async () => {
  const hub = shared;
  const { code, key } = await pair(hub);
  for (let i = 0; i < PER_ADDRESS; i++) expect((await signIn(hub, 'XXXX-XXXX', 2)).status).toBe(401);
  for (const word of [code, key]) {
    const refused = await signIn(hub, word, 2);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.headers['set-cookie']).toBeUndefined();
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: 'RATE_LIMITED' } });
  }
  // Who says of himself that he is somebody else is not believed.
  for (const name of ['x-forwarded-for', 'x-real-ip', 'forwarded'])
    expect((await signIn(hub, code, 2, { [name]: '203.0.113.9' })).status).toBe(429);
  expect((await signIn(hub, code, 3)).status).toBe(201);
});

test('of many tries at once no more are looked at than one after the other', async () => {
  const hub = shared;
  const { code } = await pair(hub);
  const words = [...Array.from({ length: 30 }, (_, i) => `XXXX-${String(i).padStart(4, '2')}`), code];
  const replies = await Promise.all(words.map((word) => signIn(hub, word, 4)));
  expect(statuses(replies).filter((status) => status !== 429)).toHaveLength(PER_ADDRESS);
});

test('many addresses together try no more codes than one limit allows; a link goes on working', async () => {
  const hub = await open(CODES);
  onTestFinished(async () => void (await hub.stop()));
  const { code, key } = await pair(hub);
  const tries = [];
  for (let i = 0; i < CODES; i++) tries.push(await signIn(hub, 'XXXX-XXXX', 10 + i));
  expect(statuses(tries)).toEqual(tries.map(() => 401));
  const refused = await signIn(hub, code, 100);
  expect(refused.status).toBe(429);
  expect(refused.text).toContain('follow a link instead');
  expect((await signIn(hub, key, 101)).status).toBe(201);
});
