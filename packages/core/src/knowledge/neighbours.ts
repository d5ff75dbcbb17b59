import { invalid } from '../draft.ts';
import type { RecordReader } from '../records.ts';
import { type Branch, branchKey, type DocumentRecord } from './document-records.ts';
import { orderBetween } from './order-keys.ts';

/** Where a document is to stand among its siblings. */
export interface Position {
  ordering?: number;
  before?: string;
}

/** The last two places under a parent: one of them may be that of a document which moves. */
export const lastTwo = (parent: string) =>
  ({ kind: 'branch', prefix: `${parent} `, descending: true, limit: 2 }) as const;

/** The key of the last place under a parent. */
export function lastPlace(records: RecordReader, parent: string, self?: string): string {
  const [a, b] = records.list(lastTwo(parent));
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
  const next = ordering === undefined ? undefined : siblingAt(records, parent, self, ordering, now);
  return next === undefined ? lastPlace(records, parent, self) : placeBefore(records, parent, self, next);
}

/** So many on each side get new keys with one whose key has grown long: among thousands it stays a short write. */
const AROUND = 100;

/** The ids of a document and those next to it, in order, and the keys between which they stand. */
export function around(
  records: RecordReader,
  { parent_id, order, document_id }: Pick<DocumentRecord, 'parent_id' | 'order' | 'document_id'>,
): { left: string | undefined; among: string[]; right: string | undefined } {
  const past = branchKey(parent_id, order, document_id);
  const query = { kind: 'branch', prefix: `${parent_id} `, past, limit: AROUND + 1 } as const;
  const before = records.list({ ...query, descending: true });
  const after = records.list(query);
  const among = [...before.slice(0, AROUND).toReversed(), { document_id }, ...after.slice(0, AROUND)];
  return {
    left: before[AROUND]?.order,
    among: among.map((one) => one.document_id),
    right: after[AROUND]?.order,
  };
}

/** The nth of those that are there, not counting the one that moves; those before it are passed over unread. */
function siblingAt(
  records: RecordReader,
  parent: string,
  self: string,
  offset: number,
  now: number,
): Sibling | undefined {
  const standing = new Date(now).toISOString();
  const prefix = `${parent} `;
  const [at, next] = records.list({ kind: 'branch', prefix, standing, offset, limit: 2 });
  const own = records.get('document', self);
  if (at === undefined || own?.parent_id !== parent) return at;
  const comes = (one: Sibling): string => branchKey(parent, one.order, one.document_id);
  return comes(own) <= comes(at) ? next : at;
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
