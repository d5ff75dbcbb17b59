import { ParleyError } from '@parley/protocol';

import type { WorkspaceHead } from '../store.ts';

/** A passage as the index found it. */
export interface FoundPassage {
  document_id: string;
  revision: number;
  title: string;
  /** Its number within the document. */
  passage: number;
  start: number;
  end: number;
  headings: string[];
  text: string;
  score: number;
  /** How near it comes to what was asked, 0 to 1, comparable among all answers. */
  fit: number;
}

/** What the index found, and what it had no time for. */
interface Finding {
  passages: FoundPassage[];
  keyword_hits: number;
  vector_hits: number;
  lacks: ('meaning' | 'vectors')[];
}

interface FindQuery {
  workspace_id: string;
  text: string;
  tags: readonly string[];
  /** Only what belongs to one of these; left out: everything. */
  groups?: readonly string[];
  limit: number;
}

/** True for the refusal of one search too many: there is nothing wrong with what is searched. */
export function isBusy(error: unknown): boolean {
  return error instanceof ParleyError && error.details?.['reason'] === 'busy';
}

/** What texts are found by. */
export interface Finder {
  find(query: FindQuery, withinMs: number): Promise<Finding>;
}

/** What documents are found by. */
export interface Library extends Finder {
  readonly backend: 'embedded' | 'qdrant';
  /** The sentences of some passages that answer a question, the best first. */
  sentences(
    question: string,
    passages: readonly string[],
    count: number,
  ): Promise<{ of: number; start: number; end: number }[]>;
}

/** A document as it is to be found. */
export interface IndexedDocument {
  workspace_id: string;
  document_id: string;
  version: string;
  revision: number;
  title: string;
  tags: readonly string[];
  mime_type: string;
  body: string;
  /** What it belongs to, where only some may be looked through: the thread of a message. */
  group?: string;
}

/** A document of which nothing that is found by has changed. */
export interface RenumberedDocument {
  workspace_id: string;
  document_id: string;
  was: string;
  version: string;
  revision: number;
}

/** An index as the one sees it who keeps it; all of it can be made anew from the log. */
interface TextIndex {
  /** The place in the log of a workspace up to which it holds everything. */
  place(workspace_id: string): Promise<number | undefined>;
  /** Puts and drops, and then moves the place: what fails half-way is done again. */
  apply(
    puts: readonly IndexedDocument[],
    drops: readonly { workspace_id: string; document_id: string }[],
    place?: WorkspaceHead,
  ): Promise<void>;
}

/** The index of documents. */
export interface DocumentIndex extends TextIndex {
  workspaces(): Promise<string[]>;
  known(workspace_id: string): Promise<{ document_id: string; version: string }[]>;
  /** Gives versions another number; their texts are the same. The ids of those that it does not have as they were. */
  renumber(documents: readonly RenumberedDocument[]): Promise<string[]>;
  /** Leaves no trace of what was dropped. */
  forget(workspace_id: string): Promise<void>;
}

/** The index of messages: their revision is their place in the log of their workspace. */
export interface MessageIndex extends TextIndex {
  /** Drops all of a workspace whose revision is lower. */
  dropBefore(workspace_id: string, revision: number): Promise<void>;
}

/** Writes an answer from passages alone; undefined when it cannot. */
export type Answerer = (
  question: string,
  passages: readonly { n: number; title: string; text: string }[],
  hints: { preferred_format?: string | undefined; language?: string | undefined },
  signal: AbortSignal,
) => Promise<string | undefined>;
