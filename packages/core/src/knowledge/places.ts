import { invalid } from '../draft.ts';
import type { RecordReader } from '../records.ts';
import { type Branch, branchKey, isGone } from './kept.ts';
import { orderBetween } from './place.ts';

/** Where a document is to stand among its siblings. */
export interface Position {
  ordering?: number;
  before?: string;
}

/** The key of the last place under a parent. */
export function lastPlace(records: RecordReader, parent: string, self?: string): string {
  const [a, b] = records.list({ kind: 'branch', prefix: `${parent} `, descending: true, limit: 2 });
  const last = a?.document_id === self ? b : a;
  return orderBetween(last?.order, undefined);
}

/** The key of the place that a position names. */
export function placeAt(
  records: RecordReader,
  parent: string,
  self: string,
  { ordering, before }: Position,
  now: number,
): string {
  if (before !== undefined)
    return placeBefore(records, parent, self, requireSibling(records, parent, self, before));
  if (ordering === undefined) return lastPlace(records, parent, self);
  const siblings = records
    .list({ kind: 'branch', prefix: `${parent} ` })
    .filter((sibling) => sibling.document_id !== self && !isGone(sibling, now));
  const next = siblings[ordering];
  return next === undefined ? lastPlace(records, parent, self) : placeBefore(records, parent, self, next);
}

type Sibling = Pick<Branch, 'document_id' | 'order'>;

function placeBefore(records: RecordReader, parent: string, self: string, next: Sibling): string {
  const past = branchKey(parent, next.order, next.document_id);
  const [a, b] = records.list({ kind: 'branch', prefix: `${parent} `, past, descending: true, limit: 2 });
  const left = a?.document_id === self ? b : a;
  return orderBetween(left?.order, next.order);
}

function requireSibling(records: RecordReader, parent: string, self: string, id: string): Sibling {
  const sibling = records.get('document', id.toLowerCase());
  if (sibling === undefined || sibling.document_id === self || sibling.parent_id !== parent)
    throw invalid('position.before', 'position.before: must be another document right under new_parent_id');
  return sibling;
}
