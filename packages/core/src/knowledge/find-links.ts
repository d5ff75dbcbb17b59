import type { OutputOf } from '@parley/protocol';

import type { RecordPorts } from '../ports.ts';
import type { PageAsked } from '../record-pages.ts';
import { isGone, type DocumentRecord } from './document-records.ts';
import { isDocumentId, namesOf } from './links.ts';
import { someDocuments } from './view.ts';

type Links = OutputOf<'get_document_links'>;

/** How many documents of one name are looked at. */
const NAMESAKES = 20;

/** Where a document links to: a name leads to the one that has it, else to one that had it. */
export async function linksOf(
  deps: RecordPorts,
  workspace_id: string,
  document: DocumentRecord,
): Promise<Links['links']> {
  return Promise.all(
    document.links.map(async (name) => {
      const target = await resolve(deps, workspace_id, name);
      return { name, document_id: target?.document_id ?? null, title: target?.metadata.title ?? null };
    }),
  );
}

/**
 * A page of the documents that link to one, by its id or by a name that leads to it, in the order of their ids. What
 * holds a link and is gone is left out: a page may come out short.
 */
export async function backlinksOf(
  deps: RecordPorts,
  workspace_id: string,
  document: DocumentRecord,
  { limit, after = '' }: PageAsked,
): Promise<Pick<Links, 'backlinks' | 'next_after'>> {
  const { document_id, metadata, former } = document;
  const names = [document_id, ...namesOf(metadata), ...former];
  const sources = await Promise.all(
    names.map(async (name) => {
      const prefix = `${name}\n`;
      const past = `${prefix}${after}`;
      const query = { kind: 'link', workspace_id, prefix, past, limit: limit + 1 } as const;
      const [target, links] = await Promise.all([
        resolve(deps, workspace_id, name),
        deps.store.records(query),
      ]);
      return target?.document_id === document_id ? links.map(({ from }) => from) : [];
    }),
  );
  const ids = [...new Set(sources.flat())].toSorted();
  const page = ids.slice(0, limit);
  const now = deps.clock.now();
  const documents = await someDocuments(deps, workspace_id, page);
  return {
    backlinks: documents
      .filter((one) => !isGone(one, now))
      .map((one) => ({ document_id: one.document_id, title: one.metadata.title })),
    next_after: ids.length > limit ? (page.at(-1) ?? null) : null,
  };
}

async function resolve(
  deps: RecordPorts,
  workspace_id: string,
  name: string,
): Promise<DocumentRecord | undefined> {
  const now = deps.clock.now();
  const there = async (ids: readonly string[]): Promise<DocumentRecord | undefined> =>
    (await someDocuments(deps, workspace_id, ids)).find(
      (one) => one.purged_at === undefined && !isGone(one, now),
    );
  if (isDocumentId(name)) {
    const own = await there([name]);
    if (own !== undefined) return own;
  }
  const query = { kind: 'name', workspace_id, prefix: `${name}\n`, limit: NAMESAKES } as const;
  const holders = await deps.store.records(query);
  const ids = [...holders.filter((one) => one.current), ...holders.filter((one) => !one.current)];
  return there(ids.map((one) => one.document_id));
}
