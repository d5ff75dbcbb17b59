import { type Caller, ParleyError } from '@parley/protocol';

/** What a role may do with documents: an operator is their owner, an orchestrator their editor, a worker an agent. */
const RIGHTS = {
  operator: ['read', 'create', 'change'],
  orchestrator: ['read', 'create', 'change'],
  worker: ['read', 'create'],
  observer: ['read'],
} as const satisfies Record<Caller['role'], readonly string[]>;

export type TreeRight = 'read' | 'create' | 'change';

/** Refuses what the caller's role does not allow; asked at the door, and again inside the store. */
export function requireTreeRight({ role }: Caller, right: TreeRight): void {
  const rights: readonly string[] = RIGHTS[role];
  if (rights.includes(right)) return;
  const who = role === 'observer' ? 'an observer may only read' : 'a worker may only read and create';
  throw new ParleyError('FORBIDDEN', `${who} documents; ask an orchestrator or an operator`);
}
