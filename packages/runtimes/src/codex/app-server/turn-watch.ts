import type { Loose } from '../../process/rpc-peer.ts';
import { isObject, numberAt, objectAt, textAt } from '../../process/rpc-peer.ts';
import type { AdapterDeps } from '../adapter.ts';
import type { FileChange } from '../backend.ts';
import type { OpenTurn, TurnEnd } from '../open-turn.ts';
import type { ThreadRecord } from '../thread-table.ts';
import { changesOf } from './approvals.ts';
import { statusOf, usageOf, withRequest } from './thread-facts.ts';

/** Follows the child's notifications and finds the end of each turn in them. */
export interface TurnWatch {
  take(method: string, params: Loose): void;
  /** The child has told the id of a turn that was asked for. */
  named(turn: OpenTurn, turnId: string): void;
  /** The turn has no id of its own until the child begins it. */
  expectUnnamed(turn: OpenTurn): void;
  changesOf(itemId: string): FileChange[] | undefined;
  close(): void;
}

const KEPT_ITEMS = 256;

/** Correlates by thread and turn id; the answer to `turn/start` only tells which turn is ours. */
export function createTurnWatch({ threads, approvals, limits, emit }: AdapterDeps): TurnWatch {
  const changesById = new Map<string, FileChange[]>();
  /** Turns that ended before the child had told that they are ours. */
  const earlyEnds = new Map<OpenTurn, Map<string, TurnEnd>>();
  const startedEarly = new Map<OpenTurn, Set<string>>();
  const unnamed = new WeakSet<OpenTurn>();
  const lossTimers = new Map<OpenTurn, NodeJS.Timeout>();

  function finish(turn: OpenTurn, end: TurnEnd): void {
    unexpect(turn);
    earlyEnds.delete(turn);
    startedEarly.delete(turn);
    approvals.withdrawThread(turn.threadId);
    threads.end(turn, end);
  }

  function unexpect(turn: OpenTurn): void {
    clearTimeout(lossTimers.get(turn));
    lossTimers.delete(turn);
  }

  /** The thread is idle again, yet its turn has not ended: the notice may have been lost. */
  function expectEnd(turn: OpenTurn): void {
    if (lossTimers.has(turn)) return;
    const error = { code: 'lost', message: 'the thread is idle, but its turn was not told to end' } as const;
    lossTimers.set(
      turn,
      setTimeout(() => finish(turn, { status: 'failed', error }), limits.lostMs),
    );
  }

  function onStarted(record: ThreadRecord, turnId: string): void {
    const { turn } = record;
    if (record.endedTurnIds.includes(turnId)) return;
    if (turn === undefined) record.foreignTurnId = turnId;
    else if (turn.turnId === undefined && unnamed.has(turn)) turn.turnId = turnId;
    else if (turn.turnId === undefined) {
      startedEarly.set(turn, (startedEarly.get(turn) ?? new Set()).add(turnId));
      return;
    }
    if (turn?.turnId === turnId) begun(turn);
  }

  function begun(turn: OpenTurn): void {
    if (turn.hasStarted) return;
    turn.hasStarted = true;
    turn.repeatInterrupt();
  }

  function onCompleted(record: ThreadRecord, payload: Loose): void {
    const turnId = textAt(payload, 'id') ?? '';
    const { turn } = record;
    if (record.foreignTurnId === turnId) {
      record.foreignTurnId = undefined;
      threads.noteEnd(record, turnId);
    }
    if (turn === undefined || record.endedTurnIds.includes(turnId)) return;
    const end = turnEnd(payload);
    if (turn.turnId === turnId) finish(turn, end);
    else if (turn.turnId === undefined) {
      const ends = earlyEnds.get(turn) ?? new Map<string, TurnEnd>();
      earlyEnds.set(turn, ends.set(turnId, end));
    }
  }

  function follow(method: string, params: Loose, record: ThreadRecord): void {
    const { turn } = record;
    const own = turn?.turnId === undefined || turn.turnId === textAt(params, 'turnId') ? turn : undefined;
    switch (method) {
      case 'turn/started':
        return onStarted(record, textAt(objectAt(params, 'turn'), 'id') ?? '');
      case 'turn/completed':
        return onCompleted(record, objectAt(params, 'turn'));
      case 'thread/status/changed': {
        const status = statusOf(objectAt(params, 'status'));
        const rests = ['idle', 'system_error', 'not_loaded'].includes(status);
        threads.setStatus(record.id, status);
        if (rests) record.foreignTurnId = undefined;
        if (turn?.hasStarted !== true) return;
        return rests ? expectEnd(turn) : unexpect(turn);
      }
      case 'thread/closed':
        threads.setStatus(record.id, 'not_loaded');
        if (turn !== undefined) expectEnd(turn);
        return;
      case 'item/agentMessage/delta':
        return own?.addText(textAt(params, 'itemId') ?? '', textAt(params, 'delta') ?? '');
      case 'item/started':
      case 'item/completed': {
        const item = objectAt(params, 'item');
        const id = textAt(item, 'id') ?? '';
        // The first item is what the turn was given: it is on disk now, and the model is asked after that.
        if (own?.turnId !== undefined) own.take();
        if (item['type'] === 'agentMessage' && method === 'item/completed')
          own?.setText(id, textAt(item, 'text') ?? '');
        if (item['type'] === 'fileChange') keepChanges(id, item);
        return;
      }
      case 'thread/tokenUsage/updated':
        if (own !== undefined)
          own.usage = withRequest(own.usage, usageOf(objectAt(params, 'tokenUsage'), record.model));
        return;
      default:
    }
  }

  function keepChanges(id: string, item: Loose): void {
    const changes = changesOf(item);
    if (changes === undefined) return;
    changesById.delete(id);
    changesById.set(id, changes);
    const [oldest] = changesById.keys();
    if (changesById.size > KEPT_ITEMS && oldest !== undefined) changesById.delete(oldest);
  }

  return {
    take(method, params) {
      const threadId = textAt(params, 'threadId') ?? textAt(objectAt(params, 'thread'), 'id');
      const turnId = textAt(params, 'turnId') ?? textAt(objectAt(params, 'turn'), 'id');
      emit({ threadId, turnId, method, params });
      if (method === 'serverRequest/resolved') {
        const { requestId } = params;
        if (typeof requestId === 'string' || typeof requestId === 'number') approvals.withdraw(requestId);
      } else if (threadId !== undefined) follow(method, params, threads.add(threadId));
    },
    named(turn, turnId) {
      if (turn.turnId !== undefined) return;
      turn.turnId = turnId;
      const end = earlyEnds.get(turn)?.get(turnId);
      if (end !== undefined) return finish(turn, end);
      if (startedEarly.get(turn)?.has(turnId) === true) begun(turn);
      earlyEnds.delete(turn);
      startedEarly.delete(turn);
    },
    expectUnnamed: (turn) => void unnamed.add(turn),
    changesOf: (itemId) => changesById.get(itemId),
    close() {
      for (const timer of lossTimers.values()) clearTimeout(timer);
      lossTimers.clear();
      earlyEnds.clear();
      startedEarly.clear();
    },
  };
}

/** The end of a turn out of the child's account of it. */
function turnEnd(payload: Loose): TurnEnd {
  const items = Array.isArray(payload['items']) ? payload['items'].filter(isObject) : [];
  const said = items.findLast((item) => item['type'] === 'agentMessage');
  const text = said === undefined ? undefined : textAt(said, 'text');
  const durationMs = numberAt(payload, 'durationMs');
  const status = payload['status'];
  const failure = payload['error'];
  return {
    status: status === 'completed' || status === 'interrupted' ? status : 'failed',
    // What was gathered says more than the last message of a turn that was cut.
    ...(text === undefined || status !== 'completed' ? {} : { text }),
    ...(durationMs === undefined ? {} : { durationMs }),
    ...(isObject(failure)
      ? {
          error: {
            code: 'model',
            message: textAt(failure, 'message') ?? 'no reason given',
            info: failure['codexErrorInfo'],
          },
        }
      : {}),
  };
}
