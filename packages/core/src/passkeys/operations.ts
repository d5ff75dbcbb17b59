import {
  type AskAnswer,
  type Caller,
  type Ask,
  type Passkey,
  ParleyError,
  type PasskeySignature,
} from '@parley/protocol';
import { hash } from 'node:crypto';

import { findAsk } from '../asks/find-ask.ts';
import { requirePerson } from '../devices/operations.ts';
import { hubCaller } from '../hub-caller.ts';
import { operation, stamp } from '../operation.ts';
import type { AskPorts, PasskeyPorts, RecordPorts } from '../ports.ts';
import { readPage } from '../record-pages.ts';
import { journalId } from '../threads/access.ts';
import { badSignature, staleChallenge } from './demand.ts';
import {
  codeKey,
  type PasskeyChallenge,
  passkeyId,
  type PasskeyProof,
  type PasskeyRecord,
} from './passkey-record.ts';
import { challengeIn, MAX_PASSKEYS } from './rules.ts';
import { challengeOf } from './statement.ts';

/** How long a challenge may take to be signed, and a code to be typed. */
const CHALLENGE_MS = 120_000;
const CODE_MS = 600_000;

/** Neither vowels, so that no words arise, nor what is easily mistaken for something else. */
const LETTERS = 'BCDFGHJKMNPQRSTVWXZ23456789';

const listPasskeys = operation('list_passkeys', {
  authority: 'look',
  async run(deps: RecordPorts & PasskeyPorts, caller, page) {
    requirePerson(caller);
    const query = { kind: 'passkey', workspace_id: caller.workspace_id } as const;
    const found = await readPage(deps.store, query, page, ({ passkey_id }) => passkey_id);
    const { demanded, origins } = deps.passkeys;
    return {
      passkeys: found.values.map(shown),
      demanded,
      origins: origins(),
      next_after: found.next_after,
    };
  },
});

const beginPasskey = operation('begin_passkey', {
  authority: 'act',
  async run(deps: RecordPorts & PasskeyPorts, caller, { origin }) {
    requirePerson(caller);
    const site = siteOf(deps, origin);
    const head = stamp(deps, caller, '', undefined);
    const nonce = newNonce(deps);
    const until = head.now + CHALLENGE_MS;
    const { agent_id: person, workspace_id } = caller;
    const { hub } = deps.passkeys;
    const challenge: PasskeyChallenge = {
      key: nonce,
      purpose: 'add',
      person,
      workspace_id,
      origin,
      site,
      hub,
      nonce,
      until,
    };
    await deps.log.append({ type: 'issue_challenge', ...head, challenge, input: {} });
    const user_id = hash('sha256', JSON.stringify([hub, workspace_id, person]), 'base64url');
    const known = (await passkeysOf(deps, caller, site)).map(({ credential_id }) => credential_id);
    return { challenge: nonce, site, user_id, known, expires_at: new Date(until).toISOString() };
  },
});

const addPasskey = operation('add_passkey', {
  authority: 'act',
  async run(deps: RecordPorts & PasskeyPorts, caller, { code, name, credential, idempotency_key }) {
    requirePerson(caller);
    const { agent_id: person, workspace_id } = caller;
    const { credential_id } = credential;
    const passkey_id = passkeyId(credential_id);
    const key = challengeIn(credential.client_data);
    const [known, challenge] = await Promise.all([
      findPasskey(deps, caller, passkey_id),
      findChallenge(deps, caller, key),
    ]);
    if (known?.credential_id === credential_id && known.person === person) return { passkey: shown(known) };
    if (challenge?.purpose !== 'add' || challenge.person !== person) throw staleChallenge();
    const head = stamp(deps, caller, 'add_passkey', idempotency_key);
    const passkey: PasskeyRecord = {
      passkey_id,
      name,
      person,
      site: challenge.site,
      created_at: new Date(head.now).toISOString(),
      uses: 0,
      workspace_id,
      credential_id,
      ...(await deps.passkeys.checkNew(credential, challenge)),
    };
    const thread_id = journalId(workspace_id, person);
    const input = { challenge: key, code: codeKey(code) };
    const { result } = await deps.log.append({ type: 'add_passkey', ...head, thread_id, passkey, input });
    return { passkey: shown(result.passkey) };
  },
});

const removePasskey = operation('remove_passkey', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { passkey_id, idempotency_key }) {
    requirePerson(caller);
    const head = stamp(deps, caller, 'remove_passkey', idempotency_key);
    // A repeat of a removal finds nothing here, and its answer under its key.
    const known = await findPasskey(deps, caller, passkey_id);
    const thread_id = journalId(caller.workspace_id, known?.person ?? caller.agent_id);
    const { result } = await deps.log.append({
      type: 'remove_passkey',
      ...head,
      thread_id,
      input: { passkey_id },
    });
    return { passkey: shown(result.passkey) };
  },
});

const challengeAsk = operation('challenge_ask', {
  authority: 'act',
  async run(deps: RecordPorts & AskPorts & PasskeyPorts, caller, { ask_id, origin, ...answer }) {
    requirePerson(caller);
    const site = siteOf(deps, origin);
    const ask = await findAsk(deps, caller, ask_id);
    const credentials = (await passkeysOf(deps, caller, site)).map(({ credential_id }) => credential_id);
    if (credentials.length === 0)
      throw new ParleyError('CONFLICT', `you have no passkey for ${site}: add one under System, Passkeys`, {
        reason: 'no_passkey',
      });
    const head = stamp(deps, caller, '', undefined);
    const { agent_id: person, workspace_id } = caller;
    const until = head.now + CHALLENGE_MS;
    const signing = { person, origin, hub: deps.passkeys.hub, nonce: newNonce(deps), until };
    const key = challengeOf(signing, ask, answer);
    const challenge: PasskeyChallenge = { ...signing, key, purpose: 'answer', workspace_id, site, ask_id };
    await deps.log.append({ type: 'issue_challenge', ...head, challenge, input: {} });
    return { challenge: key, site, credentials, expires_at: new Date(until).toISOString() };
  },
});

/** What a signature refers to, as far as it is there: looked up beside the ask, to wait once for both. */
export async function findSigned(deps: RecordPorts, caller: Caller, signature: PasskeySignature) {
  const key = challengeIn(signature.client_data);
  const passkey_id = passkeyId(signature.credential_id);
  const [challenge, passkey] = await Promise.all([
    findChallenge(deps, caller, key),
    findPasskey(deps, caller, passkey_id),
  ]);
  return { signature, key, passkey_id, challenge, passkey };
}

/** Holds what a passkey has signed against the ask and the answer; what comes back goes into the log with the verdict. */
export async function proveAnswer(
  deps: PasskeyPorts,
  caller: Caller,
  ask: Ask,
  answer: AskAnswer,
  { signature, key, passkey_id, challenge, passkey }: Awaited<ReturnType<typeof findSigned>>,
): Promise<PasskeyProof> {
  if (challenge?.purpose !== 'answer' || challenge.person !== caller.agent_id) throw staleChallenge();
  if (challenge.ask_id !== ask.ask_id || challengeOf(challenge, ask, answer) !== key)
    throw badSignature('it is for another command or another answer');
  if (passkey?.credential_id !== signature.credential_id || passkey.person !== caller.agent_id)
    throw badSignature('this passkey is not one of yours here');
  const { counter } = await deps.passkeys.checkSignature(signature, challenge, passkey);
  const { origin, site, hub, nonce, until } = challenge;
  return {
    passkey_id,
    public_key: passkey.public_key,
    counter,
    origin,
    site,
    hub,
    nonce,
    until,
    ...signature,
  };
}

/** A code by which a person adds a passkey, for whoever owns the data folder; that it was given is on record. */
export async function issuePasskeyCode(
  deps: RecordPorts & PasskeyPorts,
  person: string,
  workspace_id: string,
): Promise<{ code: string; expires_at: string }> {
  const letters = Array.from({ length: 8 }, () => LETTERS[deps.chance.below(LETTERS.length)]);
  const code = `${letters.slice(0, 4).join('')}-${letters.slice(4).join('')}`;
  const head = stamp(deps, hubCaller(workspace_id), '', undefined);
  const until = head.now + CODE_MS;
  const challenge: PasskeyChallenge = {
    key: codeKey(code),
    purpose: 'code',
    person,
    workspace_id,
    origin: '',
    site: '',
    hub: deps.passkeys.hub,
    nonce: '',
    until,
  };
  const thread_id = journalId(workspace_id, person);
  await deps.log.append({ type: 'issue_passkey_code', ...head, thread_id, challenge, input: {} });
  return { code, expires_at: new Date(until).toISOString() };
}

/** The name of a page at which passkeys work; a foreign page and one without a name are refused. */
function siteOf({ passkeys }: PasskeyPorts, origin: string): string {
  const origins = passkeys.origins();
  if (origins.includes(origin)) return new URL(origin).hostname;
  const way = origins.length === 0 ? 'start the hub with parley serve --lan' : `open ${origins.join(' or ')}`;
  throw new ParleyError(
    'VALIDATION_ERROR',
    `origin: a passkey needs a page of the hub that has a name; ${way}`,
    { field: 'origin', supported: origins },
  );
}

function newNonce({ chance }: Pick<RecordPorts, 'chance'>): string {
  return Buffer.from(chance.bytes(32)).toString('base64url');
}

async function passkeysOf(
  { store }: RecordPorts,
  { workspace_id, agent_id: owner }: Caller,
  site: string,
): Promise<PasskeyRecord[]> {
  const all = await store.records({ kind: 'passkey', workspace_id, owner, limit: MAX_PASSKEYS });
  return all.filter((one) => one.site === site);
}

async function findPasskey(
  { store }: RecordPorts,
  { workspace_id }: Caller,
  key: string,
): Promise<PasskeyRecord | undefined> {
  return (await store.records({ kind: 'passkey', workspace_id, keys: [key], limit: 1 }))[0];
}

async function findChallenge(
  { store }: RecordPorts,
  { workspace_id }: Caller,
  key: string,
): Promise<PasskeyChallenge | undefined> {
  if (key === '') return undefined;
  return (await store.records({ kind: 'passkey_challenge', workspace_id, keys: [key], limit: 1 }))[0];
}

function shown(kept: PasskeyRecord): Passkey {
  const { passkey_id, name, person, site, created_at, last_used_at, uses } = kept;
  return {
    passkey_id,
    name,
    person,
    site,
    created_at,
    uses,
    ...(last_used_at === undefined ? {} : { last_used_at }),
  };
}

/** By name: the table of operations takes them from here. */
export const passkeyOperations = {
  list_passkeys: listPasskeys,
  begin_passkey: beginPasskey,
  add_passkey: addPasskey,
  remove_passkey: removePasskey,
  challenge_ask: challengeAsk,
};
