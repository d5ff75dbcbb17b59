import { hash } from 'node:crypto';

import { ParleyError } from '@parley/protocol';

import type { BindPerson, EndPerson, Loaded, Rule } from '../commands.ts';
import { readerOf } from '../knowledge/change.ts';
import type { PersonRecord, PutRecord, RecordReader } from '../records.ts';
import { putDevice } from './put-device.ts';

const bindPerson: Rule<BindPerson> = {
  needs: () => ({ records: true }),
  decide(loaded, { caller: { workspace_id }, input: { named, ...account } }) {
    const { agent_id } = account;
    const records = readerOf(loaded);
    const known = records.get('person', agent_id);
    if (known !== undefined && accountOf(known) === accountOf(account))
      return { changes: [], result: { person: known } };
    // A name that was borne here before the issuer came belongs to somebody: only the configuration gives it away.
    const borne = known !== undefined || isBorne(records, agent_id);
    if (borne && !named)
      throw new ParleyError('CONFLICT', `the name ${agent_id} belongs to somebody else here`);
    const person: PersonRecord = { ...account, workspace_id };
    return { changes: [], records: [putPerson(person)], result: { person } };
  },
};

const endPerson: Rule<EndPerson> = {
  needs: () => ({ records: true }),
  decide(loaded, { now, input }) {
    const records = endOf(loaded, input, now);
    return { changes: [], records, result: { ended: records.length } };
  },
};

export const personRules = { bind_person: bindPerson, end_person: endPerson };

/** What ends in a workspace when one of an issuer's accounts is signed out: its devices, and what its tokens may do. */
export function endOf(loaded: Loaded, account: Account, now: number): PutRecord[] {
  const records = readerOf(loaded);
  const ended_at = new Date(now).toISOString();
  const people = records.list({ kind: 'person', owner: accountOf(account) });
  const devices = people.flatMap(({ agent_id }) => records.list({ kind: 'device', owner: agent_id }));
  const theirs = devices.filter(
    ({ grant, revoked_at }) =>
      revoked_at === undefined &&
      grant?.person !== undefined &&
      accountOf(grant.person) === accountOf(account),
  );
  return [
    ...people.map((person) => putPerson({ ...person, ended_at })),
    ...theirs.map((device) => putDevice({ ...device, revoked_at: ended_at })),
  ];
}

type Account = Pick<PersonRecord, 'issuer' | 'subject'>;

/** One word for an account: subjects are free text, and two issuers may use the same. */
export function accountOf({ issuer, subject }: Account): string {
  return hash('sha256', JSON.stringify([issuer, subject]), 'base64url');
}

function isBorne(records: RecordReader, agentId: string): boolean {
  const owned = { owner: agentId, limit: 1 } as const;
  return (
    records.get('agent', agentId) !== undefined ||
    records.list({ kind: 'device', ...owned }).length > 0 ||
    records.list({ kind: 'session', ...owned }).length > 0
  );
}

function putPerson(value: PersonRecord): PutRecord {
  const { workspace_id, agent_id: key, ended_at } = value;
  const mark = ended_at === undefined ? 'active' : 'ended';
  return { kind: 'person', workspace_id, key, mark, owner: accountOf(value), value };
}
