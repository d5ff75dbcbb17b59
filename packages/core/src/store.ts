import type { GroupCounts, ThreadFilter } from './threads/thread-filter.ts';
import type { Cursor, ThreadStatus } from '@parley/protocol';

import type { Command, ResultOf } from './commands.ts';
import type { Entry } from './entry.ts';
import type { RecordKind, RecordKinds, RecordsQuery } from './records.ts';
import type { Located } from './threads/access.ts';
import type { ThreadState } from './threads/state.ts';

/** How far a command brought a thread, and with it the log of its workspace. */
export interface Reached {
  thread_id: string;
  last_seq: number;
  workspace_id: string;
  /** Position in the log of the workspace: before its first entry, and with its last. */
  after: number;
  pos: number;
}

/** The answer to a durable command, and the positions that its threads reached. */
export interface Committed<R extends Record<string, unknown> = Record<string, unknown>> {
  result: R;
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

export interface ThreadsQuery extends ThreadFilter {
  workspace_id: string;
  /** Only threads this agent takes part in; undefined for those who may see all. */
  participant: string | undefined;
  /** Whose cursor counts what is unread. */
  reader: string;
  status: ThreadStatus | undefined;
  /** Only the side channels of this thread. */
  side_of?: string;
  unread: boolean;
  limit: number;
  max_bytes: number;
  /** Where the page before ended. */
  before: ThreadPlace | undefined;
}

/** What is counted, for whom; the group is what is told of each. */
export interface CountQuery extends Pick<
  ThreadsQuery,
  'workspace_id' | 'participant' | 'reader' | 'text' | 'with_any' | 'limit'
> {
  /** `next` of the page before. */
  past: string | undefined;
}

/** What is counted of a part of the threads. */
export interface CountPage {
  counts: GroupCounts;
  /** Where the next page begins, in words of the store; undefined at the end. */
  next: string | undefined;
}

/** A place in the list of threads: the newest activity first, of one moment the youngest thread. */
export interface ThreadPlace {
  updated_at: string;
  thread_id: string;
}

/** Where somebody stands in a thread. */
export interface Reading {
  last_read_seq: number;
  last_acked_message_id: string | null;
  /** How many of the entries after the cursor are its own. */
  own: number;
}

export interface ThreadRow extends Reading {
  state: ThreadState;
}

/** A run of threads, newest activity first. */
export interface ThreadsPage {
  rows: ThreadRow[];
  /** Where to read on; undefined at the end. A page may be short, or empty, and yet have more after it. */
  next?: ThreadPlace | undefined;
}

export interface WorkspaceQuery {
  workspace_id: string;
  /** Only what this agent may read; undefined for those who may see all. */
  participant: string | undefined;
  /** Position in the log of the workspace, which counts its entries from 1 on. */
  after: number;
  limit: number;
  max_bytes: number;
}

export interface AgentsQuery {
  workspace_id: string;
  /** Only names after this one. */
  past: string | undefined;
  limit: number;
}

/** A run of a workspace's entries over all its threads, in the order the hub accepted them. */
export interface WorkspacePage {
  rows: { pos: number; entry: Entry }[];
  /** Up to here nothing was left out; a page may be empty and yet have more after it. */
  next: number;
  has_more: boolean;
}

/** How far the log of one workspace has come. */
export interface WorkspaceHead {
  workspace_id: string;
  pos: number;
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
  transact<C extends Command>(command: C): Promise<Committed<ResultOf<C['type']>>>;
  page(query: PageQuery): Promise<Page>;
  /** The thread with its newest entries, oldest first; where the bytes do not suffice, the older ones are left out. */
  tail(query: Omit<PageQuery, 'after'>): Promise<Page>;
  cursors(threadId: string, workspaceId: string): Promise<Cursor[]>;
  /** Where one reader stands; at the very beginning in a thread that is not there. */
  reading(threadId: string, reader: string, workspaceId: string): Promise<Reading>;
  /** Ids of messages that reply to this one. */
  references(threadId: string, messageId: string, workspaceId: string): Promise<string[]>;
  threads(query: ThreadsQuery): Promise<ThreadsPage>;
  /** How many threads of each group there are among up to `limit` of those that a filter names. */
  countThreads(query: CountQuery): Promise<CountPage>;
  /** The names of those who are registered, have a session or an open ask, in order. */
  agents(query: AgentsQuery): Promise<string[]>;
  /** What is kept beside the log. */
  records<K extends RecordKind>(query: RecordsQuery<K>): Promise<RecordKinds[K][]>;
  /** The log of a workspace over all its threads. */
  workspace(query: WorkspaceQuery): Promise<WorkspacePage>;
  /** How far the log of a workspace has come: how many entries it has. */
  position(workspaceId: string): Promise<number>;
  /** The workspaces that have a log, by name, after one of them: for the hub's own housekeeping, no call may see it. */
  heads(query: { past: string; limit: number }): Promise<WorkspaceHead[]>;
  /** How many entries all workspaces have: for whoever runs the hub. */
  size(): Promise<number>;
  /**
   * Where a cursor stands that may be of the time when one count ran over all workspaces: never beyond the entry that it
   * stood for then. Where nothing was ever counted so, it is what it says.
   */
  placeOf(workspaceId: string, cursor: number): Promise<number>;
  search(query: SearchQuery): Promise<SearchResult>;
  /** The ids of the threads that a participant may read. */
  readable(query: { workspace_id: string; participant: string }): Promise<string[]>;
  /** How far the index of words is behind the log of a workspace, or of all of them. */
  searchLag(workspaceId: string | undefined): Promise<SearchLag>;
  /** Begins to forget the idempotency keys that were used before a moment; it is done by and by. */
  forgetKeys(before: number): void;
  health(): StoreHealth;
  close(): Promise<void>;
}
