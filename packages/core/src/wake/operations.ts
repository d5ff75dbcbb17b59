import { ParleyError } from '@parley/protocol';

import { operation } from '../operation.ts';
import { findThread } from '../threads/find-thread.ts';
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
    const thread = await findThread(deps, caller, thread_id);
    if (!thread.participants.includes(target)) {
      throw new ParleyError('NOT_FOUND', `${target} is not a participant of this thread`, {
        field: 'target_agent_id',
      });
    }
    checkForce(caller, force === true, audit);
    deps.messageQuota.spend(caller);
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
