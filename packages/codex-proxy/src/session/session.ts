import type { TurnResult } from '@parley/runtimes';

import type { Addressee, MailDelivery } from '../mail/mail-delivery.ts';
import type { OpenSession } from '../session-observer.ts';
import { SUMMARY_PROMPT } from '../registry/left-behind.ts';
import type { SessionRecord } from '../registry/session-record.ts';
import type { RpcId } from '../wire/message.ts';
import { auditedTurn, type AuditedTurnDeps } from './audited-turn.ts';
import {
  newSession,
  type RequestKey,
  type SessionEffect,
  type SessionInput,
  stepSession,
  type TurnAnswer,
  type TurnSource,
} from './session-machine.ts';
import {
  createSessionThread,
  type Launch,
  type Preface,
  type SessionThreadDeps,
  type TurnRequest,
} from './session-thread.ts';
import { createTimers } from './timers.ts';

/** How a turn ended: as the driver tells it, or what it threw because there was none. */
type TurnEnd = TurnResult | Error;

/** What a request for a turn came to. */
export interface TurnReport {
  how: TurnAnswer;
  end: TurnEnd | undefined;
}

export interface SessionLimits {
  turnMs: number;
  /** How long an interrupted turn may take to say what it had. */
  graceMs: number;
  closeMs: number;
}

export interface SessionDeps extends SessionThreadDeps, AuditedTurnDeps {
  limits: SessionLimits;
  now: () => Date;
  mailDelivery: Pick<MailDelivery, 'settle' | 'next' | 'taken' | 'turnOver' | 'rearm'>;
  /** The record as it is now; called at every change. That a turn has begun or ended can wait a moment. */
  save: (record: SessionRecord, when?: 'now' | 'soon') => void;
  /** Closing has begun: nobody is asked any more. */
  refuseApprovals: () => void;
  closed: (interrupted: boolean, summary: string | undefined) => void;
}

export interface CodexSession extends OpenSession, Addressee {
  readonly agentId: string;
  readonly identity: string;
  threadId(): string | undefined;
  isClosed(): boolean;
  /** True until its first turn since it was opened. */
  isFresh(): boolean;
  /** Waits for its place in the queue and for its end; aborting takes it out or interrupts it. */
  turn(prompt: string, signal: AbortSignal, more?: TurnExtras): Promise<TurnReport>;
  /** The client's request whose turn runs. */
  requestId(): RpcId | undefined;
  /** What may be changed at any time. */
  set(change: Pick<Partial<SessionRecord>, 'auto_mail' | 'tag'>): void;
  /** Settles anew how it is launched; only before its first turn. */
  prepare(launch: Launch, change: Partial<SessionRecord>): void;
  close(summary: 'when_busy' | 'always'): Promise<void>;
  childDied(): void;
}

/** What a turn of the client brings beside its prompt. */
interface TurnExtras extends Pick<TurnRequest, 'instructions'> {
  requestId?: () => RpcId;
}

interface Turn extends TurnExtras {
  prompt: string;
}

/** Whoever was to be brought mail has read it meanwhile. */
const NO_MAIL: TurnResult = {
  threadId: '',
  turnId: undefined,
  status: 'interrupted',
  text: '',
  durationMs: 0,
};

/** Carries out what the rules decide: turns on the driver, clocks, and answers. What a session left behind goes before its first turn. */
export function createSession(
  deps: SessionDeps,
  launch: Launch,
  initial: SessionRecord,
  leftBehind?: Preface,
): CodexSession {
  const { limits } = deps;
  let state = newSession<Turn>();
  let record = initial;
  const thread = createSessionThread(deps, launch, { record: () => record, update }, leftBehind);
  let hasEnded = false;
  let lastRequest = 0;
  let runningRequest: (() => RpcId) | undefined;
  /** The thread may have mail that is not marked: another process drove it, or a turn with mail went wrong. */
  let mailInDoubt = initial.backend_id !== null;
  const reports = new Map<RequestKey, (report: TurnReport) => void>();
  const closings = new Map<RequestKey, () => void>();
  const controllers = new Map<number, AbortController>();
  const timers = createTimers();

  function feed(input: SessionInput<Turn, TurnEnd>): void {
    const step = stepSession(state, input);
    state = step.state;
    const status = state.phase === 'closing' ? 'busy' : state.phase;
    const hasMoved = status !== record.status || input.type === 'turn_ended';
    if (status !== 'closed' && hasMoved) update({ status }, 'soon');
    for (const effect of step.effects) carryOut(effect);
  }

  function carryOut(effect: SessionEffect<Turn, TurnEnd>): void {
    switch (effect.type) {
      case 'start':
        void runTurn(effect.turn, effect.source, effect.payload);
        return;
      case 'interrupt':
        controllers.get(effect.turn)?.abort(new Error('interrupted'));
        timers.later(limits.graceMs, () => feed({ type: 'grace_over', turn: effect.turn }));
        return;
      case 'answer':
        reports.get(effect.request)?.({ how: effect.how, end: effect.result });
        reports.delete(effect.request);
        return;
      case 'closing':
        deps.refuseApprovals();
        timers.later(limits.closeMs, () => {
          warn('a session did not sum up in time', { timeout_ms: limits.closeMs });
          feed({ type: 'close_timed_out' });
        });
        return;
      case 'closed':
        end(effect.interrupted, effect.summary);
        return;
      case 'answer_close':
        closings.get(effect.request)?.();
        closings.delete(effect.request);
    }
  }

  function end(interrupted: boolean, summary: TurnEnd | undefined): void {
    timers.clear();
    update({ status: interrupted ? 'interrupted' : 'closed' });
    hasEnded = true;
    const text = summary === undefined || summary instanceof Error ? undefined : summary.text;
    deps.closed(interrupted, text === '' ? undefined : text);
  }

  async function runTurn(turn: number, source: TurnSource, payload: Turn | undefined): Promise<void> {
    const controller = new AbortController();
    controllers.set(turn, controller);
    const clock =
      source === 'summary' ? undefined : timers.later(limits.turnMs, () => timedOut(turn, source));
    const { signal } = controller;
    const { requestId, ...asked } = payload ?? { prompt: SUMMARY_PROMPT };
    runningRequest = requestId;
    let result: TurnEnd;
    let wasBrought = source !== 'mail';
    try {
      if (source === 'client') {
        deps.mailDelivery.rearm(session);
        // What the agent has it shall not find unread; whatever keeps Codex from telling, the turn itself will show.
        if (mailInDoubt) await settleMail().catch(() => {});
      }
      if (source === 'mail') ({ result, wasBrought } = await bringMail(signal));
      else result = await audited(source, { ...asked, signal });
    } catch (error) {
      result = error instanceof Error ? error : new Error(String(error));
    }
    controllers.delete(turn);
    runningRequest = undefined;
    timers.cancel(clock);
    const completed = !(result instanceof Error) && result.status === 'completed';
    // Mail that could not be brought is no reason to give a session up that its client has.
    const lost = source === 'mail' ? thread.id() === undefined : !thread.isLoaded();
    feed({ type: 'turn_ended', turn, result, completed, lost });
    if (!hasEnded) deps.mailDelivery.turnOver(session, wasBrought);
  }

  function timedOut(turn: number, source: TurnSource): void {
    warn('a turn took too long and is interrupted', { source, timeout_ms: limits.turnMs });
    feed({ type: 'turn_timed_out', turn });
  }

  function warn(message: string, facts: Record<string, unknown>): void {
    deps.log('warn', message, { agent_id: initial.agent_id, identity: initial.identity, ...facts });
  }

  async function settleMail(): Promise<void> {
    mailInDoubt = !(await deps.mailDelivery.settle(session, (marks) => thread.find(marks)));
  }

  /** A turn of its own for unread mail, which counts as read once the child has it. */
  async function bringMail(signal: AbortSignal): Promise<{ result: TurnEnd; wasBrought: boolean }> {
    if (mailInDoubt) await settleMail();
    if (mailInDoubt) return { result: NO_MAIL, wasBrought: false };
    const mail = await deps.mailDelivery.next(session);
    if (mail === undefined) return { result: NO_MAIL, wasBrought: true };
    const { prompt, untrusted, ids } = mail;
    let delivery: Promise<boolean> | undefined;
    const onTaken = (): void => {
      delivery = deps.mailDelivery.taken(session, mail);
    };
    mailInDoubt = true;
    const result = await audited('mail', { prompt, untrusted, signal, onTaken }, ids);
    mailInDoubt = (await delivery) !== true;
    return { result, wasBrought: !mailInDoubt };
  }

  function audited(
    source: TurnSource,
    request: TurnRequest,
    messageIds?: readonly string[],
  ): Promise<TurnResult> {
    const { agent_id: agentId, identity } = initial;
    const facts = { agentId, identity, source, prompt: request.prompt, messageIds };
    return auditedTurn(
      deps,
      facts,
      () => state.running?.stop,
      () => thread.run(request),
    );
  }

  function update(change: Partial<SessionRecord>, when?: 'now' | 'soon'): void {
    // A turn that outlives its session must not touch what may have been taken up again.
    if (hasEnded) return;
    record = { ...record, ...change, last_active: deps.now().toISOString() };
    deps.save(record, when);
  }

  const session: CodexSession = {
    agentId: initial.agent_id,
    identity: initial.identity,
    record: () => record,
    threadId: () => thread.id(),
    isClosed: () => state.phase === 'closed',
    isFresh: () => state.lastTurn === 0,
    requestId: () => runningRequest?.(),
    turn(prompt, signal, more) {
      const request = ++lastRequest;
      return new Promise((resolve) => {
        const cancel = (): void => feed({ type: 'cancel', request });
        reports.set(request, (report) => {
          signal.removeEventListener('abort', cancel);
          resolve(report);
        });
        signal.addEventListener('abort', cancel, { once: true });
        feed({ type: 'client_turn', request, payload: { prompt, ...more } });
        if (signal.aborted) cancel();
      });
    },
    interrupt() {
      const request = state.running?.request;
      if (request !== undefined) feed({ type: 'cancel', request });
      return request !== undefined;
    },
    close(summary) {
      const request = ++lastRequest;
      return new Promise((resolve) => {
        closings.set(request, resolve);
        feed({ type: 'close', request, summary });
      });
    },
    childDied: () => feed({ type: 'child_died' }),
    autoMail: () => record.auto_mail ?? undefined,
    mailKey: () => record.mail_key ?? '',
    mailTally: () => record.mail_tally ?? undefined,
    keepMailTally(tally) {
      const mail_tally = tally ?? null;
      if (hasEnded || mail_tally === (record.mail_tally ?? null)) return;
      record = { ...record, mail_tally };
      deps.save(record);
    },
    set: (change) => update(change),
    prepare(launched, change) {
      update(change);
      thread.prepare(launched);
    },
    mailArrived() {
      // A session that has no thread yet gets its mail after its first turn.
      if (thread.id() !== undefined && !hasEnded) feed({ type: 'mail_waiting' });
    },
  };
  return session;
}
