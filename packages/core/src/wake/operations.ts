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
