import { type Caller, LIMITS, ParleyError, type Quiet } from '@parley/protocol';

import { operation, stamp } from '../operation.ts';
import { checkUnmuted } from '../participation/speaking.ts';
import { journalId } from '../threads/access.ts';
import { locateThread } from '../threads/find-thread.ts';
import { checkForce } from './policy.ts';
import { toAnswer } from './wake.ts';

export const triggerParticipant = operation('trigger_participant', {
  authority: 'act',
  async run(deps, caller, input) {
    const {
      thread_id,
      target_agent_id: target,
      reason,
      trigger_prompt,
      force,
      audit,
      idempotency_key,
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
    });
    return toAnswer(await asked.outcome);
  },
});

export const setQuiet = operation('set_quiet', {
  authority: 'act',
  async run(deps, caller, { idempotency_key, ...input }) {
    const { of_agent, for_ms, hours } = input;
    mayQuiet(caller, of_agent);
    if (!input.quiet && (for_ms !== undefined || hours !== undefined))
      throw new ParleyError('VALIDATION_ERROR', 'quiet: what is taken back has neither for_ms nor hours', {
        field: 'quiet',
      });
    const head = stamp(deps, caller, `set_quiet ${of_agent ?? ''}`, idempotency_key);
    const thread_id = journalId(caller.workspace_id, of_agent ?? caller.agent_id);
    const { result } = await deps.log.append({ type: 'set_quiet', ...head, thread_id, input: { ...input } });
    return { quiet: result['quiet'] as Quiet | null };
  },
});

export const listQuiet = operation('list_quiet', {
  authority: 'look',
  async run({ store, clock }, { workspace_id }) {
    const kept = await store.records({ kind: 'quiet', workspace_id, limit: LIMITS.records });
    const isOver = ({ until }: Quiet): boolean => until !== undefined && Date.parse(until) <= clock.now();
    return { quiet: kept.filter((quiet) => !isOver(quiet)) };
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

export const waitForWake = operation('wait_for_wake', {
  authority: 'act',
  async run(
    { wakeDesk },
    { workspace_id, agent_id },
    { native_session_id, took, seen, timeout_ms },
    { signal },
  ) {
    const who = { workspace_id, agent_id, session: native_session_id.toLowerCase() };
    wakeDesk.saw(who, seen);
    if (took !== undefined) wakeDesk.took(who, took);
    if (took !== undefined || timeout_ms === 0) return { wake: null, replaced: false };
    const wake = await wakeDesk.wait(who, AbortSignal.any([signal, AbortSignal.timeout(timeout_ms)]));
    return wake === 'replaced' ? { wake: null, replaced: true } : { wake: wake ?? null, replaced: false };
  },
});
