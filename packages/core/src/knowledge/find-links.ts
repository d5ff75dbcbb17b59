import type { OutputOf } from '@parley/protocol';

import type { RecordPorts } from '../ports.ts';
import { isGone, type DocumentRecord } from './document-records.ts';
import { isDocumentId, namesOf } from './links.ts';
import { someDocuments } from './view.ts';

type Links = OutputOf<'get_document_links'>;

/** How many documents of one name are looked at, and how many links to one name. */
const NAMESAKES = 20;
const LINKS_TO_NAME = 1_000;

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

/** The documents that link to one, by its id or by a name that leads to it, in the order of their ids. */
export async function backlinksOf(
  deps: RecordPorts,
  workspace_id: string,
  document: DocumentRecord,
): Promise<Links['backlinks']> {
  const { document_id, metadata, former } = document;
  const names = [document_id, ...namesOf(metadata), ...former];
  const sources = await Promise.all(
    names.map(async (name) => {
      const query = { kind: 'link', workspace_id, prefix: `${name}\n`, limit: LINKS_TO_NAME } as const;
      const [target, links] = await Promise.all([
        resolve(deps, workspace_id, name),
        deps.store.records(query),
      ]);
      return target?.document_id === document_id ? links.map(({ from }) => from) : [];
    }),
  );
  const ids = [...new Set(sources.flat())].toSorted();
  const now = deps.clock.now();
  return (await someDocuments(deps, workspace_id, ids))
    .filter((one) => !isGone(one, now))
    .map((one) => ({ document_id: one.document_id, title: one.metadata.title }));
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
