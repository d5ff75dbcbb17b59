import type { RecordReader } from '../records.ts';
import type { DocumentRecord } from './document-records.ts';

/** Why a document is, or will be, gone: its own deletion, or that of a document above it. */
export interface Deletion {
  delete_at: string;
  deleted_by: string;
  delete_root: string;
  delete_reason?: string;
}

/** The mark of a document; undefined for one that stays. */
export function deletionOf(document: DocumentRecord | undefined): Deletion | undefined {
  if (document?.delete_at === undefined) return undefined;
  const { delete_at, deleted_by = '', delete_root = '', delete_reason } = document;
  return { delete_at, deleted_by, delete_root, ...(delete_reason === undefined ? {} : { delete_reason }) };
}

/** A document with another mark, or none. */
export function withDeletion(document: DocumentRecord, mark: Deletion | undefined): DocumentRecord {
  const { delete_at: _at, deleted_by: _by, delete_root: _root, delete_reason: _why, ...rest } = document;
  return mark === undefined ? rest : { ...rest, ...mark };
}

/** A document goes with the one above it, unless it goes of itself before that. */
export function effective(own: Deletion | undefined, above: Deletion | undefined): Deletion | undefined {
  if (own === undefined || above === undefined) return own ?? above;
  return Date.parse(own.delete_at) <= Date.parse(above.delete_at) ? own : above;
}

/** True when two marks say the same, or neither is there. */
export function sameMark(a: Deletion | undefined, b: Deletion | undefined): boolean {
  return a?.delete_at === b?.delete_at && a?.delete_root === b?.delete_root;
}

/** The mark that a document bears of itself. */
export function ownMark(document: DocumentRecord): Deletion | undefined {
  return document.delete_root === document.document_id ? deletionOf(document) : undefined;
}

/** The places right under a document, of a rule that goes on below them. */
export const placesUnder = (id: string) => ({ kind: 'branch', prefix: `${id} `, deep: true }) as const;

/** Every document below one whose mark changes with it, as it was and as it is then. */
export function* spread(
  records: RecordReader,
  top: DocumentRecord,
): Generator<{ before: DocumentRecord; after: DocumentRecord }> {
  const open = [top];
  for (let above = open.pop(); above !== undefined; above = open.pop()) {
    for (const { document_id } of records.list(placesUnder(above.document_id))) {
      const before = records.get('document', document_id);
      if (before === undefined) continue;
      const mark = effective(ownMark(before), deletionOf(above));
      if (sameMark(mark, deletionOf(before))) continue;
      const after = withDeletion(before, mark);
      yield { before, after };
      open.push(after);
    }
  }
}
