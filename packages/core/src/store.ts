import type { Cursor, ThreadStatus } from '@parley/protocol';

import type { Command } from './commands.ts';
import type { Entry } from './entry.ts';
import type { RecordKind, RecordKinds, RecordsQuery } from './records.ts';
import type { Located } from './threads/access.ts';
import type { ThreadState } from './threads/state.ts';

/** How far a command brought a thread, and with it the log of its workspace. */
export interface Reached {
  thread_id: string;
  last_seq: number;
  workspace_id: string;
  pos: number;
}

/** The answer to a durable command, and the positions that its threads reached. */
export interface Committed {
  result: Record<string, unknown>;
  /** The answer was given before; nothing was written now. */
  replayed: boolean;
  reached?: Reached[];
}

export interface PageQuery {
  workspace_id: string;
  thread_id: string;
  /** The seq before the first one wanted; -1 begins with the thread's own creation. */
  after: number;
  limit: number;
  max_bytes: number;
}

/** A thread and a run of its entries, both of one moment. */
export interface Page {
  located: Located;
  entries: Entry[];
  has_more: boolean;
}

export interface ThreadsQuery {
  workspace_id: string;
  /** Only threads this agent takes part in; undefined for those who may see all. */
  participant: string | undefined;
  /** Whose cursor counts what is unread. */
  reader: string;
  status: ThreadStatus | undefined;
  unread: boolean;
  limit: number;
  max_bytes: number;
  /** Position of the last row of the page before. */
  before: { updated_at: string; thread_id: string } | undefined;
}

export interface ThreadRow {
  state: ThreadState;
  last_read_seq: number;
}

/** A run of threads, newest activity first. */
export interface ThreadsPage {
  rows: ThreadRow[];
  has_more: boolean;
}

export interface WorkspaceQuery {
  /** Undefined for the hub's own housekeeping, which looks at all workspaces. */
  workspace_id: string | undefined;
  participant: string | undefined;
  /** Position in the log of the whole hub. */
  after: number;
  limit: number;
  max_bytes: number;
}

/** A run of a workspace's entries over all its threads, in the order the hub accepted them. */
export interface WorkspacePage {
  rows: { pos: number; workspace_id: string; entry: Entry }[];
  /** Up to here nothing was left out; a page may be empty and yet have more after it. */
  next: number;
  has_more: boolean;
}

export interface SearchQuery {
  workspace_id: string;
  participant: string | undefined;
  thread_id: string | undefined;
  text: string;
  limit: number;
}

export interface SearchResult {
  hits: { entry: Entry; snippet: string }[];
  /**
   * What was left out: changes that are not indexed yet, matches older than those that were compared, words beyond
   * those that are looked for.
   */
  lacks: ('changes' | 'older_matches' | 'words')[];
}

/** How far the full-text index is behind the log. */
export interface SearchLag {
  /** How many entries it lacks. */
  entries: number;
  /** When the oldest of them was written. */
  since?: string;
}

export interface StoreHealth {
  writable: boolean;
  reason?: string;
  /** Writes that wait for the disk. */
  waiting?: number;
  /** What was made anew from the log since the store was opened. */
  rebuilt?: ('threads' | 'records' | 'index')[];
}

/**
 * The log and what is folded from it. `transact` decides by the rules and answers only what is durable; an error
 * from it that is no ParleyError of the rules means "unknown", and the same idempotency key settles it.
 */
export interface Store {
  transact(command: Command): Promise<Committed>;
  page(query: PageQuery): Promise<Page>;
  /** The thread with its newest entries, oldest first; where the bytes do not suffice, the older ones are left out. */
  tail(query: Omit<PageQuery, 'after'>): Promise<Page>;
  cursors(threadId: string): Promise<Cursor[]>;
  /** Ids of messages that reply to this one. */
  references(threadId: string, messageId: string): Promise<string[]>;
  threads(query: ThreadsQuery): Promise<ThreadsPage>;
  /** What is kept beside the log. */
  records<K extends RecordKind>(query: RecordsQuery<K>): Promise<RecordKinds[K][]>;
  /** The log of a workspace over all its threads. */
  workspace(query: WorkspaceQuery): Promise<WorkspacePage>;
  /** How far the log of the whole hub has come. */
  position(): Promise<number>;
  search(query: SearchQuery): Promise<SearchResult>;
  /** The ids of the threads that a participant may read. */
  readable(query: { workspace_id: string; participant: string }): Promise<string[]>;
  searchLag(): Promise<SearchLag>;
  /** Begins to forget the idempotency keys that were used before a moment; it is done by and by. */
  forgetKeys(before: number): void;
  health(): StoreHealth;
  close(): Promise<void>;
}
