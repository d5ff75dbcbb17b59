import { RuntimeError } from '../runtime-error.ts';
import type { DynamicTool, ThreadStatus } from './backend.ts';
import type { OpenTurn, TurnEnd } from './open-turn.ts';

/** What the driver knows of a thread. */
export interface ThreadRecord {
  readonly id: string;
  status: ThreadStatus;
  /** Set until the child has confirmed the turn's end, even if its caller no longer waits. */
  turn: OpenTurn | undefined;
  /** A turn that somebody else began. */
  foreignTurnId: string | undefined;
  toolsByName: Map<string, DynamicTool>;
  /** Aborted when the running turn ends. */
  toolCalls: AbortController | undefined;
}

/** The threads of one child: one turn each at a time. */
export interface ThreadTable {
  get(threadId: string): ThreadRecord | undefined;
  add(threadId: string): ThreadRecord;
  /** Gives the thread to the turn, or throws BUSY. */
  occupy(turn: OpenTurn): ThreadRecord;
  /** Settles the turn and frees its thread. */
  end(turn: OpenTurn, end: TurnEnd): void;
  refuse(turn: OpenTurn, error: RuntimeError): void;
  setStatus(threadId: string, status: ThreadStatus): void;
  remove(threadId: string): void;
  /** The child is gone: every turn ends, no thread is loaded. */
  clear(end: TurnEnd): void;
}

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
        toolsByName: new Map(),
        toolCalls: undefined,
      };
      recordById.set(id, record);
      return record;
    },
    occupy(turn) {
      const record = table.add(turn.threadId);
      if (record.turn !== undefined || record.foreignTurnId !== undefined) {
        const why = record.turn?.isSettled === true ? 'was interrupted but has not ended' : 'is running';
        throw new RuntimeError('BUSY', `a turn ${why} on thread ${turn.threadId}`);
      }
      record.turn = turn;
      return record;
    },
    end(turn, end) {
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
