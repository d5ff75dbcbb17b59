import type { ErrorCode, OutputOf } from '@parley/protocol';

import type { DoorName, Proof } from './door.ts';
import type { WakeAction } from './ladder.ts';
import type { Passed, SkipReason } from './policy.ts';

/** Where a wake stands; the first four go on after a restart. */
export type WakeState =
  | 'open'
  | 'deferred'
  | 'delivering'
  | 'queued'
  /** Delivered, and the hub looks after the turn. */
  | 'running'
  | 'delivered'
  | 'skipped'
  | 'failed';

/** The states of a wake that a restart must not forget. */
export const UNFINISHED: readonly WakeState[] = ['open', 'deferred', 'delivering', 'queued', 'running'];

/** Who insists on a wake, and why. */
export interface Force {
  by: string;
  audit: Record<string, unknown>;
}

/** One wake, as it is kept beside the log: who is to be woken for which messages, and how far that has come. */
export interface Wake {
  trigger_id: string;
  workspace_id: string;
  thread_id: string;
  target_agent_id: string;
  /** Who asked for it; the hub itself wakes in the name of whoever called upon the target. */
  by: string;
  human: boolean;
  reason: string;
  note?: string;
  force?: Force;
  /** The unread messages it is about. */
  first_seq: number;
  through_seq: number;
  asked_at: string;
  state: WakeState;
  /** How long it has waited for a quiet moment, on the clock that never jumps, over restarts too. */
  deferred_ms: number;
  /** How much of that because of a person. */
  human_ms?: number;
  /** How often a delivery was begun. */
  tries: number;
  /** What was given, as long as nobody knows whether it came: after a restart the same words go under the same name. */
  prompt?: string;
  /** How often the hub stopped in the midst of a delivery. */
  stops?: number;
  /** The door in which the hub stopped in the midst of a delivery, until that has said whether it came. */
  doubt?: DoorName;
  passed: Passed[];
  door?: DoorName;
  action?: WakeAction;
  fallback?: WakeAction;
  proof?: Proof;
  session?: string;
  command?: string;
  defer_reason?: string;
  deferred_until?: string;
  skip?: SkipReason;
  code?: ErrorCode;
  /** When it was delivered, skipped or given up. */
  settled_at?: string;
}

type WakeResult = OutputOf<'trigger_participant'>['result'];

/** The reason of a wake that a message asks for. */
export const CALLED_UPON = 'called_upon';

/** The word for a wake's state that callers read. */
export function resultOf({ state }: Pick<Wake, 'state'>): WakeResult {
  return state === 'running' ? 'delivered' : state === 'open' ? 'delivering' : state;
}

/** A wake as `trigger_participant` answers it. */
export function toAnswer(wake: Wake): OutputOf<'trigger_participant'> {
  const { action, skip, passed } = wake;
  return {
    trigger_id: wake.trigger_id,
    target_agent_id: wake.target_agent_id,
    action: action ?? 'none',
    result: resultOf(wake),
    ...(skip === undefined ? {} : { reason: skip }),
    ...(wake.door === undefined ? {} : { door: wake.door }),
    ...(wake.proof === undefined ? {} : { proof: wake.proof }),
    ...(wake.state === 'deferred'
      ? {
          defer_reason: wake.defer_reason,
          deferred_until: wake.deferred_until,
          ...(wake.fallback === undefined ? {} : { fallback_action: wake.fallback }),
        }
      : {}),
    ...(wake.command === undefined ? {} : { runtime_command: wake.command }),
    ...(passed.length === 0 ? {} : { passed }),
    triggered_at: wake.asked_at,
  };
}

/** The name under which a wake is kept. */
export function wakeKey({ thread_id, target_agent_id, trigger_id }: Wake): string {
  return `${thread_id} ${target_agent_id} ${trigger_id}`;
}
