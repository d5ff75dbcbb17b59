import type { RecordReader } from '../records.ts';
import type { KeptDocument } from './kept.ts';

/** Why a document is, or will be, gone: its own deletion, or that of a document above it. */
export interface Mark {
  delete_at: string;
  deleted_by: string;
  delete_root: string;
  delete_reason?: string;
}

/** The mark of a document; undefined for one that stays. */
export function markOf(document: KeptDocument | undefined): Mark | undefined {
  if (document?.delete_at === undefined) return undefined;
  const { delete_at, deleted_by = '', delete_root = '', delete_reason } = document;
  return { delete_at, deleted_by, delete_root, ...(delete_reason === undefined ? {} : { delete_reason }) };
}

/** A document with another mark, or none. */
export function marked(document: KeptDocument, mark: Mark | undefined): KeptDocument {
  const { delete_at: _at, deleted_by: _by, delete_root: _root, delete_reason: _why, ...rest } = document;
  return mark === undefined ? rest : { ...rest, ...mark };
}

/** A document goes with the one above it, unless it goes of itself before that. */
export function effective(own: Mark | undefined, above: Mark | undefined): Mark | undefined {
  if (own === undefined || above === undefined) return own ?? above;
  return Date.parse(own.delete_at) <= Date.parse(above.delete_at) ? own : above;
}

/** True when two marks say the same, or neither is there. */
export function sameMark(a: Mark | undefined, b: Mark | undefined): boolean {
  return a?.delete_at === b?.delete_at && a?.delete_root === b?.delete_root;
}

/** The mark that a document bears of itself. */
export function ownMark(document: KeptDocument): Mark | undefined {
  return document.delete_root === document.document_id ? markOf(document) : undefined;
}

/** Every document below one whose mark changes with it, as it was and as it is then. */
export function* spread(
  records: RecordReader,
  top: KeptDocument,
): Generator<{ before: KeptDocument; after: KeptDocument }> {
  const open = [top];
  for (let above = open.pop(); above !== undefined; above = open.pop()) {
    for (const { document_id } of records.list({ kind: 'branch', prefix: `${above.document_id} ` })) {
      const before = records.get('document', document_id);
      if (before === undefined) continue;
      const mark = effective(ownMark(before), markOf(above));
      if (sameMark(mark, markOf(before))) continue;
      const after = marked(before, mark);
      yield { before, after };
      open.push(after);
    }
  }
}
