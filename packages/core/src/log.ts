import type { Caller } from '@parley/protocol';
import { LIMITS } from '@parley/protocol';

import type { Command } from './commands.ts';
import type { Entry } from './entry.ts';
import type { Feed } from './feed.ts';
import type { Committed, Page, PageQuery, Store, WorkspacePage } from './store.ts';
import { admitReader, JOURNAL_PREFIX, treeId } from './threads/access.ts';
import { mayOverride } from './threads/status.ts';

/** The append-only log: write a command, read a page, follow a thread from any position. */
export interface Log {
  append(command: Command): Promise<Committed>;
  read(query: PageQuery): Promise<Page>;
  /** How far the log of the whole hub has come. */
  position(): Promise<number>;
  /** Runs of entries after a position, first from the store, then as they are committed: no gap, no repeat. */
  follow(caller: Caller, threadId: string, after: number, signal: AbortSignal): AsyncGenerator<Entry[]>;
  /** The same over all threads the caller may see, by position in the log of the hub. */
  followWorkspace(caller: Caller, after: number, signal: AbortSignal): AsyncGenerator<WorkspacePage>;
}

/** Puts the log over a store and a feed. */
export function createLog(store: Store, feed: Feed): Log {
  const readsByQuery = new Map<string, Promise<Page>>();

  /**
   * Followers of one thread wake together and ask for the same page: it is read once. A page that is already under
   * way is not shared: it may be of a moment before what the caller has seen acknowledged.
   */
  function read(query: PageQuery): Promise<Page> {
    const key = `${query.workspace_id} ${query.thread_id} ${query.after} ${query.limit} ${query.max_bytes}`;
    const asked = readsByQuery.get(key);
    if (asked !== undefined) return asked;
    const page = store.page(query);
    readsByQuery.set(key, page);
    queueMicrotask(() => readsByQuery.delete(key));
    return page;
  }

  return {
    read,
    position: () => store.position(),
    async append(command) {
      const committed = await store.transact(command);
      for (const { thread_id, last_seq, workspace_id, pos } of committed.reached ?? []) {
        feed.announce(thread_id, last_seq);
        feed.announce(workspaceTopic(workspace_id), pos);
        feed.announce(HUB_TOPIC, pos);
        if (thread_id.startsWith(JOURNAL_PREFIX) && thread_id === treeId(workspace_id))
          feed.announce(TREES_TOPIC, pos);
      }
      return committed;
    },
    async *follow(caller, threadId, after, signal) {
      const subscription = feed.subscribe(threadId);
      try {
        let position = after;
        while (!signal.aborted) {
          const query = { workspace_id: caller.workspace_id, thread_id: threadId, after: position };
          const page = await read({ ...query, limit: LIMITS.page_max, max_bytes: LIMITS.page_bytes });
          admitReader(page.located, caller);
          if (page.entries.length > 0) {
            position = page.entries.at(-1)?.seq ?? position;
            yield page.entries;
          }
          if (!page.has_more) await subscription.next(position, signal);
        }
      } finally {
        subscription.close();
      }
    },
    async *followWorkspace(caller, after, signal) {
      const { workspace_id, agent_id } = caller;
      const participant = mayOverride(caller) ? undefined : agent_id;
      const subscription = feed.subscribe(workspaceTopic(workspace_id));
      try {
        let position = after;
        while (!signal.aborted) {
          const query = { workspace_id, participant, after: position };
          const page = await store.workspace({
            ...query,
            limit: LIMITS.page_max,
            max_bytes: LIMITS.page_bytes,
          });
          position = page.next;
          if (page.rows.length > 0) yield page;
          if (!page.has_more) await subscription.next(position, signal);
        }
      } finally {
        subscription.close();
      }
    },
  };
}

/** The feed's name for the log of the whole hub. */
export const HUB_TOPIC = 'hub';

/** The feed's name for what happens to the documents of any workspace, by position in the log of the hub. */
export const TREES_TOPIC = 'trees';

/** The feed's name for the log of a whole workspace. */
function workspaceTopic(workspaceId: string): string {
  return `workspace ${workspaceId}`;
}
