import { hideSecrets, hideSecretsIn, LIMITS, ParleyError } from '@parley/protocol';

import type { WakeStep } from '../commands.ts';
import { summarize } from '../threads/summary.ts';
import type { ThreadState } from '../threads/state.ts';
import type { Delivery, Door, Errand, WakeTarget } from './door.ts';
import type { Flight } from './flight.ts';
import { findTarget, type Unread, unreadIn } from './gather.ts';
import { LADDERS, type Rung, unfit } from './ladder.ts';
import { failureOf, HUMAN_INPUT, isPerson, judge, patienceLeft, type Waited } from './policy.ts';
import type { WakeProfile, WakerDeps } from './ports.ts';
import { wakePrompt } from './prompt.ts';
import { EVERYBODY, quietNow } from './quiet.ts';
import type { Wake } from './wake.ts';

export interface AttemptDeps extends WakerDeps {
  note: (wake: Wake, step?: WakeStep) => Promise<unknown>;
  profileOf: (workspaceId: string, agentId: string) => WakeProfile | undefined;
  closing: AbortSignal;
}

/** How often a delivery is begun at most: a hub that was killed in the midst of one tries once more. */
const MOST_TRIES = 2;
/** The code of a wake that a person kept waiting for too long. */
const COLLISION = 'HUMAN_INPUT_COLLISION';
/** Why a wake is deferred while its target is left alone. */
const QUIET = 'quiet';
/** How much longer than its own bound a door is waited for. */
const GRACE_MS = 2_000;

/** Takes one wake down the ladder, waiting where it must, until it is delivered or no door is left. */
export function createAttempt(deps: AttemptDeps): (wake: Wake, flight: Flight) => Promise<void> {
  const { clock, settings, note, closing, doors } = deps;
  const turnsByTarget = new Map<string, Promise<unknown>>();

  /** Two wakes of one target never go through its doors at the same time. */
  function inTurn<T>({ workspace_id, target_agent_id }: Wake, run: () => Promise<T>): Promise<T> {
    const name = `${workspace_id} ${target_agent_id}`;
    const turn = (turnsByTarget.get(name) ?? Promise.resolve()).then(run, run);
    turnsByTarget.set(name, turn);
    const forget = (): void => {
      if (turnsByTarget.get(name) === turn) turnsByTarget.delete(name);
    };
    turn.then(forget, forget);
    return turn;
  }

  async function end(wake: Wake, state: 'skipped' | 'failed', step: WakeStep): Promise<void> {
    wake.state = state;
    wake.settled_at = new Date(clock.now()).toISOString();
    await note(wake, step);
  }

  /** Who is left alone is woken afterwards; that time counts against no patience. */
  async function isHeld(wake: Wake, flight: Flight): Promise<boolean> {
    const { workspace_id, target_agent_id } = wake;
    const keys = [target_agent_id, EVERYBODY];
    const kept = await deps.store.records({ kind: 'quiet', workspace_id, keys, limit: keys.length });
    const held = wake.force === undefined ? quietNow(kept, clock.now()) : undefined;
    if (held === undefined) return false;
    const { quiet, until } = held;
    const isNews = wake.state !== 'deferred' || wake.defer_reason !== QUIET;
    Object.assign(wake, { state: 'deferred', defer_reason: QUIET });
    if (until === undefined) delete wake.deferred_until;
    else wake.deferred_until = new Date(until).toISOString();
    const facts = { step: 'deferred', reason: QUIET, by: quiet.by, deferred_until: wake.deferred_until };
    if (isNews) await note(wake, { text: `deferred: ${quiet.by} wants it left alone`, facts });
    flight.tell({ ...wake });
    return true;
  }

  /** One way down the ladder: true where the wake must wait and come again. */
  async function descend(wake: Wake, flight: Flight): Promise<'wait' | 'over'> {
    if (flight.force !== undefined && wake.force === undefined) {
      wake.force = flight.force;
      await note(wake, { text: 'an operator insists', facts: { step: 'forced', force: wake.force } });
    }
    const { workspace_id, thread_id, target_agent_id } = wake;
    const query = { workspace_id, thread_id, after: 0, limit: 0, max_bytes: 0 };
    const thread = (await deps.store.page(query)).located.thread;
    const unread = thread && (await unreadIn(deps, thread, target_agent_id));
    if (thread === undefined || unread === undefined) {
      wake.skip = 'nothing_unread';
      await end(wake, 'skipped', { text: 'not woken: it has read them', facts: { step: 'skipped' } });
      flight.tell(wake);
      return 'over';
    }
    if (await isHeld(wake, flight)) return 'wait';
    const profile = deps.profileOf(workspace_id, target_agent_id);
    const { target } = await findTarget(deps, workspace_id, target_agent_id, profile);
    if (wake.code === COLLISION && wake.deferred_ms < settings.expireMs && (await isInTheWay(wake, target))) {
      await note(wake);
      return 'wait';
    }
    delete wake.code;
    wake.passed = [];
    const rungs = LADDERS[target.family];
    for (const [i, rung] of rungs.entries()) {
      const door = doors.get(rung.door);
      const reason = unfit(rung, target);
      if (door?.serves(target) !== true || reason !== undefined) {
        wake.passed.push({ door: rung.door, reason: reason ?? 'not_configured' });
        continue;
      }
      const look = await door.look(target).catch((error: unknown) => ({
        can: 'no' as const,
        reason: messageOf(error),
      }));
      const force = wake.force !== undefined;
      const judgement = judge(look, { force, ...waitedOf(wake) }, settings);
      const wait = async (why: string): Promise<'wait'> => {
        await defer(wake, rung, why, nextAction(rungs.slice(i + 1), target, doors));
        flight.tell({ ...wake });
        return 'wait';
      };
      if (judgement.step === 'defer') return wait(judgement.reason);
      if (judgement.step === 'skip') {
        await pass(wake, rung, judgement.reason, 'passed by');
        continue;
      }
      const delivery = await deliver(wake, { rung, door, target, thread, unread });
      if (delivery.came === 'deferred' && patienceLeft(delivery.reason, waitedOf(wake), settings) > 0)
        return wait(delivery.reason);
      if (delivery.came === 'failed' || delivery.came === 'deferred') {
        if (closing.aborted) return 'over';
        await pass(wake, rung, delivery.reason, 'failed');
        continue;
      }
      await arrived(wake, rung, delivery);
      flight.tell({ ...wake });
      return 'over';
    }
    const served = rungs.some(({ door }) => doors.get(door)?.serves(target) === true);
    wake.code = failureOf(wake.passed, { ...target, known: target.session !== undefined, served });
    const { code, passed } = wake;
    if (code === COLLISION && wake.deferred_ms < settings.expireMs) {
      await collide(wake);
      flight.tell(failure(wake));
      flight.tell({ ...wake });
      return 'wait';
    }
    await end(wake, 'failed', { text: `not woken: ${code}`, facts: { step: 'failed', code, passed } });
    flight.tell(failure(wake));
    return 'over';
  }

  /** Whoever waits hears of the collision; the wake itself stays, and goes in when the prompt is empty and quiet. */
  async function collide(wake: Wake): Promise<void> {
    const { code, passed } = wake;
    const deferred_until = new Date(clock.now() + settings.expireMs - wake.deferred_ms).toISOString();
    Object.assign(wake, { state: 'deferred', defer_reason: HUMAN_INPUT, deferred_until });
    const text = `not woken yet: ${code}; it goes in when the person pauses`;
    await note(wake, { text, facts: { step: 'collided', code, passed, deferred_until } });
  }

  /** The person who was in the way still is. */
  async function isInTheWay({ passed, ...wake }: Wake, target: WakeTarget): Promise<boolean> {
    for (const { door, reason } of passed) {
      const look = isPerson(reason)
        ? await doors
            .get(door)
            ?.look(target)
            .catch(() => undefined)
        : undefined;
      if (look === undefined) continue;
      const judgement = judge(look, { force: wake.force !== undefined, ...waitedOf(wake) }, settings);
      if (judgement.step === 'skip' && isPerson(judgement.reason)) return true;
    }
    return false;
  }

  async function pass(
    wake: Wake,
    { door }: Rung,
    reason: string,
    how: 'passed by' | 'failed',
  ): Promise<void> {
    wake.passed.push({ door, reason });
    const step = how === 'failed' ? 'door_failed' : 'door_passed';
    await note(wake, { text: `${door} ${how}: ${reason}`, facts: { step, door, reason } });
  }

  async function defer(
    wake: Wake,
    { door, action }: Rung,
    reason: string,
    fallback: Wake['action'],
  ): Promise<void> {
    const isNews = wake.state !== 'deferred' || wake.defer_reason !== reason;
    const left = Math.max(0, patienceLeft(reason, waitedOf(wake), settings));
    const deferred_until = new Date(clock.now() + left).toISOString();
    if (isNews) wake.deferred_until = deferred_until;
    Object.assign(wake, { state: 'deferred', defer_reason: reason, door, action });
    if (fallback === undefined) delete wake.fallback;
    else wake.fallback = fallback;
    const facts = { step: 'deferred', door, reason, deferred_until };
    await note(wake, isNews ? { text: `deferred at ${door}: ${reason}`, facts } : undefined);
  }

  async function deliver(
    wake: Wake,
    way: { rung: Rung; door: Door; target: WakeTarget; thread: ThreadState; unread: Unread },
  ): Promise<Delivery> {
    const { rung, door, target } = way;
    const errand = await errandOf(wake, way.thread, way.unread, rung);
    const command = door.describe?.(target, errand);
    Object.assign(wake, { state: 'delivering', door: rung.door, action: rung.action, tries: wake.tries + 1 });
    if (command === undefined) delete wake.command;
    else wake.command = command;
    const facts = { step: 'delivering', door: rung.door, ...(command === undefined ? {} : { command }) };
    await note(wake, { text: `delivering through ${rung.door}`, facts });
    const late = AbortSignal.timeout(settings.proofMs);
    const signal = AbortSignal.any([late, closing]);
    const given = door
      .deliver(target, errand, signal)
      .catch((error: unknown): Delivery => ({ came: 'failed', reason: messageOf(error) }));
    return bounded(given, settings.proofMs + GRACE_MS, closing);
  }

  async function errandOf(wake: Wake, thread: ThreadState, unread: Unread, rung: Rung): Promise<Errand> {
    const { trigger_id, thread_id, by, note: said } = wake;
    const prompt = wakePrompt({
      trigger_id,
      thread_id,
      title: thread.title,
      agent_id: wake.target_agent_id,
      first_seq: unread.first,
      senders: unread.senders,
      by,
      note: said,
      summary: rung.action === 'spawn_session' ? await summaryOf(thread) : undefined,
      boundary: Buffer.from(deps.chance.bytes(12)).toString('hex'),
    });
    wake.first_seq = unread.first;
    wake.through_seq = unread.through;
    const { force } = wake;
    const errand = { trigger_id, thread_id, prompt, attempt: wake.tries + 1, force: force !== undefined };
    return force === undefined ? errand : { ...errand, operator: force.by, audit: force.audit };
  }

  async function summaryOf({ workspace_id, thread_id }: ThreadState): Promise<string | undefined> {
    const query = { workspace_id, thread_id, limit: LIMITS.summary_default, max_bytes: LIMITS.summary_bytes };
    const { located, entries } = await deps.store.tail(query);
    if (located.thread === undefined) return undefined;
    return (await summarize(located.thread, entries, deps.prose, closing)).summary;
  }

  /** The runtime has it, or has it in its queue: on record first, then watched to its end. */
  async function arrived(wake: Wake, { door }: Rung, delivery: Delivery & { came: 'delivered' | 'queued' }) {
    if (delivery.came === 'queued') {
      wake.state = 'queued';
      wake.settled_at = new Date(clock.now()).toISOString();
      await note(wake, { text: `queued by the runtime through ${door}`, facts: { step: 'queued', door } });
      void delivery.arrives.then((later) => afterwards(wake, later)).catch(deps.onFault);
      return;
    }
    const { proof, session, ended } = delivery;
    wake.state = ended === undefined ? 'delivered' : 'running';
    wake.proof = proof;
    wake.settled_at = new Date(clock.now()).toISOString();
    if (session !== undefined) wake.session = session;
    const facts = { step: 'delivered', door, proof, ...(session === undefined ? {} : { session }) };
    await note(wake, { text: `delivered through ${door}, shown by ${proof}`, facts });
    void ended?.then((turn) => finished(wake, turn)).catch(deps.onFault);
  }

  /** What the runtime had queued is worked on now, or never will be. */
  async function afterwards(wake: Wake, later: Delivery): Promise<void> {
    if (closing.aborted) return;
    const rung = { door: wake.door } as Rung;
    if (later.came === 'delivered') return arrived(wake, rung, later);
    const reason = 'reason' in later ? later.reason : 'still queued';
    await note(wake, { text: `not seen at work yet: ${reason}`, facts: { step: 'unproven', reason } });
  }

  async function finished(wake: Wake, turn: { ok: boolean; detail: string }): Promise<void> {
    // A turn that ends with the hub is begun anew after the restart, where its messages are still unread.
    if (closing.aborted) return;
    wake.state = 'delivered';
    const { ok, detail } = hideSecretsIn(turn);
    const text = `its turn ${ok ? 'is over' : `failed: ${detail}`}`;
    await note(wake, { text, facts: { step: 'ended', ok, detail } });
  }

  /** A collision is on record already: from then on only the bound of all waiting holds. */
  function timeLeft(wake: Wake): number {
    const reason = wake.code === COLLISION ? '' : (wake.defer_reason ?? '');
    return patienceLeft(reason, waitedOf(wake), settings);
  }

  return async (wake, flight) => {
    if (wake.state === 'queued') return;
    if ((wake.state === 'delivering' || wake.state === 'running') && wake.tries >= MOST_TRIES) {
      wake.code = 'WAKE_FAILED';
      const facts = { step: 'failed', code: wake.code, reason: 'hub_stopped_twice' };
      return end(wake, 'failed', { text: 'not woken: the hub stopped twice in the midst of it', facts });
    }
    while (!closing.aborted) {
      if ((await inTurn(wake, () => descend(wake, flight))) === 'over') return;
      const startedAt = clock.monotonic();
      const isQuiet = wake.defer_reason === QUIET;
      const left = isQuiet ? Infinity : timeLeft(wake);
      if (flight.force === undefined || wake.force !== undefined)
        await flight.sleep(Math.max(0, Math.min(settings.recheckMs, left)), closing);
      const waited = clock.monotonic() - startedAt;
      if (isQuiet) continue;
      wake.deferred_ms += waited;
      if (isPerson(wake.defer_reason)) wake.human_ms = (wake.human_ms ?? 0) + waited;
    }
  };
}

function waitedOf({ deferred_ms, human_ms = 0 }: Pick<Wake, 'deferred_ms' | 'human_ms'>): Waited {
  return { deferredMs: deferred_ms, humanMs: human_ms };
}

/** A wake for which no door was left, as its caller hears of it. */
export function failure(wake: Wake): ParleyError {
  const { code = 'WAKE_FAILED', trigger_id, target_agent_id, passed } = wake;
  return new ParleyError(code, FAILURES[code] ?? 'no door was left', { trigger_id, target_agent_id, passed });
}

const FAILURES: Partial<Record<string, string>> = {
  WAKE_FAILED: 'no door to this agent is left: nothing was sent, and the message waits to be read',
  UNMANAGED_RUNTIME:
    'no supervisor manages this agent and no other way to wake it is set up; see docs/waking.md',
  HUMAN_INPUT_COLLISION:
    'a person kept typing there; nothing was sent yet, and it goes in when they pause and their prompt is empty',
};

function nextAction(
  rungs: readonly Rung[],
  target: WakeTarget,
  doors: AttemptDeps['doors'],
): Rung['action'] | undefined {
  return rungs.find(
    (rung) => doors.get(rung.door)?.serves(target) === true && unfit(rung, target) === undefined,
  )?.action;
}

/** The delivery, or that it took too long; nobody waits for a door that has forgotten its bound. */
function bounded(given: Promise<Delivery>, ms: number, signal: AbortSignal): Promise<Delivery> {
  return new Promise((resolve) => {
    const end = (delivery: Delivery): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      resolve(delivery);
    };
    const stop = (): void => end({ came: 'failed', reason: 'hub_stops' });
    const timer = setTimeout(() => end({ came: 'failed', reason: 'no_proof_in_time' }), ms);
    signal.addEventListener('abort', stop);
    void given.then(end);
  });
}

function messageOf(error: unknown): string {
  return hideSecrets(error instanceof Error ? error.message : String(error)).slice(0, 500);
}
