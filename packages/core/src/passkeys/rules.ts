import { fieldsOf, ParleyError } from '@parley/protocol';

import { journalEntry } from '../agents/journal.ts';
import type {
  AddPasskey,
  Command,
  IssueChallenge,
  IssuePasskeyCode,
  Loaded,
  RemovePasskey,
  Rule,
  ThreadChange,
} from '../commands.ts';
import type { PutRecord, RecordName } from '../records.ts';
import { badSignature, staleChallenge } from './demand.ts';
import type { PasskeyChallenge, PasskeyProof, PasskeyRecord } from './passkey-record.ts';

/** How many a person may have. */
export const MAX_PASSKEYS = 20;
/** How many challenges and codes of one person may be open at once. */
const MAX_OPEN = 50;

const passkeysOf = (owner: string) => ({ kind: 'passkey', owner, limit: MAX_PASSKEYS }) as const;
const challengesOf = (owner: string) => ({ kind: 'passkey_challenge', owner, limit: 200 }) as const;

const issueChallenge: Rule<IssueChallenge> = {
  needs: ({ challenge }) => ({ records: true, lists: [challengesOf(challenge.person)] }),
  decide(loaded, { challenge, now }) {
    return {
      changes: [],
      records: [putChallenge(challenge)],
      drops: makeRoom(loaded, challenge, now),
      result: { until: challenge.until },
    };
  },
};

const issuePasskeyCode: Rule<IssuePasskeyCode> = {
  needs: ({ thread_id, challenge }) => ({
    thread: thread_id,
    records: true,
    lists: [challengesOf(challenge.person)],
  }),
  decide(loaded, command) {
    const { challenge, now } = command;
    const until = new Date(challenge.until).toISOString();
    const body = `${challenge.person} may add a passkey until ${until}, by a code from the data folder`;
    return {
      changes: [
        tell(loaded, command, challenge.person, body, { what: 'code', person: challenge.person, until }),
      ],
      records: [putChallenge(challenge)],
      drops: makeRoom(loaded, challenge, now),
      result: { until: challenge.until },
    };
  },
};

const addPasskey: Rule<AddPasskey> = {
  needs: ({ thread_id, passkey, input }) => ({
    thread: thread_id,
    records: true,
    gets: [
      { kind: 'passkey', key: passkey.passkey_id },
      { kind: 'passkey_challenge', key: input.challenge },
      { kind: 'passkey_challenge', key: input.code },
    ],
    lists: [passkeysOf(passkey.person)],
  }),
  decide(loaded, command) {
    const { passkey, input } = command;
    const { person, passkey_id, site, public_key } = passkey;
    const challenge = spend(loaded, command, input.challenge, 'add', person);
    const code = findOpen(loaded, command, input.code, 'code', person);
    if (challenge === undefined) throw staleChallenge();
    if (code === undefined)
      throw new ParleyError(
        'FORBIDDEN',
        'this code is not good: run parley passkey code where the hub runs, and type what it prints',
        { field: 'code' },
      );
    if (loaded.records?.get('passkey', passkey_id) !== undefined)
      throw new ParleyError('CONFLICT', 'this passkey is there already');
    if ((loaded.records?.list(passkeysOf(person)) ?? []).length >= MAX_PASSKEYS)
      throw new ParleyError('CONFLICT', `${person} has ${MAX_PASSKEYS} passkeys; remove some`);
    const facts = { what: 'added', passkey_id, site, credential_id: passkey.credential_id, public_key };
    const body = `added the passkey ${passkey.name} for ${site}`;
    return {
      changes: [tell(loaded, command, person, body, { ...facts, person, name: passkey.name })],
      records: [putPasskey(passkey)],
      drops: [challenge, nameOf(code)],
      result: { passkey },
    };
  },
};

const removePasskey: Rule<RemovePasskey> = {
  needs: ({ thread_id, input }) => ({
    thread: thread_id,
    records: true,
    gets: [{ kind: 'passkey', key: input.passkey_id }],
  }),
  decide(loaded, command) {
    const { passkey_id: key } = command.input;
    const passkey = loaded.records?.get('passkey', key);
    if (passkey === undefined) throw new ParleyError('NOT_FOUND', 'no such passkey');
    const { person, name, site, workspace_id } = passkey;
    const facts = { what: 'removed', passkey_id: key, person, name, site };
    return {
      changes: [tell(loaded, command, person, `removed the passkey ${name} of ${person} for ${site}`, facts)],
      drops: [{ kind: 'passkey', workspace_id, key }],
      result: { passkey },
    };
  },
};

export const passkeyRules = {
  issue_challenge: issueChallenge,
  issue_passkey_code: issuePasskeyCode,
  add_passkey: addPasskey,
  remove_passkey: removePasskey,
};

/** What a rule must know to use up a proof. */
export const needsProof = ({ passkey_id, client_data }: PasskeyProof) => ({
  records: true as const,
  gets: [
    { kind: 'passkey' as const, key: passkey_id },
    { kind: 'passkey_challenge' as const, key: challengeIn(client_data) },
  ],
});

/**
 * Uses up a proof that was held against its signature: its challenge is good once, its passkey still there, and its
 * counter above the last. What is then to be written comes back.
 */
export function useProof(
  loaded: Loaded,
  command: Pick<Command, 'caller' | 'now'>,
  proof: PasskeyProof,
  askId: string,
) {
  const { agent_id: person, workspace_id } = command.caller;
  const spent = spend(loaded, command, challengeIn(proof.client_data), 'answer', person, askId);
  if (spent === undefined) throw staleChallenge();
  const passkey = loaded.records?.get('passkey', proof.passkey_id);
  if (passkey === undefined || passkey.person !== person || passkey.workspace_id !== workspace_id)
    throw badSignature('this passkey is not one of yours here');
  if (passkey.public_key !== proof.public_key) throw badSignature('it is of another passkey');
  if ((proof.counter > 0 || passkey.counter > 0) && proof.counter <= passkey.counter)
    throw badSignature('it is older than the last one of this passkey, which may have been copied');
  const used: PasskeyRecord = {
    ...passkey,
    counter: proof.counter,
    uses: passkey.uses + 1,
    last_used_at: new Date(command.now).toISOString(),
  };
  return { records: [putPasskey(used)], drops: [spent] };
}

/** The challenge that a browser says it has signed; empty where it says none. */
export function challengeIn(clientData: string): string {
  try {
    const { challenge } = fieldsOf(JSON.parse(Buffer.from(clientData, 'base64url').toString()));
    return typeof challenge === 'string' ? challenge : '';
  } catch {
    return '';
  }
}

function findOpen(
  { records }: Loaded,
  { now }: Pick<Command, 'now'>,
  key: string,
  purpose: PasskeyChallenge['purpose'],
  person: string,
  askId?: string,
): PasskeyChallenge | undefined {
  const found = records?.get('passkey_challenge', key);
  const fits = found?.purpose === purpose && found.person === person && found.ask_id === askId;
  return fits && found.until > now ? found : undefined;
}

function spend(...asked: Parameters<typeof findOpen>): RecordName | undefined {
  const found = findOpen(...asked);
  return found && nameOf(found);
}

const nameOf = ({ workspace_id, key }: PasskeyChallenge): RecordName => ({
  kind: 'passkey_challenge',
  workspace_id,
  key,
});

/** What ran out goes with the next that is handed out, so that nobody has to sweep. */
function makeRoom({ records }: Loaded, { person }: PasskeyChallenge, now: number): RecordName[] {
  const held = records?.list(challengesOf(person)) ?? [];
  const over = held.filter(({ until }) => until <= now);
  if (held.length - over.length >= MAX_OPEN)
    throw new ParleyError('RATE_LIMITED', 'too many challenges of yours are open; wait two minutes', {
      retry_after_ms: 120_000,
    });
  return over.map(nameOf);
}

/** Who may sign is on record in the journal of the person. */
function tell(
  { located }: Loaded,
  command: IssuePasskeyCode | AddPasskey | RemovePasskey,
  person: string,
  body: string,
  metadata: Record<string, unknown>,
): ThreadChange {
  return journalEntry(located, person, command, { type: 'agent.passkey', kind: 'system', body, metadata })
    .change;
}

function putPasskey(value: PasskeyRecord): PutRecord {
  const { workspace_id, passkey_id: key, person: owner } = value;
  return { kind: 'passkey', workspace_id, key, mark: '', owner, value };
}

function putChallenge(value: PasskeyChallenge): PutRecord {
  const { workspace_id, key, person: owner, purpose: mark } = value;
  return { kind: 'passkey_challenge', workspace_id, key, mark, owner, value };
}
