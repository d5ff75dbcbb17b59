import { ParleyError } from '@parley/protocol';

import type { ReleaseLease, Rule, TakeLease } from '../commands.ts';
import { OWN_WORKSPACE } from '../hub-caller.ts';
import type { PutRecord } from '../records.ts';
import type { LeaseRecord } from './lease-record.ts';

/** One owner at a time: who has it keeps its epoch, and whoever comes after it gets the next one. */
const takeLease: Rule<TakeLease> = {
  needs: ({ input }) => ({ lease: input.name }),
  decide({ lease: known }, { input: { name, owner, ttl_ms }, now }) {
    const isOwn = known?.owner === owner;
    if (known !== undefined && !isOwn && isHeld(known, now))
      throw new ParleyError('CONFLICT', `the lease "${name}" is another's until ${known.until}`, {
        lease: name,
      });
    const epoch = isOwn ? known.epoch : (known?.epoch ?? 0) + 1;
    if (isOwn && ttl_ms === undefined) return { changes: [], result: { epoch } };
    const time = ttl_ms === undefined ? {} : { ttl_ms, until: iso(now + ttl_ms) };
    const result = { epoch, ...lastHeld(known) };
    return { changes: [], records: [put({ name, owner, epoch, ...time })], result };
  },
};

/** What is given back is free at once; its epoch stays, so that nobody writes under it again. */
const releaseLease: Rule<ReleaseLease> = {
  needs: ({ input }) => ({ lease: input.name }),
  decide({ lease: known }, { input: { owner }, now }) {
    if (known?.owner !== owner) return { changes: [], result: {} };
    const { name, epoch } = known;
    return { changes: [], records: [put({ name, owner: '', epoch, until: iso(now) })], result: {} };
  },
};

/** A lease that ends later than one taken now was taken by a clock that has been set back since. */
function isHeld({ until, ttl_ms = 0 }: LeaseRecord, now: number): boolean {
  const left = until === undefined ? 0 : Date.parse(until) - now;
  return left > 0 && left <= ttl_ms;
}

/** When somebody surely had it last: as it was taken, or given back. */
function lastHeld({ until, ttl_ms = 0 }: Partial<LeaseRecord> = {}): { last_held?: string } {
  return until === undefined ? {} : { last_held: iso(Date.parse(until) - ttl_ms) };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

function put(value: LeaseRecord): PutRecord {
  const { name: key, owner } = value;
  return { kind: 'lease', workspace_id: OWN_WORKSPACE, key, mark: '', owner, value };
}

export const leaseRules = { take_lease: takeLease, release_lease: releaseLease };
