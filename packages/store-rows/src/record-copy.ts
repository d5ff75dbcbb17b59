import type { ThreadState, WorkspaceHead } from '@parley/core';
import type { Cursor } from '@parley/protocol';

import type { RecordColumns } from './row-sum.ts';

/** An entry as it goes from one store to another: its text and its hash are not touched. */
export interface CopiedEntry {
  workspace_id: string;
  pos: number;
  thread_id: string;
  seq: number;
  hash: string;
  json: string;
}

/** A thread as it stands after its last entry. */
export interface CopiedThread {
  state: ThreadState;
  /** The hash of its last entry. */
  head: string;
}

/** An answer that is kept for a key. */
export interface CopiedKey {
  name: string;
  fingerprint: string;
  at: number;
  result: string;
}

/** A whole record, all of one moment, read in pages. */
export interface RecordSource {
  heads(): Promise<WorkspaceHead[]>;
  /** The entries past these positions; those of a workspace in their order. */
  entries(past: ReadonlyMap<string, number>): AsyncIterable<CopiedEntry[]>;
  /** The hash of the entry at a position; undefined where there is none. */
  hashAt(workspaceId: string, pos: number): Promise<string | undefined>;
  threads(ids: readonly string[]): Promise<CopiedThread[]>;
  cursors(): AsyncIterable<Cursor[]>;
  records(): AsyncIterable<RecordColumns[]>;
  keys(): AsyncIterable<CopiedKey[]>;
  close(): Promise<void>;
}

/** A record that is being made from another; what was written once stays over a crash. */
export interface RecordTarget {
  /** How far each workspace has come, and the hash of its last entry. */
  heads(): Promise<(WorkspaceHead & { hash: string })[]>;
  /** True where nobody has ever kept anything in it. */
  isBlank(): Promise<boolean>;
  /** From where it is being filled; undefined where it is not. */
  note(): Promise<string | undefined>;
  begin(from: string): Promise<void>;
  addEntries(entries: readonly CopiedEntry[], threads: readonly CopiedThread[]): Promise<void>;
  /** Makes room for what is not of the log, which is always copied whole. */
  clearRest(): Promise<void>;
  addCursors(cursors: readonly Cursor[]): Promise<void>;
  addRecords(records: readonly RecordColumns[]): Promise<void>;
  addKeys(keys: readonly CopiedKey[]): Promise<void>;
  /** Makes all that follows from the log. */
  settle(): Promise<void>;
  /** Takes the note away: from now on it is a record like any other. */
  done(): Promise<void>;
  close(): Promise<void>;
}
