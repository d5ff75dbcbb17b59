import type { Ask, AskAnswer, Caller, ErrorCode, InputOf, OperationName, OutputOf } from '@parley/protocol';
import { expect, test } from 'vitest';

import { issuePasskeyCode } from '../../packages/core/src/passkeys/operations.ts';
import { openSampleHub } from '../../packages/core/src/sample-hub.ts';
import { openMemoryStore } from '../../packages/core/src/store-memory.ts';
import { createPasskeys } from '../../packages/hub/src/auth/passkeys.ts';
import { type Signing, softPasskey } from '../harness/soft-passkey.ts';

const ORIGIN = 'http://localhost:7777';
const OTHER = 'https://desk.local:8643';
const COMMAND = 'rm -rf build';

/** A hub that demands passkeys, a person with one, and an agent that wants something of high risk. */
async function open(demanded: 'off' | 'high_risk' = 'high_risk') {
  const clock = { now: Date.parse('2030-01-01T00:00:00Z') };
  const store = openMemoryStore();
  const hub = openSampleHub(store, clock);
  hub.deps.passkeys = createPasskeys({ demanded, hub: 'hub-1', origins: () => [ORIGIN, OTHER] });
  const as = (agent_id: string, role: Caller['role'] = 'operator'): Caller => ({
    agent_id,
    workspace_id: 'w1',
    role,
    session_id: `${agent_id}-1`,
  });
  const kim = as('kim');
  const agent = as('builder', 'worker');
  const call = async <N extends OperationName>(who: Caller, name: N, input: InputOf<N>) =>
    (await hub.call(who, name, input)) as OutputOf<N>;
  const refusal = (
    who: Caller,
    name: OperationName,
    input: object,
  ): Promise<{ code: ErrorCode; message: string }> =>
    hub.call(who, name, input).then(
      () => Promise.reject(new Error(`${name} was accepted`)),
      (error: { code: ErrorCode; message: string }) => ({ code: error.code, message: error.message }),
    );

  const code = async (person = 'kim') => (await issuePasskeyCode(hub.deps, person, 'w1')).code;
  const begin = async (who = kim, origin = ORIGIN) =>
    (await call(who, 'begin_passkey', { origin })).challenge;
  async function added(device = softPasskey(), who = kim, origin = ORIGIN) {
    const credential = device.create({ challenge: await begin(who, origin), origin });
    await call(who, 'add_passkey', { code: await code(who.agent_id), name: 'tablet', credential });
    return device;
  }
  const raise = async (command = COMMAND): Promise<Ask> =>
    (await call(agent, 'raise_ask', { kind: 'approval', prompt: 'May I?', command, cwd: '/src' })).ask;
  const YES: AskAnswer = { decision: 'approved', scope: 'once' };
  const challenge = async (ask: Ask, answer = YES, who = kim, origin = ORIGIN) =>
    (await call(who, 'challenge_ask', { ask_id: ask.ask_id, origin, ...answer })).challenge;
  return { clock, store, hub, as, kim, agent, call, refusal, code, begin, added, raise, challenge, YES };
}

type World = Awaited<ReturnType<typeof open>>;

test('a signature over the exact ask approves it once, and the proof stands in the log with the verdict', async () => {
  const { added, raise, challenge, call, kim, agent, store, YES } = await open();
  const device = await added();
  const ask = await raise();
  expect(ask).toMatchObject({ risk: 'high', needs_passkey: true });
  const passkey = device.get({ challenge: await challenge(ask), origin: ORIGIN, counter: 1 });
  const { ask: done } = await call(kim, 'answer_ask', { ask_id: ask.ask_id, ...YES, passkey });
  const [kept] = (await call(kim, 'list_passkeys', {})).passkeys;
  expect(done.verdict).toMatchObject({ decision: 'approved', by: 'kim', passkey: kept?.passkey_id });
  expect(kept).toMatchObject({ uses: 1, site: 'localhost', person: 'kim' });
  expect((await call(agent, 'wait_for_ask', { ask_id: ask.ask_id, timeout_ms: 0 })).ask.verdict).toEqual(
    done.verdict,
  );
  const page = await store.page({
    workspace_id: 'w1',
    thread_id: ask.thread_id,
    after: -1,
    limit: 100,
    max_bytes: 1e6,
  });
  const told = JSON.stringify(page.entries);
  for (const part of [passkey.signature, passkey.client_data, passkey.authenticator_data])
    expect(told).toContain(part);
});

/** What a person could send in the place of the right thing, and why it is refused. */
type Wrong = (world: World) => Promise<{ input: object; why: RegExp; who?: Caller }>;

/** An ask, a device, and what that device signs of it unless told otherwise. */
async function signed(world: World, change: (right: Signing) => Signing = (right) => right) {
  const device = await world.added();
  const ask = await world.raise();
  const challenge = await world.challenge(ask);
  const passkey = device.get(change({ challenge, origin: ORIGIN, counter: 1 }));
  return { device, ask, challenge, input: { ask_id: ask.ask_id, ...world.YES, passkey } };
}

const WRONG: Record<string, Wrong> = {
  'made at another page': async (world) => ({
    ...(await signed(world, (right) => ({ ...right, origin: 'http://localhost:9999' }))),
    why: /origin/,
  }),
  'made at another page of the hub than the challenge went to': async (world) => ({
    ...(await signed(world, (right) => ({ ...right, origin: OTHER, site: 'localhost' }))),
    why: /origin/,
  }),
  'for another name': async (world) => ({
    ...(await signed(world, (right) => ({ ...right, site: 'bank.example' }))),
    why: /RP ID/,
  }),
  'without finger, face or PIN': async (world) => ({
    ...(await signed(world, (right) => ({ ...right, verified: false }))),
    why: /could not be verified/,
  }),
  'from inside a page of another': async (world) => ({
    ...(await signed(world, (right) => ({ ...right, crossOrigin: true }))),
    why: /page of another/,
  }),
  'over a challenge that the hub did not give': async (world) => ({
    ...(await signed(world, (right) => ({ ...right, challenge: 'A'.repeat(43) }))),
    why: /ran out, or it was used/,
  }),
  'over a challenge that makes a passkey': async (world) => {
    const challenge = await world.begin();
    return { ...(await signed(world, (right) => ({ ...right, challenge }))), why: /ran out, or it was used/ };
  },
  'for another ask': async (world) => {
    const { input } = await signed(world);
    const other = await world.raise('git push --force');
    return { input: { ...input, ask_id: other.ask_id }, why: /another command or another answer/ };
  },
  'for another ask with the same words': async (world) => {
    const { input } = await signed(world);
    const other = await world.raise();
    return { input: { ...input, ask_id: other.ask_id }, why: /another command or another answer/ };
  },
  'for another answer': async (world) => {
    const { input } = await signed(world);
    return { input: { ...input, scope: 'session' }, why: /another command or another answer/ };
  },
  'by another device than it says': async (world) => {
    const { input } = await signed(world);
    const other = await world.added();
    const passkey = { ...input.passkey, credential_id: other.credential_id };
    return { input: { ...input, passkey }, why: /does not fit the public key/ };
  },
  'with a letter changed': async (world) => {
    const { input } = await signed(world);
    const bytes = Buffer.from(input.passkey.signature, 'base64url');
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    const passkey = { ...input.passkey, signature: bytes.toString('base64url') };
    return { input: { ...input, passkey }, why: /signature was refused/ };
  },
  'after two minutes': async (world) => {
    const { input } = await signed(world);
    world.clock.now += 120_001;
    return { input, why: /ran out, or it was used/ };
  },
  'by a passkey that was removed': async (world) => {
    const { input } = await signed(world);
    const [passkey] = (await world.call(world.kim, 'list_passkeys', {})).passkeys;
    await world.call(world.kim, 'remove_passkey', { passkey_id: passkey?.passkey_id ?? '' });
    return { input, why: /not one of yours/ };
  },
  'by somebody else, who has a passkey too': async (world) => {
    const { input } = await signed(world);
    const ada = world.as('ada');
    await world.added(softPasskey(), ada);
    return { input, who: ada, why: /ran out, or it was used|not one of yours/ };
  },
  'whose counter stands still': async (world) => {
    const { device, input } = await signed(world);
    await world.call(world.kim, 'answer_ask', input);
    const next = await world.raise();
    const passkey = device.get({ challenge: await world.challenge(next), origin: ORIGIN, counter: 1 });
    return { input: { ask_id: next.ask_id, ...world.YES, passkey }, why: /counter value 1 was lower/ };
  },
};

test.each(Object.entries(WRONG))('a signature %s approves nothing', async (_name, wrong) => {
  const world = await open();
  const { input, why, who = world.kim } = await wrong(world);
  const { code, message } = await world.refusal(who, 'answer_ask', input);
  expect(message).toMatch(why);
  expect(['FORBIDDEN', 'CONFLICT']).toContain(code);
  const { ask_id } = input as { ask_id: string };
  expect((await world.call(world.kim, 'get_ask', { ask_id })).ask.status).toBe('open');
});

test('a signature is good once: the same answer again changes nothing, and it serves for no other ask', async () => {
  const world = await open();
  const { input } = await signed(world);
  const first = await world.call(world.kim, 'answer_ask', input);
  expect(await world.call(world.kim, 'answer_ask', input)).toEqual(first);
  expect((await world.call(world.kim, 'list_passkeys', {})).passkeys[0]).toMatchObject({ uses: 1 });
  const [challenges] = [
    await world.store.records({ kind: 'passkey_challenge', workspace_id: 'w1', limit: 9 }),
  ];
  expect(challenges).toEqual([]);
});

test('what is not signed is refused with the way to sign it; a denial, and what is of less risk, needs nothing', async () => {
  const { raise, refusal, call, kim, agent, YES, as } = await open();
  const ask = await raise();
  const { code, message } = await refusal(kim, 'answer_ask', { ask_id: ask.ask_id, ...YES });
  expect(code).toBe('FORBIDDEN');
  expect(message).toContain(`only a passkey approves it here: open ${ORIGIN}/asks/${ask.ask_id}`);
  expect(await refusal(as('bo', 'worker'), 'answer_ask', { ask_id: ask.ask_id, ...YES })).toMatchObject({
    code: 'NOT_FOUND',
  });
  const { ask: denied } = await call(kim, 'answer_ask', { ask_id: ask.ask_id, decision: 'denied' });
  expect(denied.verdict).toMatchObject({ decision: 'denied', by: 'kim' });
  const { ask: plain } = await call(agent, 'raise_ask', {
    kind: 'approval',
    prompt: 'x',
    command: 'npm test',
  });
  expect(plain.needs_passkey).toBeUndefined();
  await call(kim, 'answer_ask', { ask_id: plain.ask_id, ...YES });
  // A question of high risk is no way around it.
  const { ask: question } = await call(agent, 'raise_ask', { prompt: 'Delete it all?', risk: 'high' });
  const answer = { ask_id: question.ask_id, decision: 'answered', text: 'yes' };
  expect(await refusal(kim, 'answer_ask', answer)).toMatchObject({ code: 'FORBIDDEN' });
});

test('an approval rule never stands in for a passkey, and one who switches it on is asked for what is open', async () => {
  const { raise, call, kim, agent, refusal, YES, hub } = await open('off');
  await call(kim, 'add_approval_rule', { of_agent: agent.agent_id, command: 'rm *' });
  const early = await raise();
  expect(early).toMatchObject({ status: 'open', risk: 'high' });
  hub.deps.passkeys = { ...hub.deps.passkeys, demanded: 'high_risk' };
  const late = await raise('rm -rf dist');
  expect(late).toMatchObject({ status: 'open', needs_passkey: true });
  for (const { ask_id } of [early, late])
    expect(await refusal(kim, 'answer_ask', { ask_id, ...YES })).toMatchObject({ code: 'FORBIDDEN' });
  // Whoever switches it off again has not freed what was raised under it.
  hub.deps.passkeys = { ...hub.deps.passkeys, demanded: 'off' };
  await call(kim, 'answer_ask', { ask_id: early.ask_id, ...YES });
  expect(await refusal(kim, 'answer_ask', { ask_id: late.ask_id, ...YES })).toMatchObject({
    code: 'FORBIDDEN',
  });
});

test('a passkey is added with a code of the data folder, once, by the person it is for, at a page with a name', async () => {
  const { begin, refusal, call, kim, as, code, added, clock } = await open();
  const device = softPasskey();
  const credential = async (who = kim) => device.create({ challenge: await begin(who), origin: ORIGIN });
  const add = async (word: string, who = kim) =>
    refusal(who, 'add_passkey', { code: word, name: 'x', credential: await credential(who) });
  expect(await add('BCDF-GHJK')).toMatchObject({
    code: 'FORBIDDEN',
    message: expect.stringMatching(/parley passkey code/),
  });
  expect(await add(await code('ada'))).toMatchObject({ code: 'FORBIDDEN' });
  const late = await code();
  clock.now += 600_001;
  expect(await add(late)).toMatchObject({ code: 'FORBIDDEN' });
  const good = await code();
  await call(kim, 'add_passkey', { code: good.toLowerCase(), name: 'x', credential: await credential() });
  expect(
    await refusal(kim, 'add_passkey', {
      code: good,
      name: 'y',
      credential: softPasskey().create({ challenge: await begin(), origin: ORIGIN }),
    }),
  ).toMatchObject({ code: 'FORBIDDEN' });
  const unverified = softPasskey().create({ challenge: await begin(), origin: ORIGIN, verified: false });
  expect(
    await refusal(kim, 'add_passkey', { code: await code(), name: 'y', credential: unverified }),
  ).toMatchObject({
    code: 'FORBIDDEN',
  });
  for (const origin of ['http://127.0.0.1:7777', 'https://evil.example'])
    expect(await refusal(kim, 'begin_passkey', { origin })).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining(`open ${ORIGIN} or ${OTHER}`),
    });
  // One that was made at another name of the hub signs nothing here.
  const ada = as('ada');
  await added(softPasskey(), ada, OTHER);
  const { passkeys } = await call(ada, 'list_passkeys', {});
  expect(passkeys.map(({ person, site }) => `${person} ${site}`)).toEqual(
    expect.arrayContaining(['ada desk.local', 'kim localhost']),
  );
});

test('challenges that ran out go with the next one, and a person has only so many open', async () => {
  const { begin, refusal, kim, store, clock } = await open();
  for (let i = 0; i < 50; i++) await begin();
  expect(await refusal(kim, 'begin_passkey', { origin: ORIGIN })).toMatchObject({ code: 'RATE_LIMITED' });
  clock.now += 120_001;
  await begin();
  const held = await store.records({ kind: 'passkey_challenge', workspace_id: 'w1', limit: 100 });
  expect(held).toHaveLength(1);
});
