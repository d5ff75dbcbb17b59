import { ParleyError } from '@parley/protocol';

/** Who does a job, and for how long nobody else may. */
export interface LeaseRecord {
  name: string;
  /** One process, from its start to its end. */
  owner: string;
  /** Rises each time that the lease comes to another owner. */
  epoch: number;
  /** How long it holds without being taken again; without it, whoever comes next has it. */
  ttl_ms?: number;
  /** When it ends, or has been given back. */
  until?: string;
}

/** By what right an owner writes: the store refuses what does not carry the epoch that is on record. */
export interface Fence {
  lease: string;
  epoch: number;
}

const LOST = 'lease_lost';

/** Refuses the write of an owner whose time is over. */
export function checkFence(known: LeaseRecord | undefined, { lease, epoch }: Fence): void {
  if (known?.epoch === epoch) return;
  const now = known === undefined ? 'nobody has it' : `it is at epoch ${known.epoch}`;
  const message = `this was written under epoch ${epoch} of the lease "${lease}", and ${now} now`;
  throw new ParleyError('CONFLICT', message, { reason: LOST, lease });
}

/** True for the refusal of a write whose lease another has taken. */
export function isLeaseLost(error: unknown): boolean {
  return error instanceof ParleyError && error.code === 'CONFLICT' && error.details?.['reason'] === LOST;
}
