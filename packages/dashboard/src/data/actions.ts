import type { AskAnswer, Control, ThreadStatus } from '@parley/protocol';

import { say } from '../parts/toast.tsx';
import { ApiError, call, newKey, wordsOf } from './api.ts';
import { loadThread, settle } from './replica.ts';
import { type AskRow, asks, conversations, me, threads } from './state.ts';

/** Gives a verdict. Nothing is taken for settled before the hub says so; who comes second is shown what stands. */
export async function answer(askId: string, verdict: AskAnswer): Promise<void> {
  const row = asks.value.get(askId);
  if (row === undefined || row.sending === true || row.ask.status !== 'open') return;
  put(askId, { ask: row.ask, sending: true });
  try {
    const isSigned = row.ask.needs_passkey === true && verdict.decision !== 'denied';
    const signed = isSigned
      ? { passkey: await (await import('./passkey.ts')).signAnswer(askId, verdict) }
      : {};
    const input = { ask_id: askId, ...verdict, ...signed, idempotency_key: newKey() };
    settle((await call('answer_ask', input)).ask);
  } catch (error) {
    const standing =
      // With a conflict goes the ask as it stands.
      error instanceof ApiError ? (error.details['ask'] as AskRow['ask'] | undefined) : undefined;
    if (standing === undefined) {
      const ask = asks.value.get(askId)?.ask ?? row.ask;
      // The hub asks for a passkey since this was raised.
      const isNeeded = error instanceof ApiError && error.details['reason'] === 'passkey_needed';
      put(askId, { ask: isNeeded ? { ...ask, needs_passkey: true } : ask, failed: wordsOf(error) });
    } else settle(standing);
  }
}

/** Allows such commands of an agent from now on. */
export function allow({ agent_id, cwd }: AskRow['ask'], command: string): Promise<boolean> {
  return attempt(
    () =>
      call('add_approval_rule', {
        of_agent: agent_id,
        command,
        ...(cwd === undefined ? {} : { cwd }),
        idempotency_key: newKey(),
      }),
    'From now on it is approved without asking.',
    ({ approval_rule: { approval_rule_id } }) =>
      call('revoke_approval_rule', { approval_rule_id, idempotency_key: newKey() }),
  );
}

function put(askId: string, row: AskRow): void {
  // It may have been settled meanwhile by word of the stream.
  if (asks.value.has(askId)) asks.value = new Map(asks.value).set(askId, row);
}

/** Steers a thread, says what came of it, and offers to take it back where that can be done. */
export async function control(threadId: string, verb: Control, done: string): Promise<boolean> {
  const steer = async (wanted: Control): Promise<void> => {
    await call('control_thread', { thread_id: threadId, control: wanted, idempotency_key: newKey() });
    await loadThread(threadId);
  };
  const { inverseOf } = await import('./way-back.ts');
  const back = inverseOf(verb, threads.value?.get(threadId));
  return attempt(() => steer(verb), done, back && (() => steer(back)));
}

/** Moves a thread to another status. */
export async function setStatus(threadId: string, status: ThreadStatus, reason: string): Promise<boolean> {
  const move = async (to: ThreadStatus, why: string): Promise<void> => {
    await call('update_thread_status', {
      thread_id: threadId,
      status: to,
      reason: why,
      idempotency_key: newKey(),
    });
    await loadThread(threadId);
  };
  const { statusBefore } = await import('./way-back.ts');
  const before = statusBefore(status, threads.value?.get(threadId));
  return attempt(
    () => move(status, reason),
    `Thread ${status}.`,
    before && (() => move(before, 'taken back')),
  );
}

/** Does something and tells the person that it is done, with the way back where there is one, or why not. */
export async function attempt<R>(
  run: () => Promise<R>,
  done?: string,
  undo?: (result: R) => Promise<unknown>,
): Promise<boolean> {
  try {
    const result = await run();
    const back = undo && (() => void attempt(() => undo(result), 'Undone.'));
    if (done !== undefined) say(done, 'good', back);
    return true;
  } catch (error) {
    say(wordsOf(error), 'bad');
    return false;
  }
}

/** The thread in which an agent is to be called: the newest open one that it takes part in. */
export function threadOf(agentId: string) {
  return conversations.value.find(
    ({ participants, status }) =>
      participants.includes(agentId) && (status === 'active' || status === 'blocked'),
  );
}

/** When an agent was last called from here, so that nobody is called twice in a breath. */
const proddedAt = new Map<string, number>();
const PROD_PAUSE_MS = 30_000;

/** True while an agent that was called has not had time to react. */
export function justProdded(agentId: string, now: number): boolean {
  return now - (proddedAt.get(agentId) ?? -Infinity) < PROD_PAUSE_MS;
}

/** Calls upon an agent in its newest thread. */
export async function prod(agentId: string, threadId = threadOf(agentId)?.thread_id): Promise<void> {
  if (threadId === undefined) return say(`${agentId} takes part in no open thread.`, 'bad');
  if (justProdded(agentId, Date.now())) return;
  proddedAt.set(agentId, Date.now());
  if (!(await control(threadId, { prod: [agentId] }, `Prodded ${agentId}.`))) proddedAt.delete(agentId);
}

/** Wakes an agent that sleeps, and tells what was done; with a reason, against what would hold it back. */
export function wake(
  agentId: string,
  threadId = threadOf(agentId)?.thread_id,
  insisting?: string,
): Promise<boolean> {
  return attempt(async () => {
    if (threadId === undefined) throw new Error(`${agentId} takes part in no open thread.`);
    const { agent_id: operator, device_name: device } = me.value ?? {};
    const force =
      insisting === undefined
        ? {}
        : { force: true, reason: insisting, audit: { operator, device, reason: insisting } };
    const input = { thread_id: threadId, target_agent_id: agentId, ...force, idempotency_key: newKey() };
    const { action, result } = await call('trigger_participant', input);
    say(`${agentId}: ${action.replaceAll('_', ' ')}, ${result.replaceAll('_', ' ')}.`);
  });
}

/** True when this device may change things. */
export function maySteer(): boolean {
  return me.value?.read_only !== true;
}
