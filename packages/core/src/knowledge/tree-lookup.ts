import { ParleyError, TREE_ROOT } from '@parley/protocol';

import type { RecordReader } from '../records.ts';
import { isGone, type DocumentRecord } from './document-records.ts';

/** The document, if it is there. */
export function requireDocument(records: RecordReader, id: string, now: number): DocumentRecord {
  const document = records.get('document', id);
  if (document === undefined || document.purged_at !== undefined || isGone(document, now))
    throw new ParleyError('NOT_FOUND', `there is no document ${id.slice(0, 64)}`, { document_id: id });
  return document;
}

/** The document under which others can hang; undefined for the root. */
export function requireParent(records: RecordReader, id: string, now: number): DocumentRecord | undefined {
  if (id === TREE_ROOT) return undefined;
  const parent = records.get('document', id);
  if (parent === undefined || parent.purged_at !== undefined || isGone(parent, now))
    throw new ParleyError('NOT_FOUND', `there is no parent ${id.slice(0, 64)}`, { parent_id: id });
  return parent;
}

/** The ids from a document up to the root, itself first. */
export function* lineOf(records: RecordReader, id: string): Generator<string> {
  const seen = new Set<string>();
  for (let at = id; at !== TREE_ROOT; at = records.get('document', at)?.parent_id ?? TREE_ROOT) {
    if (seen.has(at))
      throw new ParleyError('INTERNAL', `the tree has a ring at ${at}; run \`parley doctor\``);
    seen.add(at);
    yield at;
  }
}

/** Refuses a change of a document that others have changed meanwhile. */
export function checkRevision({ revision }: DocumentRecord, known: number | undefined): void {
  if (known === undefined || known === revision) return;
  throw new ParleyError(
    'CONFLICT',
    `the document is at revision ${revision}, not ${known}: read it again, then repeat your change`,
    { expected_revision: known, actual: revision },
  );
}
