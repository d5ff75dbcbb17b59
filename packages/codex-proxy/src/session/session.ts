import type { Codex, ThreadOptions, TurnResult } from '@parley/runtimes';

import { CONTEXT_NAME, contextLines, withContext } from '../context/describe-context.ts';
import { readContext } from '../context/read-context.ts';
import type { SessionRecord } from '../registry/session-record.ts';
import {
  newSession,
  type RequestKey,
  type SessionEffect,
  type SessionInput,
  stepSession,
  type TurnAnswer,
  type TurnSource,
} from './session-machine.ts';

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

/** How a thread is started, and again when it is resumed. */
export interface Launch {
  thread: Omit<ThreadOptions, 'cwd' | 'developerInstructions'>;
  developerInstructions: string | undefined;
}

export interface SessionDeps {
  /** The child, started if it was not; throws when it is gone. */
  awake: () => Promise<Codex>;
  limits: SessionLimits;
  now: () => Date;
  /** The record as it is now; called at every change. */
  save: (record: SessionRecord) => void;
  /** The thread's id is known: from now on its events are this session's. */
  threadKnown: (threadId: string) => void;
  /** Closing has begun: nobody is asked any more. */
  refuseApprovals: () => void;
  closed: (interrupted: boolean, summary: string | undefined) => void;
}

export interface Session {
  readonly agentId: string;
  readonly identity: string;
  record(): SessionRecord;
  threadId(): string | undefined;
  isClosed(): boolean;
  /** Waits for its place in the queue and for its end; aborting takes it out or interrupts it. */
  turn(prompt: string, signal: AbortSignal): Promise<TurnReport>;
  close(summary: 'when_busy' | 'always'): Promise<void>;
  childDied(): void;
}

interface Turn {
  prompt: string;
}

const SUMMARY_PROMPT =
  'This session is about to be closed. Do not start any work or use any tool. In at most 300 words, sum up for whoever resumes it: the goal, what was done and decided, what is open, and the next step.';

/** Carries out what the rules decide: turns on the driver, clocks, and answers. */
export function createSession(deps: SessionDeps, launch: Launch, initial: SessionRecord): Session {
  const { limits } = deps;
  let state = newSession<Turn>();
  let record = initial;
  let threadId = initial.backend_id ?? undefined;
  let isLoaded = false;
  let hasEnded = false;
  let lastRequest = 0;
  const reports = new Map<RequestKey, (report: TurnReport) => void>();
  const closings = new Map<RequestKey, () => void>();
  const controllers = new Map<number, AbortController>();
  const timers = new Set<NodeJS.Timeout>();

  function feed(input: SessionInput<Turn, TurnEnd>): void {
    const step = stepSession(state, input);
    state = step.state;
    const status = state.phase === 'closing' ? 'busy' : state.phase;
    const hasMoved = status !== record.status || input.type === 'turn_ended';
    if (status !== 'closed' && hasMoved) update({ status });
    for (const effect of step.effects) carryOut(effect);
  }

  function carryOut(effect: SessionEffect<Turn, TurnEnd>): void {
    switch (effect.type) {
      case 'start':
        void runTurn(effect.turn, effect.source, effect.payload);
        return;
      case 'interrupt':
        controllers.get(effect.turn)?.abort(new Error('interrupted'));
        later(limits.graceMs, () => feed({ type: 'grace_over', turn: effect.turn }));
        return;
      case 'answer':
        reports.get(effect.request)?.({ how: effect.how, end: effect.result });
        reports.delete(effect.request);
        return;
      case 'closing':
        deps.refuseApprovals();
        later(limits.closeMs, () => feed({ type: 'close_timed_out' }));
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
    for (const timer of timers) clearTimeout(timer);
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
      source === 'summary' ? undefined : later(limits.turnMs, () => feed({ type: 'turn_timed_out', turn }));
    let result: TurnEnd;
    try {
      result = await drive(payload?.prompt ?? SUMMARY_PROMPT, controller.signal);
    } catch (error) {
      result = error instanceof Error ? error : new Error(String(error));
    }
    controllers.delete(turn);
    cancelLater(clock);
    const completed = !(result instanceof Error) && result.status === 'completed';
    feed({ type: 'turn_ended', turn, result, completed, lost: !isLoaded });
  }

  async function drive(prompt: string, signal: AbortSignal): Promise<TurnResult> {
    const { cwd, identity, team } = record;
    const work = await readContext(cwd);
    if (work.branch !== record.branch || work.repo_root !== record.repo_root) update({ ...work });
    const context = { ...work, identity, team };
    const codex = await deps.awake();
    if (threadId === undefined) {
      const developerInstructions = withContext(launch.developerInstructions, context);
      const started = await codex.startThread(
        { ...launch.thread, cwd, developerInstructions },
        { prompt, signal },
      );
      isLoaded = true;
      threadId = started.threadId;
      update({ backend_id: threadId });
      deps.threadKnown(threadId);
      if (started.turn !== undefined) return started.turn;
    } else if (!isLoaded) {
      deps.threadKnown(threadId);
      await codex.resumeThread(threadId, { ...launch.thread, cwd });
      isLoaded = true;
    }
    return codex.runTurn(threadId, {
      prompt,
      context: [{ name: CONTEXT_NAME, text: contextLines(context) }],
      signal,
    });
  }

  function update(change: Partial<SessionRecord>): void {
    // A turn that outlives its session must not touch what may have been taken up again.
    if (hasEnded) return;
    record = { ...record, ...change, last_active: deps.now().toISOString() };
    deps.save(record);
  }

  function later(ms: number, run: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, ms);
    timers.add(timer);
    return timer;
  }

  function cancelLater(timer: NodeJS.Timeout | undefined): void {
    if (timer === undefined) return;
    clearTimeout(timer);
    timers.delete(timer);
  }

  return {
    agentId: initial.agent_id,
    identity: initial.identity,
    record: () => record,
    threadId: () => threadId,
    isClosed: () => state.phase === 'closed',
    turn(prompt, signal) {
      const request = ++lastRequest;
      return new Promise((resolve) => {
        const cancel = (): void => feed({ type: 'cancel', request });
        reports.set(request, (report) => {
          signal.removeEventListener('abort', cancel);
          resolve(report);
        });
        signal.addEventListener('abort', cancel, { once: true });
        feed({ type: 'client_turn', request, payload: { prompt } });
        if (signal.aborted) cancel();
      });
    },
    close(summary) {
      const request = ++lastRequest;
      return new Promise((resolve) => {
        closings.set(request, resolve);
        feed({ type: 'close', request, summary });
      });
    },
    childDied: () => feed({ type: 'child_died' }),
  };
}
