import { type Ask, type AskVerdict, ParleyError } from '@parley/protocol';

import { journalEntry } from '../agents/journal.ts';
import type { AddLeave, ApplyLeave, RevokeLeave, Rule, ThreadChange } from '../commands.ts';
import type { PutRecord } from '../records.ts';
import type { Located } from '../threads/access.ts';
import { answered } from './rules.ts';
import { grants, type KeptLeave } from './standing-leave.ts';

const MAX_LEAVES = 500;

const addLeave: Rule<AddLeave> = {
  needs: ({ thread_id }) => ({ thread: thread_id, records: true }),
  decide({ located, records }, command) {
    const { leave } = command;
    if ((records?.list({ kind: 'leave' }) ?? []).length >= MAX_LEAVES)
      throw new ParleyError('CONFLICT', `there are ${MAX_LEAVES} rules; revoke some`);
    const change = tell(located, command, leave, 'given');
    return { changes: [change], records: [putLeave(leave)], result: { leave } };
  },
};

const revokeLeave: Rule<RevokeLeave> = {
  needs: ({ thread_id }) => ({ thread: thread_id, records: true }),
  decide({ located, records }, command) {
    const { workspace_id } = command.caller;
    const { leave_id: key } = command.input;
    const leave = records?.get('leave', key);
    if (leave === undefined) throw new ParleyError('NOT_FOUND', 'no such rule');
    const change = tell(located, command, leave, 'revoked');
    return { changes: [change], drops: [{ kind: 'leave', workspace_id, key }], result: { leave } };
  },
};

/** Answers an ask in the name of who gave the leave; one that was revoked or answered meanwhile is left alone. */
const applyLeave: Rule<ApplyLeave> = {
  needs: ({ thread_id, ask_id }) => ({
    thread: thread_id,
    record: { kind: 'ask', key: ask_id },
    records: true,
  }),
  decide(loaded, command) {
    const ask = loaded.record as Ask;
    const leave = loaded.records?.get('leave', command.input.leave_id);
    if (ask.status !== 'open' || leave === undefined || !grants(leave, ask, command.now))
      return { changes: [], result: { ask } };
    const at = new Date(command.now).toISOString();
    const option = ask.options?.find(({ kind }) => kind === 'allow_once')?.id;
    const verdict: AskVerdict = {
      decision: 'approved',
      scope: 'rule',
      ...(option === undefined ? {} : { option }),
      by: leave.given_by,
      device: leave.leave_id,
      at,
      reason: `by the rule ${leave.leave_id}: ${leave.command}`,
    };
    const decision = answered(loaded, command, ask, verdict);
    const used = { ...leave, uses: leave.uses + 1, last_used_at: at };
    return { ...decision, records: [...(decision.records ?? []), putLeave(used)] };
  },
};

export const leaveRules = { add_leave: addLeave, revoke_leave: revokeLeave, apply_leave: applyLeave };

/** What may run without being asked is on record where the agent's deeds are. */
function tell(
  located: Located,
  command: AddLeave | RevokeLeave,
  { leave_id, of_agent, command: pattern, cwd, expires_at }: KeptLeave,
  what: 'given' | 'revoked',
): ThreadChange {
  const content = {
    type: 'agent.leave',
    kind: 'system',
    body: what === 'given' ? `approved from now on: ${pattern}` : `asked again from now on: ${pattern}`,
    metadata: {
      what,
      leave_id,
      command: pattern,
      ...(cwd === undefined ? {} : { cwd }),
      ...(expires_at === undefined ? {} : { expires_at }),
    },
  } as const;
  return journalEntry(located, of_agent, command, content).change;
}

function putLeave(value: KeptLeave): PutRecord {
  const { workspace_id, leave_id: key, of_agent: owner } = value;
  return { kind: 'leave', workspace_id, key, mark: '', owner, value };
}
