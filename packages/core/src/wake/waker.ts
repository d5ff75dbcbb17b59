import { type Caller, ParleyError, ulid, asError } from '@parley/protocol';

import { commandHead } from '../command-head.ts';
import type { NoteWake, ResultOf, WakeStep } from '../commands.ts';
import { hubCaller } from '../hub-caller.ts';
import { keepTrying } from '../keep-trying.ts';
import { isUnknown } from '../log.ts';
import { everyRecord } from '../record-pages.ts';
import { journalId } from '../threads/access.ts';
import { createAttempt, failure } from './attempt.ts';
import type { WakeTarget } from './door.ts';
import { createFlight, type Flight } from './flight.ts';
import { findTarget, furthest, restrictionOf, lastWakes, unreadIn } from './gather.ts';
import { lookAround } from './look-around.ts';
import { reasonToSkip, SKIP_REASONS } from './policy.ts';
import type { AskedWake, WakeProfile, Waker, WakerDeps, WakeRequest } from './ports.ts';
import { UNFINISHED, type Wake, wakeKey } from './wake.ts';

/** So often a call is tried that fails for no fault of the store. */
const MOST_FAULTS = 5;

type Head = Pick<NoteWake, 'caller' | 'idempotency' | 'budget'>;

/** The waker of one process. */
export function createWaker(deps: WakerDeps): Waker {
  const { store, clock, settings } = deps;
  const flights = new Map<string, Flight>();
  /** Calls that came while a wake of the same target was on its way, which may know nothing of them. */
  const missed = new Map<string, { caller: Caller; request: WakeRequest }>();
  /** Wakes that no one but a message has asked for. */
  const called = new WeakSet<Flight>();
  /** Ends all that is under way: with the hub, or when it is another's to go on with. */
  let closing = new AbortController();
  let isOver = false;
  const running = new Set<Promise<void>>();
  const newAttempt = () => createAttempt({ ...deps, note, profileOf, closing: closing.signal });
  let attempt = newAttempt();

  function profileOf(workspaceId: string, agentId: string): WakeProfile | undefined {
    return deps.wakeProfiles.find((one) => one.workspace_id === workspaceId && one.agent_id === agentId);
  }

  /** Puts on record how a wake stands, with a line in the target's journal where there is something to tell. */
  async function note(
    wake: Wake,
    step?: WakeStep,
    head: Head = { caller: hubCaller(wake.workspace_id) },
  ): Promise<ResultOf<'note_wake'>> {
    const { workspace_id, target_agent_id, thread_id: of, reason } = wake;
    const { result } = await deps.log.append({
      type: 'note_wake',
      ...commandHead(deps, head.caller),
      ...head,
      thread_id: journalId(workspace_id, target_agent_id),
      input: { thread_id: of, target_agent_id, reason },
      wake: { ...wake, passed: [...wake.passed] },
      ...(step === undefined ? {} : { step }),
    });
    return result;
  }

  /** The wake as it begins: to be tried, or skipped with the reason; `again` where that is on record already. */
  async function begin(request: WakeRequest): Promise<{ wake: Wake; again: boolean }> {
    const { thread, target, audit, human, call } = request;
    const { workspace_id, thread_id } = thread;
    const now = clock.now();
    const [unread, { quiet, target: found }, wakes] = await Promise.all([
      unreadIn(deps, thread, target, call === undefined ? undefined : { seq: call, by: request.by }),
      findTarget(deps, workspace_id, target, profileOf(workspace_id, target)),
      lastWakes(store, workspace_id, thread_id, target),
    ]);
    const last = furthest(wakes);
    const facts = {
      force: audit !== undefined,
      unreadSeq: unread?.through ?? 0,
      restriction: restrictionOf(thread, target, now),
      quiet,
      last:
        last === undefined
          ? undefined
          : { throughSeq: last.through_seq, agoMs: now - Date.parse(last.settled_at ?? last.asked_at) },
    };
    const isClosedOff = call !== undefined && !isServed(found);
    const skip = reasonToSkip(facts, settings) ?? (isClosedOff ? 'no_door' : undefined);
    // Whoever cannot be reached is told of once, however often it is called meanwhile.
    const before = skip === 'no_door' && wakes[0]?.skip === skip ? wakes[0] : undefined;
    const asked_at = new Date(now).toISOString();
    const wake: Wake = {
      trigger_id: before?.trigger_id ?? `wk_${ulid(now, deps.chance.bytes(16))}`,
      workspace_id,
      thread_id,
      target_agent_id: target,
      by: request.by,
      human,
      reason: request.reason,
      ...(request.note === undefined ? {} : { note: request.note }),
      ...(audit === undefined ? {} : { force: { by: request.by, audit } }),
      first_seq: before?.first_seq ?? unread?.first ?? 0,
      through_seq: unread?.through ?? 0,
      asked_at,
      state: skip === undefined ? 'open' : 'skipped',
      ...(skip === undefined ? {} : { skip, settled_at: asked_at }),
      deferred_ms: 0,
      tries: 0,
      passed: [],
    };
    return { wake, again: before !== undefined };
  }

  /** A wake has ended: for what was said meanwhile another begins, unless that was read or told as well. */
  function release(key: string, flight: Flight, signal: AbortSignal): void {
    if (flights.get(key) !== flight) return;
    flights.delete(key);
    const next = missed.get(key);
    missed.delete(key);
    if (next === undefined || signal.aborted) return;
    // Its failure is on record.
    ask(next.caller, next.request).outcome.catch(() => {});
  }

  function isServed(target: WakeTarget): boolean {
    return [...deps.doors.values()].some((door) => door.serves(target));
  }

  async function open(caller: Caller, request: WakeRequest, flight: Flight, key: string): Promise<void> {
    const isCall = request.call !== undefined;
    const holdOn = patience();
    const { signal } = closing;
    const { wake, again } = await (isCall
      ? keepTrying(() => begin(request), signal, holdOn)
      : begin(request));
    if (isCall && (wake.skip === 'nothing_unread' || wake.skip === 'already_woken')) {
      release(key, flight, signal);
      flight.onRecord();
      return flight.tell(wake);
    }
    const step = again ? undefined : asked(wake);
    const head = headOf(caller, wake, request);
    let lost: unknown;
    // What may be on record is looked up first; a call is noted until it is there, since nobody would come back to it.
    const noted = await keepTrying(
      async () => {
        if (lost === undefined) return note(wake, step, head);
        return (await kept(wake)) ?? (isCall ? note(wake, step, head) : undefined);
      },
      signal,
      (error) => {
        holdOn(error);
        if (!isCall) flight.tell(asError(error));
        lost = error;
      },
    );
    if (noted === undefined) throw lost;
    const { trigger_id, state } = noted;
    flight.onRecord(wake);
    if (trigger_id !== wake.trigger_id) {
      release(key, flight, signal);
      return flight.tell(await replayed({ ...wake, trigger_id }));
    }
    if (state === 'skipped' && wake.state !== 'skipped')
      Object.assign(wake, { state, skip: 'budget', settled_at: wake.asked_at });
    if (wake.state === 'skipped') {
      release(key, flight, signal);
      return flight.tell(wake);
    }
    fly(wake, flight, key, signal);
  }

  function headOf(
    { agent_id, workspace_id, role, session_id }: Caller,
    wake: Wake,
    request: WakeRequest,
  ): Head {
    const { pairPerHour, targetPerHour } = settings;
    // People are not counted, and only what would otherwise go through is.
    const isCounted = wake.state === 'open' && !wake.human && wake.force === undefined;
    const head = {
      caller: { agent_id, workspace_id, role, session_id },
      ...(isCounted ? { budget: { pairPerHour, targetPerHour } } : {}),
    };
    const { idempotency_key: key } = request;
    if (key === undefined) return head;
    const scope = `${workspace_id} wake:${wake.thread_id} ${wake.target_agent_id} ${agent_id}`;
    return { ...head, idempotency: { scope, key, fresh_after: clock.trusted() - deps.idempotencyWindowMs } };
  }

  /** A wake as it is on record. */
  async function kept(wake: Wake): Promise<Wake | undefined> {
    const { workspace_id } = wake;
    const [found] = await store.records({ kind: 'wake', workspace_id, prefix: wakeKey(wake), limit: 1 });
    return found;
  }

  /** The same key again: what became of the first. */
  async function replayed(first: Wake): Promise<Wake | ParleyError> {
    const wake = await kept(first);
    if (wake === undefined) throw new ParleyError('NOT_FOUND', 'the wake of this key is not on record');
    return wake.state === 'failed' ? failure(wake) : wake;
  }

  function fly(wake: Wake, flight: Flight, key: string, signal: AbortSignal): void {
    const flown = attempt(wake, flight)
      .catch((error: unknown) => {
        if (signal.aborted) return;
        flight.tell(asError(error));
        if (!(error instanceof ParleyError)) deps.onFault(error);
      })
      .finally(() => {
        if (signal.aborted)
          flight.tell(new ParleyError('UNAVAILABLE', 'the hub is stopping, or another node goes on with it'));
        release(key, flight, signal);
        running.delete(flown);
      });
    running.add(flown);
  }

  /** All of them before the first goes on: it may come by another mark while the rest are read. */
  async function unfinished(): Promise<Wake[]> {
    const found: Wake[] = [];
    for (const mark of UNFINISHED)
      for await (const wake of everyRecord(store, 'wake', mark, wakeKey)) found.push(wake);
    return found;
  }

  function ask(caller: Caller, request: WakeRequest): AskedWake {
    const { thread, target, audit } = request;
    const isCall = request.call !== undefined;
    const key = keyOf(thread.workspace_id, thread.thread_id, target);
    const known = flights.get(key);
    if (known !== undefined) {
      if (isCall) missed.set(key, { caller, request });
      const outcome = known.outcome(audit !== undefined);
      if (audit !== undefined) known.insist({ by: request.by, audit });
      if (isCall || !called.has(known))
        return { recorded: known.recorded, outcome: answerInTime(known, outcome, request) };
      // Who asks for a wake hears what becomes of it, not why a mere call came to nothing.
      const later = outcome.then((found) =>
        found.state === 'skipped' && found.skip !== 'nothing_unread' ? ask(caller, request).outcome : found,
      );
      return { recorded: known.recorded, outcome: answerInTime(known, later, request) };
    }
    const flight = createFlight();
    flights.set(key, flight);
    if (isCall) called.add(flight);
    const outcome = flight.outcome();
    const { signal } = closing;
    open(caller, request, flight, key).catch((error: unknown) => {
      release(key, flight, signal);
      if (signal.aborted) flight.offRecord(error);
      else flight.onRecord();
      flight.tell(asError(error));
      if (!(error instanceof ParleyError)) deps.onFault(error);
    });
    return { recorded: flight.recorded, outcome: answerInTime(flight, outcome, request) };
  }

  async function stop(): Promise<void> {
    closing.abort();
    await Promise.all(running);
    flights.clear();
    missed.clear();
  }

  return {
    async start() {
      if (closing.signal.aborted && !isOver) {
        closing = new AbortController();
        attempt = newAttempt();
      }
      for (const wake of await unfinished()) {
        const flight = createFlight();
        const key = keyOf(wake.workspace_id, wake.thread_id, wake.target_agent_id);
        if (flights.has(key)) continue;
        // Nobody waits for it any more.
        flight.outcome(true).catch(() => {});
        flight.onRecord(wake);
        flights.set(key, flight);
        fly(wake, flight, key, closing.signal);
      }
    },
    stop,
    wake: ask,
    async canReach(workspaceId, agentId) {
      const profile = profileOf(workspaceId, agentId);
      const { target, atWork } = await findTarget(deps, workspaceId, agentId, profile);
      return isServed(target) ? { atWork } : undefined;
    },
    async look(workspaceId, agentId) {
      const { target } = await findTarget(deps, workspaceId, agentId, profileOf(workspaceId, agentId));
      return { family: target.family, doors: await lookAround(target, deps.doors, settings) };
    },
    async close() {
      isOver = true;
      closing.abort();
      for (const door of deps.doors.values()) await door.close?.();
      await stop();
    },
  };
}

/** What became of it, or after the caller's time how it stands: with the doors that were passed by so far. */
function answerInTime(flight: Flight, outcome: Promise<Wake>, { timeoutMs }: WakeRequest): Promise<Wake> {
  if (timeoutMs === undefined) return outcome;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      void flight.recorded.then(() => flight.standing && resolve({ ...flight.standing }), reject);
    }, timeoutMs);
    outcome.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Gives up on what was refused, and on what fails again and again for another reason than the store. */
function patience(): (error: unknown) => void {
  let faults = 0;
  return (error) => {
    const isOver = error instanceof ParleyError ? !isUnknown(error) : ++faults >= MOST_FAULTS;
    if (isOver) throw error;
  };
}

function keyOf(workspaceId: string, threadId: string, target: string): string {
  return `${workspaceId} ${threadId} ${target}`;
}

function asked(wake: Wake): WakeStep {
  const { by, reason, skip, force, first_seq, through_seq } = wake;
  const facts = { by, reason, first_seq, through_seq, ...(force === undefined ? {} : { force }) };
  if (skip === undefined)
    return {
      text: `wake asked for by ${by}${force === undefined ? '' : ', forced'}`,
      facts: { step: 'asked', ...facts },
    };
  return { text: `not woken: ${SKIP_REASONS[skip]}`, facts: { step: 'skipped', skip, ...facts } };
}
