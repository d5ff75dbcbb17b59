import type { Loose, RpcAnswer } from '../../process/rpc-peer.ts';
import { isObject, objectAt, textAt } from '../../process/rpc-peer.ts';
import { RuntimeError } from '../../runtime-error.ts';
import type { AdapterDeps } from '../adapter.ts';
import type { StartedThread, TurnFailure } from '../backend.ts';
import type { OpenTurn, TurnEnd } from '../open-turn.ts';

/** Who waits for the thread of a first turn. */
interface Starter {
  resolve: (started: StartedThread) => void;
  reject: (error: Error) => void;
}

/**
 * The tool calls that are under way. The child may answer a call under the id of an older one of its thread, or
 * never: events decide, and an answer counts only where no event did.
 */
export interface CallBook {
  open(turn: OpenTurn, id: number, starter?: Starter): void;
  idOf(turn: OpenTurn): number | undefined;
  /** An event names the thread of a first turn. */
  bind(requestId: unknown, threadId: string): void;
  takeAnswer(answer: RpcAnswer): void;
  /** An event has told the end of a turn; `isAnswered` when an answer to some call follows it. */
  endByEvent(threadId: string, turnId: string, end: TurnEnd, isAnswered: boolean): void;
  begin(threadId: string, turnId: string): void;
  noteError(threadId: string, failure: TurnFailure): void;
  /** Throws THREAD_LOST where the child would answer the next turn with the end of the last. */
  checkInStep(threadId: string): void;
  forget(threadId: string): void;
  clear(end: TurnEnd): void;
}

interface OpenCall {
  id: number;
  turn: OpenTurn;
  starter: Starter | undefined;
  failure: TurnFailure | undefined;
}

interface CallStep {
  /** Answers that the child still owes for turns that are settled. */
  owed: number;
  /** A failed turn whose end is still in the child's queue, where the next call would find it. */
  unreadEnd: string | undefined;
}

/** Keeps calls and threads in step. */
export function createCallBook({ threads, approvals, stray, log }: AdapterDeps): CallBook {
  const callById = new Map<unknown, OpenCall>();
  const callByTurn = new Map<OpenTurn, OpenCall>();
  const stepByThread = new Map<string, CallStep>();

  function stepOf(threadId: string): CallStep {
    const known = stepByThread.get(threadId);
    if (known !== undefined) return known;
    const step: CallStep = { owed: 0, unreadEnd: undefined };
    stepByThread.set(threadId, step);
    return step;
  }

  const isOld = (threadId: string, turnId: string): boolean =>
    threads.get(threadId)?.endedTurnIds.includes(turnId) === true;

  function close(turn: OpenTurn): void {
    const call = callByTurn.get(turn);
    callByTurn.delete(turn);
    if (call !== undefined) callById.delete(call.id);
    if (turn.threadId === '') return;
    // The child forgets nothing by itself, and a refusal that comes late harms nobody; any other word might.
    approvals.withdrawThread(turn.threadId, { text: 'The turn has ended.' });
    threads.setStatus(turn.threadId, 'idle');
  }

  function finish(turn: OpenTurn, end: TurnEnd): void {
    threads.end(turn, end);
    close(turn);
  }

  function refuse(turn: OpenTurn, error: RuntimeError): void {
    threads.refuse(turn, error);
    close(turn);
  }

  function name(call: OpenCall, threadId: string): void {
    call.turn.threadId = threadId;
    threads.occupy(call.turn);
    threads.setStatus(threadId, 'active');
    call.starter?.resolve({ threadId, turn: call.turn.result });
  }

  function takeFailure(call: OpenCall, message: string, childError: unknown): void {
    const { turn } = call;
    if (turn.threadId === '') return refuse(turn, new RuntimeError('REFUSED', message, { childError }));
    if (/session not found/i.test(message))
      return refuse(turn, new RuntimeError('THREAD_NOT_FOUND', message, { childError }));
    if (turn.turnId === undefined)
      return finish(turn, { status: 'failed', error: { code: 'refused', message } });
    stepOf(turn.threadId).unreadEnd = turn.turnId;
    finish(turn, { status: 'failed', error: call.failure ?? { code: 'model', message } });
    threads.setStatus(turn.threadId, 'system_error');
  }

  const book: CallBook = {
    open(turn, id, starter) {
      const call: OpenCall = { id, turn, starter, failure: undefined };
      callById.set(id, call);
      callByTurn.set(turn, call);
    },
    idOf: (turn) => callByTurn.get(turn)?.id,
    bind(requestId, threadId) {
      const call = callById.get(requestId);
      if (call !== undefined && call.turn.threadId === '') name(call, threadId);
    },
    takeAnswer({ id, result, error }) {
      const content = isObject(result) ? result : {};
      const ofId = callById.get(id);
      const threadId =
        textAt(objectAt(content, 'structuredContent'), 'threadId') ?? ofId?.turn.threadId ?? '';
      const isError = error !== undefined || content['isError'] === true;
      if (ofId?.turn.threadId === '' && threadId !== '' && !isError) name(ofId, threadId);
      const running = threads.get(threadId)?.turn;
      const call = running === undefined ? ofId : callByTurn.get(running);
      const step = threadId === '' ? undefined : stepOf(threadId);
      if (isError) {
        // Under its own id, or explained by an event: otherwise it is the echo of another turn.
        if (call !== undefined && (call === ofId || call.failure !== undefined))
          return takeFailure(call, error?.message ?? textOf(content), error ?? result);
      } else if (step !== undefined && step.owed > 0) {
        step.owed--;
        return;
      } else if (call !== undefined) return finish(call.turn, { status: 'completed', text: textOf(content) });
      stray();
      log('debug', 'an answer belongs to no running turn', { id, threadId });
    },
    begin(threadId, turnId) {
      const turn = threads.get(threadId)?.turn;
      if (turn === undefined || turn.turnId !== undefined || isOld(threadId, turnId)) return;
      turn.turnId = turnId;
      turn.hasStarted = true;
      turn.repeatInterrupt();
    },
    noteError(threadId, failure) {
      const turn = threads.get(threadId)?.turn;
      const call = turn === undefined ? undefined : callByTurn.get(turn);
      if (call !== undefined) call.failure = failure;
    },
    endByEvent(threadId, turnId, end, isAnswered) {
      const turn = threads.get(threadId)?.turn;
      const step = stepOf(threadId);
      if (isAnswered) {
        step.owed++;
        if (step.unreadEnd === turnId) {
          step.unreadEnd = undefined;
          if (turn === undefined) threads.setStatus(threadId, 'idle');
        }
      }
      const isOurs = turn?.turnId === turnId || (turn?.turnId === undefined && !isOld(threadId, turnId));
      if (turn === undefined || !isOurs) return;
      turn.turnId = turnId;
      finish(turn, end);
    },
    checkInStep(threadId) {
      if (stepByThread.get(threadId)?.unreadEnd !== undefined)
        throw new RuntimeError(
          'THREAD_LOST',
          `after its failed turn mcp-server would answer thread ${threadId} out of step; app-server can resume it`,
        );
    },
    forget: (threadId) => void stepByThread.delete(threadId),
    clear(end) {
      const { message = 'the child is gone', exit } = end.error ?? {};
      const error = new RuntimeError('CHILD_EXITED', message, exit === undefined ? {} : { exit });
      for (const { turn } of callByTurn.values()) if (turn.threadId === '') turn.fail(error);
      callById.clear();
      callByTurn.clear();
      stepByThread.clear();
    },
  };
  return book;
}

function textOf(result: Loose): string {
  const structured = textAt(objectAt(result, 'structuredContent'), 'content');
  if (structured !== undefined) return structured;
  const parts = Array.isArray(result['content']) ? result['content'].filter(isObject) : [];
  return parts.map((part) => textAt(part, 'text') ?? '').join('\n');
}
