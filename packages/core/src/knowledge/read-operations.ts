import { LIMITS, ParleyError, TREE_ROOT } from '@parley/protocol';

import { operation } from '../operation.ts';
import type { AboutPorts, RecordPorts } from '../ports.ts';
import { treeId } from '../threads/access.ts';
import { backlinksOf, linksOf } from './find-links.ts';
import {
  type Branch,
  branchKey,
  contentKey,
  isForgotten,
  isGone,
  type DocumentRecord,
  revisionKey,
} from './document-records.ts';
import { childrenNamed } from './named-children.ts';
import { pageOf, readPage } from '../record-pages.ts';
import { bodiesOf, findDocument, someDocuments, toSummary, webUri } from './view.ts';
import { textMissing } from './check-document.ts';

const getDocument = operation('get_document', {
  authority: 'look',
  async run(deps: RecordPorts & AboutPorts, { workspace_id }, { document_id, revision }) {
    const kept = await findDocument(deps, workspace_id, document_id);
    const document = revision === undefined ? kept : await asItWas(deps, workspace_id, kept, revision);
    const key = contentKey(document_id, document.sha256);
    const [bodies, path] = await Promise.all([
      bodiesOf(deps, workspace_id, [key]),
      pathTo(deps, workspace_id, kept),
    ]);
    const body = bodies.get(key);
    if (body === undefined) throw textMissing(document_id);
    const { mime_type } = document;
    return {
      document: {
        ...toSummary(document, deps.clock.now()),
        content: { mime_type, body },
        ...(kept.is_human_readable ? { web_uri: webUri(deps, document_id) } : {}),
      },
      path,
      thread_id: treeId(workspace_id),
    };
  },
});

/** How many documents above one are told: in a deeper tree those right above it. */
const MAX_ABOVE = 50;

/** The documents above one as it hangs now. */
async function pathTo(
  deps: RecordPorts,
  workspace_id: string,
  { parent_id }: DocumentRecord,
): Promise<{ document_id: string; title: string }[]> {
  if (parent_id === TREE_ROOT) return [];
  const query = { kind: 'document', workspace_id, line: parent_id, limit: MAX_ABOVE } as const;
  const above = await deps.store.records(query);
  return above.map(({ document_id, metadata }) => ({ document_id, title: metadata.title })).toReversed();
}

/** A document with what a revision said of it. */
async function asItWas(
  deps: RecordPorts,
  workspace_id: string,
  kept: DocumentRecord,
  number: number,
): Promise<DocumentRecord> {
  const keys = [revisionKey(kept.document_id, number)];
  const [old] = await deps.store.records({ kind: 'revision', workspace_id, keys, limit: 1 });
  if (old === undefined)
    throw new ParleyError('NOT_FOUND', `the document has no revision ${number}; it is at ${kept.revision}`);
  const { revision, parent_id, metadata, is_human_readable, mime_type, bytes, sha256, at, by } = old;
  const then = { revision, parent_id, metadata, is_human_readable, mime_type, bytes, sha256 };
  return { ...kept, ...then, updated_at: at, updated_by: by };
}

const listDocuments = operation('list_documents', {
  authority: 'look',
  async run(deps: RecordPorts, { workspace_id }, { parent_id, deleted, title, limit, after }) {
    if (parent_id !== TREE_ROOT) await findDocument(deps, workspace_id, parent_id.toLowerCase());
    const now = deps.clock.now();
    const parent = parent_id === TREE_ROOT ? TREE_ROOT : parent_id.toLowerCase();
    const prefix = `${parent} `;
    const isWanted = (one: Branch): boolean => isGone(one, now) === deleted && !isForgotten(one, now);
    const keyOf = (one: Branch): string => branchKey(parent, one.order, one.document_id);
    const begin = { limit, after: after === undefined ? undefined : `${prefix}${after}` };
    const { values, next_after } =
      title === undefined
        ? await readPage(deps.store, { kind: 'branch', workspace_id, prefix }, begin, keyOf, isWanted)
        : pageOf((await childrenNamed(deps, workspace_id, parent, title)).filter(isWanted), begin, keyOf);
    const documents = await someDocuments(
      deps,
      workspace_id,
      values.map((one) => one.document_id),
    );
    return {
      documents: await Promise.all(
        documents.map(async (one) => ({
          ...toSummary(one, now),
          has_children: await hasChildren(deps, workspace_id, one.document_id, deleted),
        })),
      ),
      next_after: next_after === null ? null : next_after.slice(prefix.length),
    };
  },
});

/** How many children are looked at to find one of the wanted kind. */
const LOOKED_AT = 50;

/** Whether anything hangs below a document; where very many do, they are not all looked at, and the answer is yes. */
async function hasChildren(
  deps: RecordPorts,
  workspace_id: string,
  id: string,
  deleted: boolean,
): Promise<boolean> {
  const now = deps.clock.now();
  const query = { kind: 'branch', workspace_id, prefix: `${id} `, limit: LOOKED_AT } as const;
  const branches = await deps.store.records(query);
  return (
    branches.length === LOOKED_AT ||
    branches.some((one) => isGone(one, now) === deleted && !isForgotten(one, now))
  );
}

const exportDocuments = operation('export_documents', {
  authority: 'look',
  async run(deps: RecordPorts, { workspace_id }, { limit, after }) {
    const now = deps.clock.now();
    const query = { kind: 'document', workspace_id, limit: limit + 1 } as const;
    const found = await deps.store.records(after === undefined ? query : { ...query, past: after });
    const page: DocumentRecord[] = [];
    let bytes = 0;
    for (const document of found.slice(0, limit)) {
      bytes += document.bytes;
      if (page.length > 0 && bytes > LIMITS.page_bytes) break;
      page.push(document);
    }
    const there = page.filter((one) => one.purged_at === undefined && !isGone(one, now));
    const keys = there.map(({ document_id, sha256 }) => contentKey(document_id, sha256));
    const bodies = await bodiesOf(deps, workspace_id, keys);
    return {
      documents: there.map((document, i) => {
        const body = bodies.get(keys[i] ?? '');
        if (body === undefined) throw textMissing(document.document_id);
        return { ...toSummary(document, now), content: { mime_type: document.mime_type, body } };
      }),
      next_after: page.length < found.length ? (page.at(-1)?.document_id ?? null) : null,
    };
  },
});

const getDocumentHistory = operation('get_document_history', {
  authority: 'look',
  async run(deps: RecordPorts, { workspace_id }, { document_id, limit, after }) {
    const kept = await findDocument(deps, workspace_id, document_id, 'deleted too');
    const prefix = `${document_id} `;
    const query = { kind: 'revision', workspace_id, prefix, descending: true, limit: limit + 1 } as const;
    const found = await deps.store.records(
      after === undefined ? query : { ...query, past: revisionKey(document_id, Number(after) || 0) },
    );
    const revisions = found.slice(0, limit);
    return {
      revisions,
      ...(isGone(kept, deps.clock.now()) ? { deleted: true } : {}),
      next_after: found.length > limit ? String(revisions.at(-1)?.revision ?? 0) : null,
    };
  },
});

const getDocumentLinks = operation('get_document_links', {
  authority: 'look',
  async run(deps: RecordPorts, { workspace_id }, { document_id, ...page }) {
    const document = await findDocument(deps, workspace_id, document_id);
    const [links, found] = await Promise.all([
      linksOf(deps, workspace_id, document),
      backlinksOf(deps, workspace_id, document, page),
    ]);
    return { links, ...found };
  },
});

/** By name: the table of operations takes them from here. */
export const documentReads = {
  get_document: getDocument,
  list_documents: listDocuments,
  export_documents: exportDocuments,
  get_document_history: getDocumentHistory,
  get_document_links: getDocumentLinks,
};
