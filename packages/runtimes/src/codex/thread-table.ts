import { RuntimeError } from '../runtime-error.ts';
import type { DynamicTool, ThreadStatus } from './backend.ts';
import type { OpenTurn, TurnEnd } from './open-turn.ts';

/** What the driver knows of a thread. */
export interface ThreadRecord {
  /** The model that the child named for it. */
  model?: string | undefined;
  readonly id: string;
  status: ThreadStatus;
  /** Set until the child has confirmed the turn's end, even if its caller no longer waits. */
  turn: OpenTurn | undefined;
  /** A turn that somebody else began. */
  foreignTurnId: string | undefined;
  /** The last turns that ended, so that whatever is still said of them is known for old. */
  endedTurnIds: string[];
  toolsByName: Map<string, DynamicTool>;
  /** Aborted when the running turn ends. */
  toolCalls: AbortController | undefined;
}

/** The threads of one child: one turn each at a time. */
export interface ThreadTable {
  get(threadId: string): ThreadRecord | undefined;
  add(threadId: string): ThreadRecord;
  /** Throws BUSY where a turn is running. */
  checkFree(threadId: string): void;
  /** Gives the thread to the turn. */
  occupy(turn: OpenTurn): void;
  /** Settles the turn and frees its thread. */
  end(turn: OpenTurn, end: TurnEnd): void;
  noteEnd(record: ThreadRecord, turnId: string): void;
  refuse(turn: OpenTurn, error: RuntimeError): void;
  setStatus(threadId: string, status: ThreadStatus): void;
  remove(threadId: string): void;
  /** The child is gone: every turn ends, no thread is loaded. */
  clear(end: TurnEnd): void;
}

const KEPT_ENDS = 16;

/** Keeps the threads of one child. */
export function createThreadTable(onStatus: (threadId: string, status: ThreadStatus) => void): ThreadTable {
  const recordById = new Map<string, ThreadRecord>();

  function vacate(turn: OpenTurn): void {
    const record = recordById.get(turn.threadId);
    if (record?.turn !== turn) return;
    record.turn = undefined;
    record.toolCalls?.abort();
    record.toolCalls = undefined;
  }

  const table: ThreadTable = {
    get: (threadId) => recordById.get(threadId),
    add(id) {
      const known = recordById.get(id);
      if (known !== undefined) return known;
      const record: ThreadRecord = {
        id,
        status: 'not_loaded',
        turn: undefined,
        foreignTurnId: undefined,
        endedTurnIds: [],
        toolsByName: new Map(),
        toolCalls: undefined,
      };
      recordById.set(id, record);
      return record;
    },
    checkFree(threadId) {
      const record = recordById.get(threadId);
      if (record?.turn === undefined && record?.foreignTurnId === undefined) return;
      const why = record.turn?.isSettled === true ? 'was interrupted but has not ended' : 'is running';
      throw new RuntimeError('BUSY', `a turn ${why} on thread ${threadId}`);
    },
    occupy(turn) {
      table.checkFree(turn.threadId);
      table.add(turn.threadId).turn = turn;
    },
    noteEnd({ endedTurnIds }, turnId) {
      endedTurnIds.push(turnId);
      if (endedTurnIds.length > KEPT_ENDS) endedTurnIds.shift();
    },
    end(turn, end) {
      const record = recordById.get(turn.threadId);
      if (record !== undefined && turn.turnId !== undefined) table.noteEnd(record, turn.turnId);
      turn.settle(end);
      vacate(turn);
    },
    refuse(turn, error) {
      turn.fail(error);
      vacate(turn);
    },
    setStatus(threadId, status) {
      const record = table.add(threadId);
      if (record.status === status) return;
      record.status = status;
      onStatus(threadId, status);
    },
    remove: (threadId) => void recordById.delete(threadId),
    clear(end) {
      for (const record of recordById.values()) {
        if (record.turn !== undefined) table.end(record.turn, end);
        record.foreignTurnId = undefined;
        table.setStatus(record.id, 'not_loaded');
      }
    },
  };
  return table;
}
