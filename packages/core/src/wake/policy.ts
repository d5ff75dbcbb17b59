import { type Caller, type ErrorCode, ParleyError } from '@parley/protocol';

import type { DoorName, Look } from './door.ts';

/** Every timer and bound of waking. */
export interface WakeSettings {
  /** Nobody is woken unless an operator insists. */
  quiet: boolean;
  recheckMs: number;
  /** How long a person must have typed nothing. */
  quietMs: number;
  /** How long a person may keep a wake waiting. */
  maxDeferMs: number;
  /** How long anything may keep it waiting, such as a program at work. */
  expireMs: number;
  /** How long a door may take to prove that it delivered. */
  proofMs: number;
  /** How long after its start the hub expects those back whom it was delivering to when it stopped. */
  returnMs: number;
  /** How long a wake that was delivered and not yet heeded stands for the same messages. */
  repeatAfterMs: number;
  pairPerHour: number;
  targetPerHour: number;
}

/** What the hub knows when a wake is asked for. */
export interface WakeFacts {
  /** An operator insists. */
  force: boolean;
  /** The newest message of another that the target has neither acknowledged nor fetched; 0 for none. */
  unreadSeq: number;
  /** Why the thread wants nothing from the target. */
  restriction: 'closed' | 'ended' | 'muted' | 'paused' | undefined;
  quiet: boolean;
  /** How far, and how long ago in milliseconds, the target was last woken for this thread. */
  last: { throughSeq: number; agoMs: number } | undefined;
}

export const SKIP_REASONS = {
  nothing_unread: 'it has no unread message in this thread',
  closed: 'the thread is closed',
  ended: 'the conversation was declared done, or its time is up',
  muted: 'it is muted in this thread',
  paused: 'the thread is paused: only people speak',
  no_door: 'nothing is set up that could wake it',
  quiet: 'it is not to be woken now',
  already_woken: 'it was woken for these messages a moment ago',
  budget: 'it was woken too often within the hour',
} as const;
export type SkipReason = keyof typeof SKIP_REASONS;

/** Why nobody is woken, or undefined where the ladder is to be tried; the first that applies. Budget and doors are asked elsewhere. */
export function reasonToSkip(facts: WakeFacts, settings: WakeSettings): SkipReason | undefined {
  const { force, last } = facts;
  if (facts.unreadSeq === 0) return 'nothing_unread';
  if (facts.restriction === 'closed') return 'closed';
  if (force) return undefined;
  if (facts.restriction !== undefined) return facts.restriction;
  if (facts.quiet || settings.quiet) return 'quiet';
  if (last !== undefined && last.throughSeq >= facts.unreadSeq && last.agoMs < settings.repeatAfterMs)
    return 'already_woken';
  return undefined;
}

/** Refuses a forced wake of one who may not, or who does not say who asked for it and why. */
export function checkForce(
  caller: Pick<Caller, 'role'>,
  force: boolean,
  audit: Record<string, unknown> | undefined,
): void {
  if (!force) return;
  if (caller.role !== 'operator')
    throw new ParleyError('INSUFFICIENT_AUTHORITY', 'only an operator may force a wake');
  if (audit === undefined || Object.keys(audit).length === 0)
    throw new ParleyError('VALIDATION_ERROR', 'audit: a forced wake must say who asked for it and why', {
      field: 'audit',
    });
}

/** What to do at one rung, after a look through its door. */
export type Judgement =
  | { step: 'deliver' }
  | { step: 'defer'; reason: string }
  /** Pass it by, and come back to it when no other door is left. */
  | { step: 'leave'; reason: string }
  | { step: 'skip'; reason: string };

/** How long a wake has waited: in all, and because of a person. */
export interface Waited {
  deferredMs: number;
  humanMs: number;
}

/** Deliver now, wait, or go on to the next door; who insists does not wait, and nobody waits longer than the bound. */
export function judge(
  look: Look,
  { force, ...waited }: Waited & { force: boolean },
  settings: Pick<WakeSettings, 'quietMs' | 'maxDeferMs' | 'expireMs'>,
): Judgement {
  if (look.can === 'no') return { step: 'skip', reason: look.reason };
  if (look.can === 'perhaps')
    return { step: patienceLeft(look.reason, waited, settings) > 0 ? 'leave' : 'skip', reason: look.reason };
  // A person comes first: what they type makes the program look busy too.
  const typing = look.human_idle_ms !== undefined && look.human_idle_ms < settings.quietMs;
  const reason = typing ? HUMAN_INPUT : look.can === 'later' ? look.reason : undefined;
  if (reason === undefined || force) return { step: 'deliver' };
  return patienceLeft(reason, waited, settings) > 0 ? { step: 'defer', reason } : { step: 'skip', reason };
}

/**
 * How much longer a wake may wait for this reason: a person's time is short, and so is that of a program that takes no
 * text; one that is at work gets it after its turn.
 */
export function patienceLeft(
  reason: string,
  { deferredMs, humanMs }: Waited,
  { maxDeferMs, expireMs }: Pick<WakeSettings, 'maxDeferMs' | 'expireMs'>,
): number {
  const left = expireMs - deferredMs;
  if (isPerson(reason)) return Math.min(left, maxDeferMs - humanMs);
  return reason.startsWith(NO_PROMPT) ? Math.min(left, maxDeferMs - deferredMs) : left;
}

/** Why a wake is deferred while a program takes no text from anybody. */
export const NO_PROMPT = 'no_prompt';

/**
 * How soon a deferred wake looks again. A person is looked after at the usual pace; a program may be done at any moment,
 * so it is looked after quickly at first, and less the longer it takes.
 */
export function recheckAfter(
  reason: string | undefined,
  { deferredMs }: Waited,
  { recheckMs }: Pick<WakeSettings, 'recheckMs'>,
): number {
  return isPerson(reason) ? recheckMs : Math.min(recheckMs, SOON_MS + deferredMs / 4);
}

const SOON_MS = 300;

/** Why a wake is deferred while a person types. */
export const HUMAN_INPUT = 'human_input_busy';

/** True where it is a person who is in the way, at the machine or from elsewhere. */
export function isPerson(reason: string | undefined): boolean {
  return reason === HUMAN_INPUT || reason === 'taken_over';
}

/** A door that was passed by, and why. */
export interface Passed {
  door: DoorName;
  reason: string;
}

/** The code of a wake for which no door was left. */
export function failureOf(
  passed: readonly Passed[],
  target: { managed: boolean; known: boolean; served: boolean },
): Extract<ErrorCode, 'WAKE_FAILED' | 'UNMANAGED_RUNTIME' | 'HUMAN_INPUT_COLLISION'> {
  if (passed.some(({ reason }) => isPerson(reason))) return 'HUMAN_INPUT_COLLISION';
  return target.known && !target.managed && !target.served ? 'UNMANAGED_RUNTIME' : 'WAKE_FAILED';
}
