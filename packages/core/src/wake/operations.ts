import { type Caller, inTime, ParleyError, type Quiet } from '@parley/protocol';

import { operation, stamp } from '../operation.ts';
import type { AgentPorts, RecordPorts, WakePorts } from '../ports.ts';
import { viewAgents, type ViewPorts } from '../agents/view.ts';
import { checkUnmuted } from '../participation/speaking.ts';
import { journalId } from '../threads/access.ts';
import { locateThread } from '../threads/find-thread.ts';
import { mayOverride } from '../threads/status.ts';
import { readPage } from '../record-pages.ts';
import { checkForce } from './policy.ts';
import { quietKey } from './quiet.ts';
import { toAnswer } from './wake.ts';

const triggerParticipant = operation('trigger_participant', {
  authority: 'act',
  async run(deps: RecordPorts & WakePorts, caller, input) {
    const {
      thread_id,
      target_agent_id: target,
      reason,
      trigger_prompt,
      force,
      audit,
      idempotency_key,
      timeout_ms: timeoutMs,
    } = input;
    const located = await locateThread(deps, caller, thread_id);
    checkUnmuted(located, caller);
    const { thread } = located;
    if (!thread.participants.includes(target)) {
      throw new ParleyError('NOT_FOUND', `${target} is not a participant of this thread`, {
        field: 'target_agent_id',
      });
    }
    checkForce(caller, force === true, audit);
    const asked = deps.waker.wake(caller, {
      thread,
      target,
      by: caller.agent_id,
      human: caller.role === 'operator',
      reason,
      note: trigger_prompt,
      audit: force === true ? audit : undefined,
      idempotency_key,
      timeoutMs,
    });
    return toAnswer(await asked.outcome);
  },
});

const checkReach = operation('check_reach', {
  authority: 'look',
  async run(deps: ViewPorts & WakePorts, caller, { of_agent }) {
    if (!mayOverride(caller))
      throw new ParleyError(
        'INSUFFICIENT_AUTHORITY',
        'only an operator or orchestrator may look how an agent is reached',
      );
    const [known] = await viewAgents(deps, caller, [of_agent]);
    if (known === undefined) throw new ParleyError('NOT_FOUND', `no agent ${of_agent} is known here`);
    const { family, doors } = await deps.waker.look(caller.workspace_id, of_agent);
    const opens = (how: 'now' | 'later'): boolean => doors.some(({ open }) => open === how);
    const reachable = opens('now') ? 'now' : opens('later') ? 'later' : 'no';
    return { agent_id: of_agent, runtime: family, reachable, doors };
  },
});

const setQuiet = operation('set_quiet', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { idempotency_key, ...input }) {
    const { of_agent, for_ms, hours } = input;
    mayQuiet(caller, of_agent);
    if (!input.quiet && (for_ms !== undefined || hours !== undefined))
      throw new ParleyError('VALIDATION_ERROR', 'quiet: what is taken back has neither for_ms nor hours', {
        field: 'quiet',
      });
    const head = stamp(deps, caller, `set_quiet ${of_agent ?? ''}`, idempotency_key);
    const thread_id = journalId(caller.workspace_id, of_agent ?? caller.agent_id);
    const { result } = await deps.log.append({ type: 'set_quiet', ...head, thread_id, input: { ...input } });
    return result;
  },
});

const listQuiet = operation('list_quiet', {
  authority: 'look',
  async run({ store, clock }: RecordPorts, { workspace_id }, page) {
    const stands = ({ until }: Quiet): boolean => until === undefined || Date.parse(until) > clock.now();
    const query = { kind: 'quiet', workspace_id } as const;
    const { values, next_after } = await readPage(store, query, page, quietKey, stands);
    return { quiet: values, next_after };
  },
});

/** Everybody may ask to be left alone; for others it takes an operator or an orchestrator. */
function mayQuiet({ role, agent_id }: Caller, of_agent: string | undefined): void {
  if (role === 'operator' || role === 'orchestrator' || of_agent === agent_id) return;
  throw new ParleyError(
    'INSUFFICIENT_AUTHORITY',
    `only an operator or orchestrator may do this for ${of_agent ?? 'everybody'}; for yourself, set of_agent to ${agent_id}`,
  );
}

const waitForWake = operation('wait_for_wake', {
  authority: 'act',
  async run(
    { waitingSessions, arrivals }: AgentPorts & WakePorts,
    caller,
    { native_session_id, took, seen, timeout_ms },
    { signal },
  ) {
    const { workspace_id, agent_id } = caller;
    const who = { workspace_id, agent_id, session: native_session_id.toLowerCase() };
    waitingSessions.saw(who, seen);
    if (took !== undefined) waitingSessions.took(who, took);
    if (took !== undefined || timeout_ms === 0) return { wake: null, replaced: false };
    arrivals.heard({ ...caller, session_id: `waits:${who.session}` });
    const wake = await inTime(timeout_ms, signal, (limit) => waitingSessions.wait(who, limit));
    return wake === 'replaced' ? { wake: null, replaced: true } : { wake: wake ?? null, replaced: false };
  },
});

/** By name: the table of operations takes them from here. */
export const wakeOperations = {
  trigger_participant: triggerParticipant,
  check_reach: checkReach,
  set_quiet: setQuiet,
  list_quiet: listQuiet,
  wait_for_wake: waitForWake,
};
