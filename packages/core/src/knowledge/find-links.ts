import type { OutputOf } from '@parley/protocol';

import type { Deps } from '../operation.ts';
import { isGone, type KeptDocument } from './kept.ts';
import { isDocumentId, namesOf } from './links.ts';
import { someDocuments } from './view.ts';

type Links = OutputOf<'get_document_links'>;

/** How many documents of one name are looked at, and how many links to one name. */
const NAMESAKES = 20;
const LINKS_TO_NAME = 1_000;

/** Where a document links to: a name leads to the one that has it, else to one that had it. */
export async function linksOf(
  deps: Deps,
  workspace_id: string,
  document: KeptDocument,
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
  deps: Deps,
  workspace_id: string,
  document: KeptDocument,
): Promise<Links['backlinks']> {
  const { document_id, metadata, former } = document;
  const names = [document_id, ...namesOf(metadata), ...former];
  const sources = await Promise.all(
    names.map(async (name) => {
      if ((await resolve(deps, workspace_id, name))?.document_id !== document_id) return [];
      const query = { kind: 'link', workspace_id, prefix: `${name}\n`, limit: LINKS_TO_NAME } as const;
      return (await deps.store.records(query)).map(({ from }) => from);
    }),
  );
  const ids = [...new Set(sources.flat())].toSorted();
  const now = deps.clock.now();
  return (await someDocuments(deps, workspace_id, ids))
    .filter((one) => !isGone(one, now))
    .map((one) => ({ document_id: one.document_id, title: one.metadata.title }));
}

async function resolve(deps: Deps, workspace_id: string, name: string): Promise<KeptDocument | undefined> {
  const now = deps.clock.now();
  const there = async (ids: readonly string[]): Promise<KeptDocument | undefined> =>
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
