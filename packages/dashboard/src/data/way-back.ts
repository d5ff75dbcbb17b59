import type { Control, ThreadStatus } from '@parley/protocol';

import { hubNow } from './api.ts';
import type { ThreadRow } from './state.ts';

/** The control that puts a thread back as it stood; undefined where there is none. */
export function inverseOf(verb: Control, thread: ThreadRow | undefined): Control | undefined {
  if ('pause' in verb) return { pause: { on: !verb.pause.on } };
  if ('done' in verb) return { done: !verb.done };
  if ('mute' in verb) return { unmute: { targets: verb.mute.targets } };
  if ('invite' in verb) return { remove: { participant_id: verb.invite.participant_id } };
  if (!('unmute' in verb)) return undefined;
  const { targets } = verb.unmute;
  const until = thread?.muted_until?.[targets[0] ?? ''];
  const seconds = until === undefined ? undefined : Math.ceil((Date.parse(until) - hubNow()) / 1_000);
  return {
    mute: { targets, mode: 'hard', ...(seconds === undefined ? {} : { for_seconds: Math.max(1, seconds) }) },
  };
}

/** The status that a thread may go back to; from active to any other and back, and no other way. */
export function statusBefore(now: ThreadStatus, thread: ThreadRow | undefined): ThreadStatus | undefined {
  const before = thread?.status;
  return before !== now && (before === 'active' || now === 'active') ? before : undefined;
}
