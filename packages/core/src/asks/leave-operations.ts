import { type Ask, type Caller, LIMITS } from '@parley/protocol';

import { requirePerson } from '../devices/operations.ts';
import { hubCaller } from '../hub-caller.ts';
import { type Deps, operation, stamp } from '../operation.ts';
import { journalId } from '../threads/access.ts';
import { grants, type KeptLeave } from './standing-leave.ts';
import { isHighRisk } from './weigh-risk.ts';

export const listLeaves = operation('list_leaves', {
  authority: 'look',
  async run(deps, caller) {
    requirePerson(caller);
    return { leaves: (await leavesOf(deps, caller)).map(shown) };
  },
});

export const addLeave = operation('add_leave', {
  authority: 'act',
  async run(deps, caller, { idempotency_key, of_agent, command, cwd, expires_in_ms }) {
    requirePerson(caller);
    const head = stamp(deps, caller, 'add_leave', idempotency_key);
    const leave: KeptLeave = {
      leave_id: `rule-${Buffer.from(deps.chance.bytes(6)).toString('hex')}`,
      workspace_id: caller.workspace_id,
      of_agent,
      command,
      given_by: caller.agent_id,
      created_at: new Date(head.now).toISOString(),
      uses: 0,
      ...(cwd === undefined ? {} : { cwd }),
      ...(expires_in_ms === undefined
        ? {}
        : { expires_at: new Date(head.now + expires_in_ms).toISOString() }),
    };
    const input = { of_agent, command, ...(cwd === undefined ? {} : { cwd }) };
    const thread_id = journalId(caller.workspace_id, of_agent);
    const { result } = await deps.log.append({ type: 'add_leave', ...head, thread_id, leave, input });
    return { leave: shown(result['leave'] as KeptLeave) };
  },
});

export const revokeLeave = operation('revoke_leave', {
  authority: 'act',
  async run(deps, caller, { idempotency_key, leave_id }) {
    requirePerson(caller);
    const head = stamp(deps, caller, 'revoke_leave', idempotency_key);
    const { workspace_id } = caller;
    const [known] = await deps.store.records({ kind: 'leave', workspace_id, keys: [leave_id], limit: 1 });
    // A repeat of a revocation finds nothing here, and its answer under its key.
    const thread_id = journalId(workspace_id, known?.of_agent ?? caller.agent_id);
    const input = { leave_id };
    const { result } = await deps.log.append({ type: 'revoke_leave', ...head, thread_id, input });
    return { leave: shown(result['leave'] as KeptLeave) };
  },
});

/** The ask after those leaves that answer it: what nobody has allowed waits for a person. */
export async function applyLeaves(deps: Deps, caller: Caller, ask: Ask): Promise<Ask> {
  if (ask.status !== 'open' || ask.kind !== 'approval' || isHighRisk(ask)) return ask;
  const now = deps.clock.now();
  const leave = (await leavesOf(deps, caller, ask.agent_id)).find((one) => grants(one, ask, now));
  if (leave === undefined) return ask;
  const { thread_id, ask_id } = ask;
  const head = stamp(deps, hubCaller(caller.workspace_id), '', undefined);
  const input = { leave_id: leave.leave_id };
  const { result } = await deps.log.append({ type: 'apply_leave', ...head, thread_id, ask_id, input });
  return result['ask'] as Ask;
}

function leavesOf({ store }: Deps, { workspace_id }: Caller, owner?: string): Promise<KeptLeave[]> {
  const query = { kind: 'leave', workspace_id, limit: LIMITS.records } as const;
  return store.records(owner === undefined ? query : { ...query, owner });
}

function shown({ workspace_id: _workspace, ...leave }: KeptLeave): Omit<KeptLeave, 'workspace_id'> {
  return leave;
}
