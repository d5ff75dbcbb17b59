import { LIMITS } from '@parley/protocol';

import type { Clock } from '../clock.ts';
import type { Feed } from '../feed.ts';
import { createLogFollower, type LogFollower } from '../log-follower.ts';
import { TREES_TOPIC } from '../log.ts';
import type { Store, WorkspacePage } from '../store.ts';
import { isTreeEntry } from './apply.ts';
import { contentKey, isGone, type KeptDocument } from './kept.ts';
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
const ALL = 100_000;

type IsOpen = () => boolean;

/** Keeps the index level with the documents; only what happens to them wakes it. */
export function createIndexFollower(deps: IndexFollowerDeps): LogFollower {
  const { store, clock, index } = deps;

  /** Begins where the index stopped, or holds everything against the documents. */
  async function resume(head: number, isOpen: IsOpen): Promise<number> {
    const [any] = await store.records({ kind: 'document', workspace_id: undefined, limit: 1 });
    // Without a document there is nothing to find: the index need not even be opened.
    if (any === undefined) return head;
    const place = await index.place();
    if (place !== undefined && place <= head && head - place < FAR) return place;
    const tops = await store.records({
      kind: 'branch',
      workspace_id: undefined,
      prefix: 'root ',
      limit: ALL,
    });
    const owners = await workspacesOf(tops.map(({ document_id }) => document_id));
    for (const workspace_id of new Set([...owners, ...(await index.workspaces())]))
      await level(workspace_id, isOpen);
    if (isOpen()) await index.apply([], [], head);
    return head;
  }

  async function workspacesOf(ids: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    for (let i = 0; i < ids.length; i += 500) {
      const keys = ids.slice(i, i + 500);
      const documents = await store.records({ kind: 'document', workspace_id: undefined, keys, limit: ALL });
      found.push(...documents.map(({ workspace_id }) => workspace_id));
    }
    return found;
  }

  /** One page of the log: what was written is put anew, what may have gone or come back is looked for. */
  async function take({ rows, next }: WorkspacePage, isOpen: IsOpen): Promise<void> {
    const written = new Map<string, Set<string>>();
    const shaken = new Set<string>();
    const purged = new Set<string>();
    for (const { entry, workspace_id } of rows) {
      if (!isTreeEntry(entry)) continue;
      const { document } = entry.metadata as { document?: KeptDocument };
      if (entry.type === 'tree.purged') purged.add(workspace_id);
      if (['document.created', 'document.updated', 'document.reverted'].includes(entry.type) && document)
        written.set(workspace_id, (written.get(workspace_id) ?? new Set()).add(document.document_id));
      else if (entry.type !== 'tree.ordered') shaken.add(workspace_id);
    }
    for (const [workspace_id, ids] of written) await put(workspace_id, [...ids], isOpen);
    for (const workspace_id of shaken) await level(workspace_id, isOpen);
    for (const workspace_id of purged) await index.forget(workspace_id);
    if (isOpen() && (written.size > 0 || shaken.size > 0)) await index.apply([], [], next);
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
    documents: readonly KeptDocument[],
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

  const isThere = (one: KeptDocument): boolean => one.purged_at === undefined && !isGone(one, clock.now());

  return createLogFollower(deps, { topic: TREES_TOPIC, resume, take });
}

function versionOf({ revision, sha256 }: KeptDocument): string {
  return `${revision} ${sha256.slice(0, 16)}`;
}
