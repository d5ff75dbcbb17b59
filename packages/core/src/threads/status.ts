import { type Caller, ParleyError, type ThreadStatus } from '@parley/protocol';

type Rule = 'anyone' | 'undisputed' | 'override';

/**
 * Who may move a thread from one status to another; a pair that is not here is no legal move.
 * anyone: every participant. undisputed: workers only while nothing is disputed. override: operator, orchestrator.
 */
export const TRANSITIONS: Record<ThreadStatus, Partial<Record<ThreadStatus, Rule>>> = {
  active: { blocked: 'anyone', resolved: 'anyone', closed: 'undisputed' },
  blocked: { active: 'anyone', resolved: 'anyone', closed: 'undisputed' },
  resolved: { active: 'anyone', closed: 'undisputed' },
  closed: { active: 'override' },
};

/** Operators and orchestrators may act on any thread of their workspace and override its course. */
export function mayOverride(caller: Pick<Caller, 'role'>): boolean {
  return caller.role === 'operator' || caller.role === 'orchestrator';
}

/** Refuses a status change that the table or the caller's role does not allow. */
export function checkTransition(
  from: ThreadStatus,
  to: ThreadStatus,
  disputed: boolean,
  caller: Pick<Caller, 'role'>,
): void {
  const rule = TRANSITIONS[from][to];
  if (rule === undefined) {
    const legal = Object.keys(TRANSITIONS[from]).join(', ');
    throw new ParleyError(
      'CONFLICT',
      from === to ? `the thread is already ${to}` : `a thread cannot go from ${from} to ${to}`,
      {
        from,
        to,
        legal: legal.split(', '),
      },
    );
  }
  if (rule === 'anyone' || mayOverride(caller)) return;
  if (rule === 'undisputed' && !disputed) return;
  throw new ParleyError(
    'INSUFFICIENT_AUTHORITY',
    rule === 'override'
      ? `only an operator or orchestrator may reopen a closed thread`
      : 'only an operator or orchestrator may close a disputed thread',
    { role: caller.role, from, to },
  );
}
