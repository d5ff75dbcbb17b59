import {
  AGENT_GONE,
  type Ask,
  type AskAnswer,
  type Caller,
  HUB_NAME,
  NO_LONGER_NEEDED,
} from '@parley/protocol';
import { beforeEach, expect, test } from 'vitest';

import type { RaiseAsk } from '../commands.ts';
import { hubCaller } from '../hub-caller.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { Store } from '../store.ts';
import { ALL, callerOf, creating, head, NOW } from '../store-contract/scene.ts';
import { journalId } from '../threads/access.ts';
import { askRules } from './rules.ts';

const alice = callerOf('alice', 'w');
const bob = callerOf('bob', 'w');
const boss = callerOf('boss', 'w', 'operator');
const hub = hubCaller('w');
const LASTS_MS = 60_000;
const at = (ms: number): string => new Date(NOW + ms).toISOString();

let store: Store;
let now: number;
let asks = 0;
beforeEach(async () => {
  now = NOW;
  store = openMemoryStore(() => now);
  await store.transact(creating('t', boss, ['alice', 'bob', 'boss']));
});

async function raise(input: Partial<RaiseAsk['input']> = {}, thread_id = 't'): Promise<Ask> {
  const content = {
    kind: 'approval' as const,
    prompt: 'may I?',
    risk: 'low' as const,
    expires_in_ms: LASTS_MS,
  };
  const ask_id = `ask_${++asks}`;
  const command = { type: 'raise_ask' as const, ...head(alice, now), thread_id, ask_id };
  return (await store.transact({ ...command, input: { ...content, ...input } })).result.ask;
}

type Settling = { type: 'take_ask' | 'expire_ask'; input: Record<string, never> } | With;
type With =
  | { type: 'answer_ask'; input: AskAnswer }
  | { type: 'withdraw_ask'; input: { reason: string } }
  | { type: 'drop_ask'; input: { gone_since: string } };

async function settle({ ask_id, thread_id }: Ask, caller: Caller, what: Settling): Promise<Ask> {
  const about = { ...head(caller, now), thread_id, ask_id };
  return (await store.transact({ ...about, ...what })).result.ask;
}
const answer = (ask: Ask, input: AskAnswer, caller = boss) =>
  settle(ask, caller, { type: 'answer_ask', input });
const take = (ask: Ask, caller = alice) => settle(ask, caller, { type: 'take_ask', input: {} });
const withdraw = (ask: Ask, reason: string = NO_LONGER_NEEDED, caller = alice) =>
  settle(ask, caller, { type: 'withdraw_ask', input: { reason } });
const expire = (ask: Ask) => settle(ask, hub, { type: 'expire_ask', input: {} });
const drop = (ask: Ask, gone_since = at(0)) => settle(ask, hub, { type: 'drop_ask', input: { gone_since } });
const mute = (target: string) =>
  store.transact({
    type: 'control_thread',
    ...head(boss, now),
    thread_id: 't',
    input: { control: { mute: { mode: 'hard', targets: [target] } } },
  });
const entries = async (thread_id = 't') =>
  (await store.page({ workspace_id: 'w', thread_id, after: 0, ...ALL })).entries;
const kept = async ({ ask_id }: Ask) =>
  (await store.records({ kind: 'ask', workspace_id: 'w', keys: [ask_id], limit: 1 }))[0];

/** Does what must change nothing: neither the log nor the record. */
async function idle(ask: Ask, run: (ask: Ask) => Promise<Ask>): Promise<void> {
  const [log, record] = [await entries(ask.thread_id), await kept(ask)];
  expect(await run(ask)).toEqual(record);
  expect([await entries(ask.thread_id), await kept(ask)]).toEqual([log, record]);
}

test('what is asked stands in its thread and as a record, open until its time is up', async () => {
  const ask = await raise();
  expect(ask).toMatchObject({
    workspace_id: 'w',
    agent_id: 'alice',
    session_id: 'alice-1',
    thread_id: 't',
    kind: 'approval',
    prompt: 'may I?',
    status: 'open',
    created_at: at(0),
    expires_at: at(LASTS_MS),
  });
  expect(await kept(ask)).toEqual(ask);
  expect((await entries()).at(-1)).toMatchObject({
    type: 'ask.raised',
    kind: 'event',
    body: 'may I?',
    message_id: ask.message_id,
    metadata: {
      event_type: 'ask_raised',
      ask_id: ask.ask_id,
      expires_at: at(LASTS_MS),
      ask: { prompt: 'may I?' },
    },
  });
});

test('a rule of asks names beforehand what it looks at', () => {
  const command = { ...head(alice), thread_id: 't', ask_id: 'a' } as never;
  expect(askRules.raise_ask.needs(command)).toEqual({ thread: 't', record: { kind: 'agent', key: 'alice' } });
  expect(askRules.take_ask.needs(command)).toEqual({ thread: 't', record: { kind: 'ask', key: 'a' } });
  expect(askRules.drop_ask.needs(command)).toEqual({
    thread: 't',
    record: { kind: 'ask', key: 'a' },
    records: true,
  });
});

test('an option of an ask that offers none is refused', async () => {
  await expect(answer(await raise(), { decision: 'approved', option: 'yes' })).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
    details: { field: 'option', options: [] },
  });
});

test('what is taken back when its time is up was denied', async () => {
  const ask = await raise();
  now += LASTS_MS;
  expect((await withdraw(ask)).verdict).toMatchObject({ decision: 'denied', by: HUB_NAME });
});

test('who must be silent in a thread, or finds it closed, asks in its own journal', async () => {
  await mute('alice');
  await expect(raise()).rejects.toMatchObject({
    code: 'FORBIDDEN',
    message: expect.stringContaining('leave thread_id out to ask a person all the same') as string,
  });
  const own = journalId('w', 'alice');
  expect((await raise({}, own)).thread_id).toBe(own);
  const input = { status: 'closed', reason: 'done' } as const;
  await store.transact({ type: 'update_status', ...head(boss, now), thread_id: 't', input });
  await expect(raise()).rejects.toMatchObject({ code: 'CONFLICT' });
  expect((await raise({}, own)).status).toBe('open');
});

test('a person answers once; the same again is no second answer, another is told which one stands', async () => {
  const ask = await raise();
  await expect(answer(ask, { decision: 'approved' }, bob)).rejects.toMatchObject({
    code: 'INSUFFICIENT_AUTHORITY',
  });
  now += 5;
  const said = { decision: 'approved', reason: 'go on' } as const;
  const verdict = { ...said, by: 'boss', device: 'boss-1', at: at(5) };
  const answered = await answer(ask, said);
  expect(answered).toEqual({ ...ask, status: 'answering', verdict });
  expect((await entries()).at(-1)).toMatchObject({
    type: 'ask.answered',
    body: 'approved: go on',
    in_reply_to: ask.message_id,
    metadata: { event_type: 'ask_answered', ask_id: ask.ask_id, status: 'answering', verdict },
  });
  expect((await entries()).at(-1)?.metadata).not.toHaveProperty('resolved_at');
  await idle(ask, () => answer(ask, said));
  const stands = {
    code: 'CONFLICT',
    message: 'the ask is settled: approved by boss',
    details: { ask: answered },
  };
  await expect(answer(ask, { decision: 'denied' })).rejects.toMatchObject(stands);
  await expect(answer(ask, said, callerOf('chief', 'w', 'operator'))).rejects.toMatchObject(stands);
});

test.each([
  ['approval', { decision: 'answered', text: 'perhaps' }, 'is to be approved or denied'],
  ['budget', { decision: 'answered', text: '5' }, 'is to be approved or denied'],
  ['question', { decision: 'answered', text: 'perhaps' }, undefined],
  ['approval', { decision: 'approved', option: 'none' }, 'the agent offers no none'],
  ['approval', { decision: 'approved', option: 'yes' }, undefined],
  ['approval', { decision: 'denied', option: 'yes' }, 'to choose yes is to say approved'],
  ['approval', { decision: 'denied', option: 'no' }, undefined],
  ['approval', { decision: 'approved', option: 'no' }, 'to choose no is to say denied'],
  ['question', { decision: 'answered', option: 'blue' }, undefined],
] as const)('to an ask of kind %s, %o fits: %s', async (kind, input, why) => {
  const options = [
    { id: 'yes', label: 'Yes', kind: 'allow_once' as const },
    { id: 'no', label: 'No', kind: 'deny' as const },
    { id: 'blue', label: 'Blue', kind: 'choice' as const },
  ];
  const ask = await raise({ kind, options });
  if (why === undefined) expect((await answer(ask, input)).status).toBe('answering');
  else
    await expect(answer(ask, input)).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining(why) as string,
      details: why.startsWith('the agent offers')
        ? { field: 'option', options: ['yes', 'no', 'blue'] }
        : { field: 'decision' },
    });
});

test('the words of an answer are its option and its reason or text, of which a part is shown', async () => {
  const options = [{ id: 'yes', label: 'Yes', kind: 'allow_once' as const }];
  await answer(await raise({ options }), { decision: 'approved', option: 'yes', reason: 'because' });
  expect((await entries()).at(-1)?.body).toBe('approved: yes: because');
  await answer(await raise({ kind: 'question' }), { decision: 'answered', text: 'x'.repeat(5_000) });
  expect((await entries()).at(-1)?.body).toBe(`answered: ${'x'.repeat(1_990)}`);
});

test('only the agent that asked takes the answer, once', async () => {
  const ask = await raise();
  await idle(ask, take);
  await answer(ask, { decision: 'denied' });
  await expect(take(ask, bob)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  now += 7;
  expect(await take(ask)).toMatchObject({
    status: 'resolved',
    resolved_at: at(7),
    verdict: { decision: 'denied' },
  });
  expect((await entries()).at(-1)).toMatchObject({
    type: 'ask.resolved',
    metadata: { status: 'resolved', resolved_at: at(7) },
  });
  now += 7;
  await idle(ask, take);
});

test('only the agent that asked takes it back, once, and not what was answered', async () => {
  const [ask, answered] = [await raise(), await raise()];
  await expect(withdraw(ask, NO_LONGER_NEEDED, bob)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  now += 3;
  expect(await withdraw(ask, 'found it')).toMatchObject({
    status: 'resolved',
    resolved_at: at(3),
    verdict: { decision: 'withdrawn', by: 'alice', device: 'alice-1', at: at(3), reason: 'found it' },
  });
  expect((await entries()).at(-1)?.body).toBe('withdrawn: found it');
  await idle(ask, withdraw);
  await answer(answered, { decision: 'denied' });
  await expect(withdraw(answered)).rejects.toMatchObject({ code: 'CONFLICT' });
});

test('who is muted takes back what it asked, without words of its own', async () => {
  const ask = await raise();
  await mute('alice');
  await expect(withdraw(ask, 'since you ask')).rejects.toMatchObject({
    code: 'FORBIDDEN',
    message: expect.stringContaining('leave reason out to withdraw it') as string,
  });
  expect((await withdraw(ask)).verdict?.decision).toBe('withdrawn');
});

test('an ask is denied when its time is up, not before, and not when it was settled', async () => {
  const [ask, answered] = [await raise(), await raise()];
  await answer(answered, { decision: 'approved' });
  now = NOW + LASTS_MS - 1;
  await idle(ask, expire);
  now += 1;
  await idle(answered, expire);
  expect(await expire(ask)).toMatchObject({
    status: 'resolved',
    resolved_at: at(LASTS_MS),
    verdict: {
      decision: 'denied',
      by: HUB_NAME,
      device: 'hub',
      at: at(LASTS_MS),
      reason: 'nobody answered in time',
    },
  });
  now += 1;
  await idle(ask, expire);
});

test('what an agent asked that is gone is withdrawn by the hub, unless it is back, was settled, or is over', async () => {
  const beat = (ms: number, status: 'active' | 'offline') =>
    store.transact({
      type: 'heartbeat',
      ...head(alice, NOW + ms),
      input: { runtime: 'codex_cli', status, resumable: true, management_mode: 'managed' },
    });
  const [ask, settled, over] = [await raise(), await raise(), await raise({ expires_in_ms: 1_000 })];
  await answer(settled, { decision: 'approved' });
  await beat(500, 'active');
  now = NOW + 600;
  // Heard of after it was thought gone.
  await idle(ask, () => drop(ask, at(499)));
  await idle(settled, () => drop(settled, at(500)));
  expect(await drop(ask, at(500))).toMatchObject({
    status: 'resolved',
    resolved_at: at(600),
    verdict: { decision: 'withdrawn', by: HUB_NAME, device: 'hub', at: at(600), reason: AGENT_GONE },
  });
  expect((await entries()).at(-1)?.body).toBe(`withdrawn: ${AGENT_GONE}`);
  const later = await raise();
  await beat(700, 'offline');
  expect((await drop(later, at(0))).verdict?.decision).toBe('withdrawn');
  now = NOW + 1_000;
  expect((await drop(over)).verdict).toMatchObject({ decision: 'denied', by: HUB_NAME });
});

test('an ask is found in its own thread and workspace only', async () => {
  const ask = await raise();
  const missing = { code: 'NOT_FOUND', message: 'no such ask' };
  await store.transact(creating('u', boss, ['alice']));
  await expect(answer({ ...ask, thread_id: 'u' }, { decision: 'denied' })).rejects.toMatchObject(missing);
  await expect(answer({ ...ask, ask_id: 'ask_none' }, { decision: 'denied' })).rejects.toMatchObject(missing);
  const stranger = callerOf('boss', 'elsewhere', 'operator');
  await expect(answer(ask, { decision: 'denied' }, stranger)).rejects.toMatchObject(missing);
});
