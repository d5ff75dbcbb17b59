import { LIMITS } from '@parley/protocol';

import type { Clock } from '../clock.ts';
import { type Entry, factsOf } from '../entry.ts';
import type { Feed } from '../feed.ts';
import { createLogFollower, type LogFollower } from '../log-follower.ts';
import { TREES } from '../log.ts';
import { recordsAt } from '../record-pages.ts';
import type { Store, WorkspacePage } from '../store.ts';
import { treeId } from '../threads/access.ts';
import { isTreeEntry } from './apply.ts';
import { contentKey, isGone, type DocumentRecord } from './document-records.ts';
import type { DocumentIndex, IndexedDocument } from './library.ts';

export interface IndexFollowerDeps {
  store: Store;
  feed: Feed;
  clock: Clock;
  index: DocumentIndex;
  onFault: (error: unknown) => void;
}

/** Further behind than this it is quicker to hold all documents against the index than to read the log. */
const FAR = 5_000;
const AT_ONCE = 20;
/** Where more than these go or come back at once, all documents are held against the index instead. */
const BELOW = 1_000;

type IsOpen = () => boolean;

/** Keeps the index level with the documents. */
export interface IndexFollower extends LogFollower {
  /** Looks at documents that the index knows and a question did not find there: their day has come. */
  look(workspace_id: string, ids: readonly string[]): void;
}

/** Keeps the index level with the documents; only what happens to them wakes it. */
export function createIndexFollower(deps: IndexFollowerDeps): IndexFollower {
  const { store, clock, index, onFault } = deps;
  /** One at a time reads the documents and writes the index: nobody puts what another has seen go. */
  let writing: Promise<unknown> = Promise.resolve();
  /** Up to which position of its workspace the log of the documents stands, up to which entry of its own. */
  const headByWorkspace = new Map<string, { seq: number; pos: number }>();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = writing.then(work);
    writing = done.catch(() => {});
    return done;
  }

  /** Drops from the index what is of workspaces without a document, as after a restore. */
  async function begin(isOpen: IsOpen): Promise<void> {
    const [any] = await store.records({ kind: 'document', workspace_id: undefined, limit: 1 });
    // Without a document there is nothing to find: the index need not even be opened.
    if (any === undefined) return;
    for (const workspace_id of await index.workspaces())
      if (!(await hasDocuments(workspace_id))) await level(workspace_id, isOpen);
  }

  /** Begins where the index stopped, or holds everything against the documents. */
  async function resume(workspace_id: string, head: number, isOpen: IsOpen): Promise<number> {
    await headOf(workspace_id);
    if (!(await hasDocuments(workspace_id))) return head;
    const place = await index.place(workspace_id);
    if (place !== undefined && place <= head && head - place < FAR) return place;
    await level(workspace_id, isOpen);
    if (isOpen()) await index.apply([], [], { workspace_id, pos: head });
    return head;
  }

  /** A position by which all that happened to the documents stands in the log: what came after it concerns nobody here. */
  async function headOf(workspace_id: string): Promise<number> {
    const query = { workspace_id, thread_id: treeId(workspace_id), after: 0, limit: 0, max_bytes: 0 };
    const seq = (await store.page(query)).located.thread?.last_seq ?? -1;
    const known = headByWorkspace.get(workspace_id) ?? { seq: -1, pos: 0 };
    if (seq <= known.seq) return known.pos;
    const pos = await store.position(workspace_id);
    headByWorkspace.set(workspace_id, { seq, pos });
    return pos;
  }

  async function hasDocuments(workspace_id: string): Promise<boolean> {
    return (await store.records({ kind: 'document', workspace_id, limit: 1 })).length > 0;
  }

  /** One page of the log: what was written is put anew, what may have gone or come back is looked at. */
  async function take(workspace_id: string, { rows, next }: WorkspacePage, isOpen: IsOpen): Promise<void> {
    const tree = treeId(workspace_id);
    const last = rows.findLast(({ entry }) => entry.thread_id === tree);
    if (last !== undefined && last.entry.seq > (headByWorkspace.get(workspace_id)?.seq ?? -1))
      headByWorkspace.set(workspace_id, { seq: last.entry.seq, pos: last.pos });
    const entries = rows.map(({ entry }) => entry).filter(isTreeEntry);
    if (entries.length === 0) return;
    const { written, shaken, renumbered, purged } = changesIn(entries);
    for (const id of shaken) {
      const below = await subtreeOf(workspace_id, id);
      if (below === undefined) await level(workspace_id, isOpen);
      else for (const one of below) if (!renumbered.has(one)) renumbered.set(one, undefined);
    }
    const same = [...renumbered].filter(([id]) => !written.has(id));
    const others = await renumber(workspace_id, same);
    await put(workspace_id, [...written, ...others, ...purged], isOpen);
    if (purged.size > 0) await index.forget(workspace_id);
    if (isOpen()) await index.apply([], [], { workspace_id, pos: next });
  }

  /** Passages of texts that did not change stay as they are; who is gone, or not as it was in the index, is told. */
  async function renumber(
    workspace_id: string,
    same: readonly (readonly [id: string, revision: number | undefined])[],
  ): Promise<string[]> {
    if (same.length === 0) return [];
    const keys = same.map(([id]) => id);
    const found = await recordsAt(store, { kind: 'document', workspace_id }, keys);
    const byId = new Map(found.map((one) => [one.document_id, one]));
    const renumbered = same.flatMap(([document_id, revision]) => {
      const now = byId.get(document_id);
      if (now === undefined || !isThere(now)) return [];
      const was = versionOf({ ...now, revision: revision ?? now.revision });
      return [{ workspace_id, document_id, was, version: versionOf(now), revision: now.revision }];
    });
    const missing = await index.renumber(renumbered);
    const known = new Set(renumbered.map(({ document_id }) => document_id));
    return [...missing, ...keys.filter((id) => !known.has(id))];
  }

  /** A document and all below it; undefined where those are very many. */
  async function subtreeOf(workspace_id: string, top: string): Promise<string[] | undefined> {
    const found = [top];
    for (const id of found) {
      const query = { kind: 'branch', workspace_id, prefix: `${id} `, limit: BELOW } as const;
      for (const { document_id } of await store.records(query)) found.push(document_id);
      if (found.length >= BELOW) return undefined;
    }
    return found;
  }

  async function put(workspace_id: string, ids: readonly string[], isOpen: IsOpen): Promise<void> {
    for (let i = 0; i < ids.length && isOpen(); i += AT_ONCE) {
      const keys = ids.slice(i, i + AT_ONCE);
      const found = await store.records({ kind: 'document', workspace_id, keys, limit: keys.length });
      const there = found.filter(isThere);
      const missing = keys.filter((key) => !there.some(({ document_id }) => document_id === key));
      await index.apply(
        await withTexts(workspace_id, there),
        missing.map((document_id) => ({ workspace_id, document_id })),
      );
    }
  }

  /** Holds every document of a workspace against the index. */
  async function level(workspace_id: string, isOpen: IsOpen): Promise<void> {
    const known = new Map((await index.known(workspace_id)).map((one) => [one.document_id, one.version]));
    let past: string | undefined;
    for (let more = true; more && isOpen();) {
      const query = { kind: 'document', workspace_id, limit: LIMITS.page_max } as const;
      const page = await store.records(past === undefined ? query : { ...query, past });
      const there = page.filter(isThere);
      const changed = there.filter((one) => known.get(one.document_id) !== versionOf(one));
      for (const { document_id } of there) known.delete(document_id);
      await put(
        workspace_id,
        changed.map(({ document_id }) => document_id),
        isOpen,
      );
      past = page.at(-1)?.document_id;
      more = page.length === LIMITS.page_max;
    }
    if (isOpen() && known.size > 0)
      await index.apply(
        [],
        [...known.keys()].map((document_id) => ({ workspace_id, document_id })),
      );
  }

  async function withTexts(
    workspace_id: string,
    documents: readonly DocumentRecord[],
  ): Promise<IndexedDocument[]> {
    const keys = documents.map(({ document_id, sha256 }) => contentKey(document_id, sha256));
    if (keys.length === 0) return [];
    const texts = await store.records({ kind: 'content', workspace_id, keys, limit: keys.length });
    const bodies = new Map(
      texts.map(({ document_id, sha256, body }) => [contentKey(document_id, sha256), body]),
    );
    return documents.flatMap((one) => {
      const { document_id, revision, mime_type, metadata, sha256 } = one;
      const body = bodies.get(contentKey(document_id, sha256));
      if (body === undefined) return [];
      const { title, tags = [] } = metadata;
      return [{ workspace_id, document_id, version: versionOf(one), revision, title, tags, mime_type, body }];
    });
  }

  const isThere = (one: DocumentRecord): boolean => one.purged_at === undefined && !isGone(one, clock.now());

  const follower = createLogFollower(deps, {
    topics: TREES,
    positions: {
      begin: (signal) => inTurn(() => begin(() => !signal.aborted)),
      of: (workspaceId, head, signal) => inTurn(() => resume(workspaceId, head, () => !signal.aborted)),
    },
    take: (workspaceId, page, signal) =>
      inTurn(() => take(workspaceId, page, () => !signal.aborted)).then(() => !signal.aborted),
    headOf,
  });
  return {
    ...follower,
    look: (workspace_id, ids) => void inTurn(() => put(workspace_id, ids, () => true)).catch(onFault),
  };
}

/** What entries of one tree may have changed of what can be found. */
function changesIn(entries: readonly Entry[]) {
  const written = new Set<string>();
  /** Those with which others may have gone or come back. */
  const shaken = new Set<string>();
  /** Those whose text is the same, with the revision that they had before, if it was another. */
  const renumbered = new Map<string, number | undefined>();
  const purged = new Set<string>();
  for (const entry of entries) {
    const { type } = entry;
    const { document, purged: gone = [] } = factsOf<{ document?: DocumentRecord; purged?: string[] }>(entry);
    for (const id of gone) purged.add(id);
    if (document === undefined) continue;
    const { document_id, revision } = document;
    if (type === 'document.deleted' || type === 'document.restored') shaken.add(document_id);
    else if (type !== 'document.moved') written.add(document_id);
    if (!renumbered.has(document_id)) renumbered.set(document_id, revision - 1);
  }
  return { written, shaken, renumbered, purged };
}

function versionOf({ revision, sha256 }: Pick<DocumentRecord, 'revision' | 'sha256'>): string {
  return `${revision} ${sha256.slice(0, 16)}`;
}
