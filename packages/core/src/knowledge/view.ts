import { type DocumentSummary, ParleyError } from '@parley/protocol';

import type { Ports, RecordPorts } from '../ports.ts';
import { recordsAt } from '../record-pages.ts';
import { isForgotten, isGone, type DocumentRecord, PURGE_AFTER_MS } from './document-records.ts';

/** A document as callers see it. */
export function toSummary(kept: DocumentRecord, now: number): DocumentSummary {
  const { workspace_id: _workspace, links: _links, former: _former, purged_at: _purged, ...summary } = kept;
  const { delete_at } = summary;
  if (delete_at === undefined) return summary;
  const purge_at = new Date(Date.parse(delete_at) + PURGE_AFTER_MS).toISOString();
  return isGone(kept, now) ? { ...summary, deleted: true, purge_at } : { ...summary, purge_at };
}

/** Where people read a document. */
export function webUri({ address }: Pick<Ports, 'address'>, documentId: string): string {
  return `${address()}/d/${documentId}`;
}

/** The document, if it is there; on demand also if it is deleted and could be restored. */
export async function findDocument(
  deps: RecordPorts,
  workspace_id: string,
  id: string,
  which: 'there' | 'deleted too' = 'there',
): Promise<DocumentRecord> {
  const now = deps.clock.now();
  const [kept] = await deps.store.records({ kind: 'document', workspace_id, keys: [id], limit: 1 });
  const gone = kept === undefined || (which === 'there' ? isGone(kept, now) : isForgotten(kept, now));
  if (gone || kept.purged_at !== undefined)
    throw new ParleyError('NOT_FOUND', `there is no document ${id.slice(0, 64)}`, { document_id: id });
  return kept;
}

/** Documents by their ids, in that order; those that are not there are left out. */
export async function someDocuments(
  deps: RecordPorts,
  workspace_id: string,
  ids: readonly string[],
): Promise<DocumentRecord[]> {
  const found = await recordsAt(deps.store, { kind: 'document', workspace_id }, ids);
  const byId = new Map(found.map((document) => [document.document_id, document]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** The texts under these keys. */
export async function bodiesOf(
  deps: RecordPorts,
  workspace_id: string,
  keys: readonly string[],
): Promise<Map<string, string>> {
  const found = await recordsAt(deps.store, { kind: 'content', workspace_id }, keys);
  return new Map(found.map(({ document_id, sha256, body }) => [`${document_id} ${sha256}`, body]));
}
