import {
  askOf,
  challengeOf,
  type Entry,
  factsOf,
  evolveAsk,
  type PasskeyProof,
  type PasskeyRecord,
  readEntry,
  saidIn,
} from '@parley/core';
import { type Ask, type AskVerdict, fieldsOf } from '@parley/protocol';

import { checkSignature } from '../../../auth/passkeys.ts';
import type { RecordPlace } from '../../../record/record-place.ts';
import { oneLine } from '../../harmless.ts';
import type { Check } from './check.ts';

/** A passkey as the log tells of it. */
type Registered = Pick<PasskeyRecord, 'person' | 'site' | 'credential_id' | 'public_key'> & {
  /** What it has said of its use so far. */
  counter: number;
  isRemoved: boolean;
};

/** What an answered ask tells. */
interface Answered {
  verdict: AskVerdict;
  proof?: PasskeyProof;
}

/** What of the log bears on approvals; everything else is not even read. */
const CONCERNS = /"type":"(?:ask\.(?:raised|answered)|agent\.passkey)"/;

/** Holds every signature in the log against its ask, its verdict and its passkey once more. */
export async function checkPasskeys(place: RecordPlace): Promise<Check> {
  const name = 'passkeys';
  try {
    const { signed, wrong } = await examineLog(place);
    if (wrong.length > 0)
      return { name, ok: false, detail: oneLine(`${wrong.length} wrong: ${wrong.slice(0, 3).join('; ')}`) };
    return {
      name,
      ok: true,
      detail: `${signed} ${signed === 1 ? 'approval' : 'approvals'} signed, every signature right`,
    };
  } catch (error) {
    // A record that cannot be read is told of by its own check.
    return { name, ok: true, detail: `not known: ${error instanceof Error ? error.message : String(error)}` };
  }
}

async function examineLog(place: RecordPlace): Promise<{ signed: number; wrong: string[] }> {
  const asks = new Map<string, Ask>();
  const passkeys = new Map<string, Registered>();
  const wrong: string[] = [];
  let signed = 0;
  const source = await place.source();
  try {
    for await (const page of source.entries(new Map()))
      for (const { workspace_id, json } of page) {
        if (!CONCERNS.test(json)) continue;
        const entry = readEntry(json);
        if (entry.type === 'agent.passkey') note(passkeys, workspace_id, entry);
        const askId = askOf(entry);
        if (askId === undefined) continue;
        if (entry.type === 'ask.raised') {
          const raised = evolveAsk(workspace_id, undefined, entry);
          // Only what is of high risk is ever signed.
          if (raised.risk === 'high') asks.set(askId, raised);
          continue;
        }
        const answer = factsOf<Answered>(entry);
        const fault = await faultOf(asks.get(askId), answer, passkeys);
        asks.delete(askId);
        if (fault !== undefined) wrong.push(`${askId}: ${fault}`);
        else if (answer.proof !== undefined) signed++;
      }
    for await (const page of source.records())
      for (const { kind, key, workspace_id, json } of page)
        if (
          kind === 'passkey' &&
          !isOnRecord(passkeys.get(`${workspace_id} ${key}`), fieldsOf(JSON.parse(json)))
        )
          wrong.push(`${key}: the passkey that is kept is not the one that the log tells of`);
  } finally {
    await source.close();
  }
  return { signed, wrong };
}

/** What is wrong with an answer; undefined where nothing is. */
async function faultOf(
  ask: Ask | undefined,
  { verdict, proof }: Answered,
  passkeys: ReadonlyMap<string, Registered>,
): Promise<string | undefined> {
  if (proof === undefined) {
    const isFree = verdict.decision === 'denied' || ask?.needs_passkey !== true;
    return isFree && verdict.passkey === undefined
      ? undefined
      : 'it was approved without the signature that it needs';
  }
  if (ask === undefined) return 'the log does not tell what was signed';
  const passkey = passkeys.get(`${ask.workspace_id} ${proof.passkey_id}`);
  if (passkey === undefined || passkey.isRemoved) return 'the log tells of no such passkey at that time';
  if (passkey.person !== verdict.by || verdict.passkey !== proof.passkey_id)
    return 'it was signed by somebody else';
  const person = verdict.by;
  const key = challengeOf({ ...proof, person }, ask, answerIn(verdict));
  if (Date.parse(verdict.at) > proof.until) return 'it was signed too late';
  try {
    const { credential_id, client_data, authenticator_data, signature } = proof;
    const given = { credential_id, client_data, authenticator_data, signature };
    const { counter } = await checkSignature(
      given,
      { key, origin: proof.origin, site: passkey.site },
      passkey,
    );
    passkey.counter = counter;
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A person says no more than these three; what else ends an ask is not signed. */
function answerIn(verdict: AskVerdict) {
  const { decision, ...said } = saidIn(verdict);
  return { ...said, decision: decision === 'withdrawn' ? ('denied' as const) : decision };
}

function note(passkeys: Map<string, Registered>, workspaceId: string, { metadata }: Entry): void {
  const { what, passkey_id, ...facts } = fieldsOf(metadata);
  const name = `${workspaceId} ${String(passkey_id)}`;
  const known = passkeys.get(name);
  if (what === 'removed' && known !== undefined) known.isRemoved = true;
  if (what !== 'added') return;
  const { person, site, credential_id, public_key } = facts;
  passkeys.set(name, {
    person: String(person),
    site: String(site),
    credential_id: String(credential_id),
    public_key: String(public_key),
    counter: 0,
    isRemoved: false,
  });
}

function isOnRecord(entry: Registered | undefined, kept: Record<string, unknown>): boolean {
  if (entry === undefined || entry.isRemoved) return false;
  const { person, site, credential_id, public_key } = entry;
  return Object.entries({ person, site, credential_id, public_key }).every(
    ([name, value]) => kept[name] === value,
  );
}
