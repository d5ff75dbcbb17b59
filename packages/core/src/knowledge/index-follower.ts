import { LIMITS } from '@parley/protocol';

import type { Clock } from '../clock.ts';
import type { Feed } from '../feed.ts';
import { TREES_TOPIC } from '../log.ts';
import type { Store, WorkspacePage } from '../store.ts';
import { isTreeEntry } from './apply.ts';
import { contentKey, isGone, type KeptDocument } from './kept.ts';
import type { DocumentIndex, IndexedDocument } from './library.ts';

/** Keeps the index level with the documents, in the background, from where it stopped the last time. */
export interface IndexFollower {
  start(): void;
  /** True once every change that was acknowledged before the call can be found; false when the time is up first. */
  caughtUp(withinMs: number): Promise<boolean>;
  close(): Promise<void>;
}

export interface IndexFollowerDeps {
  store: Store;
  feed: Feed;
  clock: Clock;
  index: DocumentIndex;
  onFault: (error: unknown) => void;
}

const RETRY_MS = 1_000;
/** Further behind than this it is quicker to hold all documents against the index than to read the log. */
const FAR = 5_000;
const AT_ONCE = 20;
const ALL = 100_000;

/** Follows the log of the whole hub; only what happens to documents wakes it. */
export function createIndexFollower({
  store,
  feed,
  clock,
  index,
  onFault,
}: IndexFollowerDeps): IndexFollower {
  const closing = new AbortController();
  const waiting = new Set<() => void>();
  const bell = feed.subscribe(TREES_TOPIC);
  let position = 0;
  let isLevel = false;
  let following: Promise<void> = Promise.resolve();

  const isAt = (wanted: number): boolean => isLevel && position >= wanted;
  const isOpen = (): boolean => !closing.signal.aborted;

  async function follow(): Promise<void> {
    // First how far the log has come: what is written while we look comes after it.
    const head = await store.position();
    const [any] = await store.records({ kind: 'document', workspace_id: undefined, limit: 1 });
    // Without a document there is nothing to find: the index need not even be opened.
    if (any === undefined) position = head;
    else await resume(head);
    while (isOpen()) {
      isLevel = true;
      for (const wake of waiting) wake();
      if (bell.head <= position) await bell.next(position, closing.signal);
      if (!isOpen()) return;
      const query = { workspace_id: undefined, participant: undefined, after: position };
      const limits = { limit: LIMITS.page_max, max_bytes: LIMITS.page_bytes };
      await take(await store.workspace({ ...query, ...limits }));
    }
  }

  /** Begins where the index stopped, or holds everything against the documents. */
  async function resume(head: number): Promise<void> {
    const place = await index.place();
    if (place !== undefined && place <= head && head - place < FAR) {
      position = place;
      while (isOpen() && position < head) {
        const query = { workspace_id: undefined, participant: undefined, after: position };
        await take(await store.workspace({ ...query, limit: LIMITS.page_max, max_bytes: LIMITS.page_bytes }));
      }
      return;
    }
    const tops = await store.records({
      kind: 'branch',
      workspace_id: undefined,
      prefix: 'root ',
      limit: ALL,
    });
    const owners = await workspacesOf(tops.map(({ document_id }) => document_id));
    for (const workspace_id of new Set([...owners, ...(await index.workspaces())])) await level(workspace_id);
    await index.apply([], [], head);
    position = head;
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
  async function take({ rows, next }: WorkspacePage): Promise<void> {
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
    for (const [workspace_id, ids] of written) await put(workspace_id, [...ids]);
    for (const workspace_id of shaken) await level(workspace_id);
    for (const workspace_id of purged) await index.forget(workspace_id);
    if (!isOpen()) return;
    if (written.size > 0 || shaken.size > 0) await index.apply([], [], next);
    position = next;
  }

  async function put(workspace_id: string, ids: readonly string[]): Promise<void> {
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
  async function level(workspace_id: string): Promise<void> {
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

  async function followForever(): Promise<void> {
    while (isOpen()) {
      await follow().catch(onFault);
      if (isOpen()) await pause(RETRY_MS);
    }
  }

  /** Waits for a time, for the end, or for the next time that the index is level. */
  function pause(ms: number): Promise<void> {
    return new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        waiting.delete(done);
        closing.signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      waiting.add(done);
      closing.signal.addEventListener('abort', done);
    });
  }

  return {
    start() {
      following = followForever();
    },
    async caughtUp(withinMs) {
      const wanted = bell.head;
      const until = clock.monotonic() + withinMs;
      while (isOpen() && !isAt(wanted)) {
        const left = until - clock.monotonic();
        if (left <= 0) return false;
        await pause(left);
      }
      return isOpen();
    },
    async close() {
      closing.abort();
      await following;
      bell.close();
    },
  };
}

function versionOf({ revision, sha256 }: KeptDocument): string {
  return `${revision} ${sha256.slice(0, 16)}`;
}
