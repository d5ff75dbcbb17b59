import { type Caller, ENTRY_SALT_BOUND, LIMITS, ParleyError, ulid } from '@parley/protocol';

import type { NoteWake, WakeStep } from '../commands.ts';
import { hubCaller } from '../hub-caller.ts';
import { journalId } from '../threads/access.ts';
import { createAttempt, failure } from './attempt.ts';
import { createFlight, type Flight } from './flight.ts';
import { findTarget, hushOf, unreadIn } from './gather.ts';
import { reasonToSkip, SKIP_REASONS } from './policy.ts';
import type { WakeProfile, Waker, WakerDeps, WakeRequest } from './ports.ts';
import { UNFINISHED, type Wake } from './wake.ts';

type Head = Pick<NoteWake, 'caller' | 'idempotency' | 'budget'>;

/** What the record says of a wake that was put on it. */
type Noted = Pick<Wake, 'trigger_id' | 'state'>;

/** The waker of one process. */
export function createWaker(deps: WakerDeps): Waker {
  const { store, clock, settings } = deps;
  const flights = new Map<string, Flight>();
  const closing = new AbortController();
  const running = new Set<Promise<void>>();
  const attempt = createAttempt({ ...deps, note, profileOf, closing: closing.signal });

  function profileOf(workspaceId: string, agentId: string): WakeProfile | undefined {
    return deps.wakeProfiles.find((one) => one.workspace_id === workspaceId && one.agent_id === agentId);
  }

  /** Puts on record how a wake stands, with a line in the target's journal where there is something to tell. */
  async function note(
    wake: Wake,
    step?: WakeStep,
    head: Head = { caller: hubCaller(wake.workspace_id) },
  ): Promise<Noted> {
    const { workspace_id, target_agent_id, thread_id: of, reason } = wake;
    const { result } = await deps.log.append({
      type: 'note_wake',
      now: clock.now(),
      salt: deps.chance.below(ENTRY_SALT_BOUND),
      ...head,
      thread_id: journalId(workspace_id, target_agent_id),
      input: { thread_id: of, target_agent_id, reason },
      wake: { ...wake, passed: [...wake.passed] },
      ...(step === undefined ? {} : { step }),
    });
    return result as unknown as Noted;
  }

  /** The wake as it begins: to be tried, or skipped with the reason. */
  async function begin(request: WakeRequest): Promise<Wake> {
    const { thread, target, audit, human } = request;
    const { workspace_id, thread_id } = thread;
    const now = clock.now();
    const [unread, { quiet }, [last]] = await Promise.all([
      unreadIn(deps, thread, target),
      findTarget(deps, workspace_id, target, profileOf(workspace_id, target)),
      lastDelivered(workspace_id, thread_id, target),
    ]);
    const facts = {
      force: audit !== undefined,
      unreadSeq: unread?.through ?? 0,
      hush: hushOf(thread, target, now),
      quiet,
      last:
        last === undefined
          ? undefined
          : { throughSeq: last.through_seq, agoMs: now - Date.parse(last.settled_at ?? last.asked_at) },
    };
    const skip = reasonToSkip(facts, settings);
    const asked_at = new Date(now).toISOString();
    return {
      trigger_id: `wk_${ulid(now, deps.chance.bytes(16))}`,
      workspace_id,
      thread_id,
      target_agent_id: target,
      by: request.by,
      human,
      reason: request.reason,
      ...(request.note === undefined ? {} : { note: request.note }),
      ...(audit === undefined ? {} : { force: { by: request.by, audit } }),
      first_seq: unread?.first ?? 0,
      through_seq: unread?.through ?? 0,
      asked_at,
      state: skip === undefined ? 'open' : 'skipped',
      ...(skip === undefined ? {} : { skip, settled_at: asked_at }),
      deferred_ms: 0,
      tries: 0,
      passed: [],
    };
  }

  async function lastDelivered(workspace_id: string, thread_id: string, target: string): Promise<Wake[]> {
    const prefix = `${thread_id} ${target} `;
    const query = { kind: 'wake', workspace_id, prefix, descending: true, limit: 20 } as const;
    const wakes = await store.records(query);
    return wakes.filter(({ state }) => ['delivered', 'running', 'queued'].includes(state));
  }

  async function open(caller: Caller, request: WakeRequest, flight: Flight, key: string): Promise<void> {
    const wake = await begin(request);
    const { trigger_id, state } = await note(wake, asked(wake), headOf(caller, wake, request));
    flight.onRecord();
    if (trigger_id !== wake.trigger_id) {
      flights.delete(key);
      return flight.tell(await replayed({ ...wake, trigger_id }));
    }
    if (state === 'skipped' && wake.state !== 'skipped')
      Object.assign(wake, { state, skip: 'budget', settled_at: wake.asked_at });
    if (wake.state === 'skipped') {
      flights.delete(key);
      return flight.tell(wake);
    }
    fly(wake, flight, key);
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

  /** The same key again: what became of the first. */
  async function replayed({ workspace_id, thread_id, target_agent_id, trigger_id }: Wake) {
    const prefix = `${thread_id} ${target_agent_id} ${trigger_id}`;
    const [wake] = await store.records({ kind: 'wake', workspace_id, prefix, limit: 1 });
    if (wake === undefined) throw new ParleyError('NOT_FOUND', 'the wake of this key is not on record');
    return wake.state === 'failed' ? failure(wake) : wake;
  }

  function fly(wake: Wake, flight: Flight, key: string): void {
    const flown = attempt(wake, flight)
      .catch((error: unknown) => {
        if (closing.signal.aborted) return;
        flight.tell(error as Error);
        if (!(error instanceof ParleyError)) deps.onFault(error);
      })
      .finally(() => {
        if (closing.signal.aborted) flight.tell(new ParleyError('UNAVAILABLE', 'the hub is stopping'));
        flights.delete(key);
        running.delete(flown);
      });
    running.add(flown);
  }

  return {
    async start() {
      const query = { kind: 'wake', workspace_id: undefined, limit: LIMITS.records } as const;
      for (const wake of await store.records({ ...query, marks: UNFINISHED })) {
        const flight = createFlight();
        const key = keyOf(wake.workspace_id, wake.thread_id, wake.target_agent_id);
        // Nobody waits for it any more.
        flight.outcome(true).catch(() => {});
        flights.set(key, flight);
        fly(wake, flight, key);
      }
    },
    wake(caller, request) {
      const { thread, target, audit } = request;
      const key = keyOf(thread.workspace_id, thread.thread_id, target);
      const known = flights.get(key);
      if (known !== undefined) {
        const outcome = known.outcome(audit !== undefined);
        if (audit !== undefined) known.insist({ by: request.by, audit });
        return { recorded: known.recorded, outcome };
      }
      const flight = createFlight();
      flights.set(key, flight);
      const outcome = flight.outcome();
      open(caller, request, flight, key).catch((error: unknown) => {
        flights.delete(key);
        flight.onRecord();
        flight.tell(error as Error);
      });
      return { recorded: flight.recorded, outcome };
    },
    async canReach(workspaceId, agentId) {
      const { target } = await findTarget(deps, workspaceId, agentId, profileOf(workspaceId, agentId));
      return [...deps.doors.values()].some((door) => door.serves(target));
    },
    async close() {
      closing.abort();
      for (const door of deps.doors.values()) await door.close?.();
      await Promise.all(running);
    },
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
