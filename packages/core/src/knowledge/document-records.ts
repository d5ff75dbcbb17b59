import type { DocumentRevision, DocumentSummary } from '@parley/protocol';

/** How long a deleted document can be restored: 90 days. */
export const PURGE_AFTER_MS = 90 * 86_400_000;

/** A document as it is kept: what callers see, the names it links to, and the names it has had. */
export interface DocumentRecord extends Omit<DocumentSummary, 'purge_at' | 'deleted'> {
  workspace_id: string;
  links: string[];
  former: string[];
  /** What was written is gone; the id stays taken. */
  purged_at?: string;
}

/** A document's place among its siblings. */
export interface Branch {
  document_id: string;
  order: string;
  delete_at?: string | undefined;
}

/** A text, kept once for all revisions that have it; the log holds its hash alone, so that it can be purged. */
export interface ContentRecord {
  document_id: string;
  sha256: string;
  body: string;
}

/** A name that a document has, or once had. */
export interface KnownName {
  name: string;
  document_id: string;
  current: boolean;
}

/** One document's link to a name. */
export interface LinkRecord {
  name: string;
  from: string;
}

export type RevisionRecord = DocumentRevision;

/** The key of a child under its parent: children sort by it. */
export function branchKey(parent: string, order: string, id: string): string {
  return `${parent} ${order} ${id}`;
}

/** The key of a revision: those of one document sort by number. */
export function revisionKey(id: string, revision: number): string {
  return `${id} ${String(revision).padStart(16, '0')}`;
}

/** The key of a text. */
export function contentKey(id: string, sha256: string): string {
  return `${id} ${sha256}`;
}

/** The key of something that is found by a name; no name holds a line break. */
export function namedKey(name: string, id: string): string {
  return `${name}\n${id}`;
}

type Deletable = Pick<DocumentSummary, 'delete_at'>;

/** True once a deletion has come into force. */
export function isGone({ delete_at }: Deletable, now: number): boolean {
  return delete_at !== undefined && Date.parse(delete_at) <= now;
}

/** True once nothing of a deleted document is to be shown any more, whether or not it was purged yet. */
export function isForgotten({ delete_at }: Deletable, now: number): boolean {
  return delete_at !== undefined && Date.parse(delete_at) + PURGE_AFTER_MS <= now;
}
