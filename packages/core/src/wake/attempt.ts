import { hideSecretsIn, ParleyError, asError } from '@parley/protocol';

import type { WakeStep } from '../commands.ts';
import { keepTrying } from '../keep-trying.ts';
import { type AttemptDeps, createDelivery, messageOf } from './deliver.ts';
import type { Delivery, Door, DoorName, Look, WakeTarget } from './door.ts';
import type { Flight } from './flight.ts';
import { findTarget, unreadIn } from './gather.ts';
import { LADDERS, type Rung, unfit } from './ladder.ts';
import {
  failureOf,
  HUMAN_INPUT,
  isPerson,
  judge,
  patienceLeft,
  recheckAfter,
  type Waited,
} from './policy.ts';
import { EVERYBODY, quietNow } from './quiet.ts';
import type { Wake } from './wake.ts';

/** A hub that was killed so often in the midst of a delivery does not go on with it. */
const MOST_STOPS = 2;
/** Why a wake waits for the door that the hub stopped at. */
const IN_DOUBT = 'in_doubt';
/** The code of a wake that a person kept waiting for too long. */
const COLLISION = 'HUMAN_INPUT_COLLISION';
/** Why a wake is deferred while its target is left alone. */
const QUIET = 'quiet';

/** Takes one wake down the ladder, waiting where it must, until it is delivered or no door is left. */
export function createAttempt(deps: AttemptDeps): (wake: Wake, flight: Flight) => Promise<void> {
  const { clock, settings, note, closing, doors } = deps;
  const deliver = createDelivery(deps);
  const openedAt = clock.monotonic();
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

  /** What has come to pass goes on record however long the store refuses it: done again it would come twice. */
  async function keep(wake: Wake, step: WakeStep | undefined, flight?: Flight): Promise<void> {
    await keepTrying(
      () => note(wake, step),
      closing,
      (error) => stumbled(error, flight),
    );
  }

  /** Whoever waits hears of it; the wake itself goes on. */
  function stumbled(error: unknown, flight: Flight | undefined): void {
    flight?.tell(asError(error));
    if (!(error instanceof ParleyError)) deps.onFault(error);
  }

  async function end(wake: Wake, state: 'skipped' | 'failed', step: WakeStep, flight: Flight): Promise<void> {
    wake.state = state;
    wake.settled_at = new Date(clock.now()).toISOString();
    delete wake.prompt;
    await keep(wake, step, flight);
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
    if (isNews) await keep(wake, { text: `deferred: ${quiet.by} wants it left alone`, facts }, flight);
    flight.tell({ ...wake });
    return true;
  }

  /** One way down the ladder: true where the wake must wait and come again. */
  async function descend(wake: Wake, flight: Flight): Promise<'wait' | 'over'> {
    if (flight.force !== undefined && wake.force === undefined) {
      wake.force = flight.force;
      const facts = { step: 'forced', force: wake.force };
      await keep(wake, { text: 'an operator insists', facts }, flight);
    }
    const { workspace_id, thread_id, target_agent_id } = wake;
    const query = { workspace_id, thread_id, after: 0, limit: 0, max_bytes: 0 };
    const thread = (await deps.store.page(query)).located.thread;
    const unread =
      thread && (await unreadIn(deps, thread, target_agent_id, { seq: wake.through_seq, by: wake.by }));
    if (wake.doubt !== undefined && unread === undefined) {
      await arrived(wake, wake.doubt, { came: 'delivered', proof: 'cursor' }, flight);
      flight.tell(wake);
      return 'over';
    }
    if (thread === undefined || unread === undefined) {
      wake.skip = 'nothing_unread';
      const step = { text: 'not woken: it has read them', facts: { step: 'skipped' } };
      await end(wake, 'skipped', step, flight);
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
    const waitAt = async (rung: Rung, why: string, fallback: Wake['action']): Promise<'wait'> => {
      await defer(wake, rung, why, fallback, flight);
      flight.tell({ ...wake });
      return 'wait';
    };
    // Where it may have come already is asked first.
    const isDoubted = ({ door }: Rung): boolean => door === wake.doubt;
    const ladder = LADDERS[target.family];
    const rungs = [...ladder.filter(isDoubted), ...ladder.filter((rung) => !isDoubted(rung))];
    let left: { rung: Rung; reason: string } | undefined;
    for (const [i, rung] of rungs.entries()) {
      const door = served(rung, target);
      const look = await (door?.look(target) ?? Promise.resolve<Look>({ can: 'no', reason: '' })).catch(
        (error: unknown): Look => ({ can: 'no', reason: messageOf(error) }),
      );
      if (isDoubted(rung) && look.can === 'no') {
        if (clock.monotonic() - openedAt < settings.returnMs) return waitAt(rung, IN_DOUBT, undefined);
        if (patienceLeft(IN_DOUBT, waitedOf(wake), settings) > 0) left = { rung, reason: IN_DOUBT };
      }
      if (door === undefined) {
        wake.passed.push({ door: rung.door, reason: unfit(rung, target) ?? 'not_configured' });
        continue;
      }
      const force = wake.force !== undefined;
      const judgement = judge(look, { force, ...waitedOf(wake) }, settings);
      const wait = (why: string): Promise<'wait'> =>
        waitAt(rung, why, nextAction(rungs.slice(i + 1), target, doors));
      if (judgement.step === 'defer') return wait(judgement.reason);
      if (judgement.step === 'leave') {
        left ??= { rung, reason: judgement.reason };
        wake.passed.push({ door: rung.door, reason: judgement.reason });
        continue;
      }
      if (judgement.step === 'skip') {
        wake.passed.push({ door: rung.door, reason: judgement.reason });
        await note(wake, passedBy(rung, judgement.reason));
        continue;
      }
      const isAgain = isDoubted(rung);
      const delivery = await deliver(wake, { rung, door, target, thread, unread });
      if (delivery.came === 'failed' && delivery.mayHaveCome === true && !isAgain && !closing.aborted) {
        if (door.endsWithHub !== true) wake.doubt = rung.door;
        if (wake.doubt !== undefined) return wait(IN_DOUBT);
      }
      if (!closing.aborted) delete wake.prompt;
      if (delivery.came === 'deferred' && patienceLeft(delivery.reason, waitedOf(wake), settings) > 0)
        return wait(delivery.reason);
      if (delivery.came === 'failed' || delivery.came === 'deferred') {
        if (closing.aborted) return 'over';
        wake.passed.push({ door: rung.door, reason: delivery.reason });
        await keep(wake, failedAt(rung, delivery.reason), flight);
        continue;
      }
      await arrived(wake, rung.door, delivery, flight);
      flight.tell({ ...wake });
      return 'over';
    }
    if (left !== undefined) return waitAt(left.rung, left.reason, undefined);
    const isServed = rungs.some(({ door }) => doors.get(door)?.serves(target) === true);
    const known = target.session !== undefined;
    wake.code = failureOf(wake.passed, { ...target, known, served: isServed });
    const { code, passed } = wake;
    if (code === COLLISION && wake.deferred_ms < settings.expireMs) {
      await collide(wake, flight);
      flight.tell(failure(wake));
      flight.tell({ ...wake });
      return 'wait';
    }
    const step = { text: `not woken: ${code}`, facts: { step: 'failed', code, passed } };
    await end(wake, 'failed', step, flight);
    flight.tell(failure(wake));
    return 'over';
  }

  /** The door of a rung, where it is set up for the target and fits it. */
  function served(rung: Rung, target: WakeTarget): Door | undefined {
    const door = doors.get(rung.door);
    return door?.serves(target) === true && unfit(rung, target) === undefined ? door : undefined;
  }

  /** Whoever waits hears of the collision; the wake itself stays, and goes in when the prompt is empty and quiet. */
  async function collide(wake: Wake, flight: Flight): Promise<void> {
    const { code, passed } = wake;
    const deferred_until = new Date(clock.now() + settings.expireMs - wake.deferred_ms).toISOString();
    Object.assign(wake, { state: 'deferred', defer_reason: HUMAN_INPUT, deferred_until });
    const text = `not woken yet: ${code}; it goes in when the person pauses`;
    await keep(wake, { text, facts: { step: 'collided', code, passed, deferred_until } }, flight);
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

  async function defer(
    wake: Wake,
    { door, action }: Rung,
    reason: string,
    fallback: Wake['action'],
    flight: Flight,
  ): Promise<void> {
    const isNews = wake.state !== 'deferred' || wake.defer_reason !== reason;
    const left = Math.max(0, patienceLeft(reason, waitedOf(wake), settings));
    const deferred_until = new Date(clock.now() + left).toISOString();
    if (isNews) wake.deferred_until = deferred_until;
    Object.assign(wake, { state: 'deferred', defer_reason: reason, door, action });
    if (fallback === undefined) delete wake.fallback;
    else wake.fallback = fallback;
    const facts = { step: 'deferred', door, reason, deferred_until };
    await keep(wake, isNews ? { text: `deferred at ${door}: ${reason}`, facts } : undefined, flight);
  }

  /** The runtime has it, or has it in its queue: on record first, then watched to its end. */
  async function arrived(
    wake: Wake,
    door: DoorName | undefined,
    delivery: Delivery & { came: 'delivered' | 'queued' },
    flight?: Flight,
  ): Promise<void> {
    delete wake.doubt;
    delete wake.prompt;
    if (delivery.came === 'queued') {
      wake.state = 'queued';
      wake.settled_at = new Date(clock.now()).toISOString();
      const step = { text: `queued by the runtime through ${door}`, facts: { step: 'queued', door } };
      await keep(wake, step, flight);
      void delivery.arrives.then((later) => afterwards(wake, later)).catch(deps.onFault);
      return;
    }
    const { proof, session, ended } = delivery;
    wake.state = ended === undefined ? 'delivered' : 'running';
    wake.proof = proof;
    wake.settled_at = new Date(clock.now()).toISOString();
    if (session !== undefined) wake.session = session;
    const facts = { step: 'delivered', door, proof, ...(session === undefined ? {} : { session }) };
    await keep(wake, { text: `delivered through ${door}, shown by ${proof}`, facts }, flight);
    void ended?.then((turn) => finished(wake, turn)).catch(deps.onFault);
  }

  /** What the runtime had queued is worked on now, or never will be. */
  async function afterwards(wake: Wake, later: Delivery): Promise<void> {
    if (closing.aborted) return;
    if (later.came === 'delivered') return arrived(wake, wake.door, later);
    const reason = 'reason' in later ? later.reason : 'still queued';
    await keep(wake, { text: `not seen at work yet: ${reason}`, facts: { step: 'unproven', reason } });
  }

  async function finished(wake: Wake, turn: { ok: boolean; detail: string }): Promise<void> {
    // A turn that ends with the hub is begun anew after the restart, where its messages are still unread.
    if (closing.aborted) return;
    wake.state = 'delivered';
    const { ok, detail } = hideSecretsIn(turn);
    const text = `its turn ${ok ? 'is over' : `failed: ${detail}`}`;
    await keep(wake, { text, facts: { step: 'ended', ok, detail } });
  }

  /** A collision is on record already: from then on only the bound of all waiting holds. */
  function timeLeft(wake: Wake): number {
    const reason = wake.code === COLLISION ? '' : (wake.defer_reason ?? '');
    return patienceLeft(reason, waitedOf(wake), settings);
  }

  return async (wake, flight) => {
    if (wake.state === 'queued') return;
    if (wake.state === 'delivering' || wake.state === 'running') {
      wake.stops = (wake.stops ?? 0) + 1;
      const { door } = wake;
      if (door !== undefined && doors.get(door)?.endsWithHub !== true) wake.doubt = door;
    }
    if ((wake.stops ?? 0) >= MOST_STOPS) {
      wake.code = 'WAKE_FAILED';
      const facts = { step: 'failed', code: wake.code, reason: 'hub_stopped_twice' };
      const text =
        'given up: the hub stopped twice in the midst of it, and what may have come is not repeated';
      return end(wake, 'failed', { text, facts }, flight);
    }
    const go = (): Promise<'wait' | 'over'> => inTurn(wake, () => descend(wake, flight));
    while (!closing.aborted) {
      if ((await keepTrying(go, closing, (error) => stumbled(error, flight))) === 'over') return;
      const startedAt = clock.monotonic();
      const isQuiet = wake.defer_reason === QUIET;
      const left = isQuiet ? Infinity : timeLeft(wake);
      if (flight.force === undefined || wake.force !== undefined)
        await flight.sleep(
          Math.max(0, Math.min(recheckAfter(wake.defer_reason, waitedOf(wake), settings), left)),
          closing,
        );
      const waited = clock.monotonic() - startedAt;
      if (isQuiet) continue;
      wake.deferred_ms += waited;
      if (isPerson(wake.defer_reason)) wake.human_ms = (wake.human_ms ?? 0) + waited;
    }
  };
}

const passedBy = ({ door }: Rung, reason: string): WakeStep => ({
  text: `${door} passed by: ${reason}`,
  facts: { step: 'door_passed', door, reason },
});

const failedAt = ({ door }: Rung, reason: string): WakeStep => ({
  text: `${door} failed: ${reason}`,
  facts: { step: 'door_failed', door, reason },
});

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
