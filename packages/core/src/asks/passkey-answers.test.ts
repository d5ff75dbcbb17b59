import { type Ask, type AskAnswer, canonicalJson } from '@parley/protocol';
import { beforeEach, expect, test } from 'vitest';

import type { AnswerAsk, RaiseAsk } from '../commands.ts';
import type { PasskeyChallenge, PasskeyProof, PasskeyRecord } from '../passkeys/passkey-record.ts';
import { ALL, callerOf, creating, head, NOW } from '../store-contract/scene.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { Store } from '../store.ts';
import { journalId } from '../threads/access.ts';
import { grants } from './approval-rule.ts';

const alice = callerOf('alice', 'w');
const boss = callerOf('boss', 'w', 'operator');
const SITE = { origin: 'http://localhost', site: 'localhost', hub: 'h', nonce: 'n' };
const APPROVED: AskAnswer = { decision: 'approved' };

let store: Store;
let asks = 0;
beforeEach(async () => {
  store = openMemoryStore(() => NOW);
  await store.transact(creating('t', boss, ['alice', 'boss']));
});

async function raise(input: Partial<RaiseAsk['input']>, demanded?: 'high_risk'): Promise<Ask> {
  const content = { kind: 'approval', prompt: 'may I?', risk: 'low', expires_in_ms: 60_000 } as const;
  const command = { type: 'raise_ask', ...head(alice), thread_id: 't', ask_id: `ask_${++asks}` } as const;
  const how = demanded === undefined ? {} : { demanded };
  return (await store.transact({ ...command, ...how, input: { ...content, ...input } })).result.ask;
}

async function answer(
  { ask_id, thread_id }: Ask,
  input: AskAnswer,
  more: Pick<AnswerAsk, 'demanded' | 'proof'> = {},
): Promise<Ask> {
  const command = { type: 'answer_ask', ...head(boss), thread_id, ask_id, input, ...more } as const;
  return (await store.transact(command)).result.ask;
}

const challenge = (key: string, purpose: PasskeyChallenge['purpose'], ask_id?: string): PasskeyChallenge => ({
  key,
  workspace_id: 'w',
  person: 'boss',
  purpose,
  ...SITE,
  until: NOW + 60_000,
  ...(ask_id === undefined ? {} : { ask_id }),
});
const issue = (one: PasskeyChallenge) =>
  store.transact({ type: 'issue_challenge', ...head(boss), input: {}, challenge: one });

/** The passkey of the boss, added by a code as a person adds it. */
async function addPasskey(): Promise<PasskeyRecord> {
  const thread_id = journalId('w', 'boss');
  await issue(challenge('adding', 'add'));
  const code = challenge('code', 'code');
  await store.transact({ type: 'issue_passkey_code', ...head(boss), thread_id, input: {}, challenge: code });
  const passkey: PasskeyRecord = {
    passkey_id: 'passkey-1',
    person: 'boss',
    name: 'laptop',
    site: 'localhost',
    created_at: new Date(NOW).toISOString(),
    uses: 0,
    workspace_id: 'w',
    credential_id: 'credential',
    public_key: 'key',
    counter: 0,
  };
  const input = { challenge: 'adding', code: 'code' };
  await store.transact({ type: 'add_passkey', ...head(boss), thread_id, input, passkey });
  return passkey;
}

/** What a browser hands over, whose signature was found good before. */
const proofOf = ({ passkey_id, credential_id, public_key }: PasskeyRecord, key: string): PasskeyProof => ({
  ...SITE,
  until: NOW + 60_000,
  passkey_id,
  credential_id,
  public_key,
  counter: 1,
  client_data: Buffer.from(canonicalJson({ challenge: key })).toString('base64url'),
  authenticator_data: 'a',
  signature: 's',
});

const kept = async (kind: 'passkey' | 'passkey_challenge') =>
  store.records({ kind, workspace_id: 'w', limit: 9 });
const PASSKEY_NEEDED = { code: 'FORBIDDEN', details: { reason: 'passkey_needed' } };

test('what is of high risk bears that it needs a passkey, where the hub demands one', async () => {
  expect(await raise({ risk: 'high' }, 'high_risk')).toMatchObject({ prompt: 'may I?', needs_passkey: true });
  expect(await raise({ risk: 'high' })).not.toHaveProperty('needs_passkey');
  expect(await raise({ risk: 'low' }, 'high_risk')).not.toHaveProperty('needs_passkey');
});

test('what needs a passkey is approved with none by nobody, and denied without', async () => {
  const held = await raise({ risk: 'high' }, 'high_risk');
  await expect(answer(held, APPROVED)).rejects.toMatchObject(PASSKEY_NEEDED);
  expect(await answer(held, { decision: 'denied' })).toMatchObject({ status: 'answering' });
  // Demanded since it was raised.
  const older = await raise({ risk: 'high' });
  await expect(answer(older, APPROVED, { demanded: 'high_risk' })).rejects.toMatchObject(PASSKEY_NEEDED);
  const approved = await answer(older, APPROVED);
  expect(approved.verdict).toMatchObject({ decision: 'approved', by: 'boss' });
  expect(approved.verdict).not.toHaveProperty('passkey');
  const entries = (await store.page({ workspace_id: 'w', thread_id: 't', after: 0, ...ALL })).entries;
  expect(entries.at(-1)?.metadata).not.toHaveProperty('proof');
});

test('an approval that a passkey signed bears it, is on record with what was signed, and uses its challenge up', async () => {
  const passkey = await addPasskey();
  const held = await raise({ risk: 'high' }, 'high_risk');
  await issue(challenge('signed', 'answer', held.ask_id));
  const proof = proofOf(passkey, 'signed');
  const other = await raise({ risk: 'high' }, 'high_risk');
  await expect(answer(other, APPROVED, { proof })).rejects.toMatchObject({ code: 'CONFLICT' });
  expect(await answer(held, APPROVED, { proof })).toMatchObject({
    status: 'answering',
    verdict: { decision: 'approved', by: 'boss', passkey: 'passkey-1' },
  });
  const [ask] = await store.records({ kind: 'ask', workspace_id: 'w', keys: [held.ask_id], limit: 1 });
  expect(ask).toMatchObject({ status: 'answering' });
  const entries = (await store.page({ workspace_id: 'w', thread_id: 't', after: 0, ...ALL })).entries;
  expect(entries.at(-1)).toMatchObject({ type: 'ask.answered', metadata: { proof } });
  expect(await kept('passkey')).toMatchObject([{ passkey_id: 'passkey-1', counter: 1, uses: 1 }]);
  expect(await kept('passkey_challenge')).toEqual([]);
});

test('no approval rule answers what needs a passkey', async () => {
  const approval_rule = {
    approval_rule_id: 'rule_1',
    of_agent: 'alice',
    command: 'npm test',
    given_by: 'boss',
    created_at: new Date(NOW).toISOString(),
    uses: 0,
  };
  const ask = await raise({ command: 'npm test' });
  expect(grants(approval_rule, ask, NOW)).toBe(true);
  expect(grants(approval_rule, { ...ask, needs_passkey: true }, NOW)).toBe(false);
});
