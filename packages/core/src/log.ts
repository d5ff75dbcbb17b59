import type { Caller } from '@parley/protocol';
import { LIMITS, ParleyError } from '@parley/protocol';

import type { Command, ResultOf } from './commands.ts';
import type { Entry } from './entry.ts';
import type { Feed } from './feed.ts';
import type { Committed, Page, PageQuery, Reached, Store, WorkspacePage } from './store.ts';
import { admitReader, JOURNAL_PREFIX, treeId } from './threads/access.ts';
import { mayOverride } from './threads/status.ts';

/** The append-only log: write a command, read a page, follow a thread from any position. */
export interface Log {
  append<C extends Command>(command: C): Promise<Committed<ResultOf<C['type']>>>;
  read(query: PageQuery): Promise<Page>;
  /** How far the log of a workspace has come. */
  position(workspaceId: string): Promise<number>;
  /** Where a cursor of a workspace stands that may be from before each had its own count. */
  placeOf(workspaceId: string, cursor: number): Promise<number>;
  /** Runs of entries after a position, first from the store, then as they are committed: no gap, no repeat. */
  follow(caller: Caller, threadId: string, after: number, signal: AbortSignal): AsyncGenerator<Entry[]>;
  /** The same over all threads the caller may see, or those it takes part in, by position in the log of its workspace. */
  followWorkspace(
    caller: Caller,
    after: number,
    signal: AbortSignal,
    mine?: boolean,
  ): AsyncGenerator<WorkspacePage>;
  /** True while somebody follows a thread, or all of them, as this agent. */
  hears(workspaceId: string, agentId: string, threadId: string): boolean;
}

/** Puts the log over a store and a feed; `noticed` hears of everything that was written, before its writer does. */
export function createLog(
  store: Store,
  feed: Feed,
  noticed: (command: Command, committed: Committed) => void = () => {},
): Log {
  const readsByQuery = new Map<string, Promise<Page>>();
  const listenersByName = new Map<string, number>();

  /** Counts one who follows until the returned function is called. */
  function listen(name: string): () => void {
    listenersByName.set(name, (listenersByName.get(name) ?? 0) + 1);
    return () => {
      const left = (listenersByName.get(name) ?? 1) - 1;
      if (left > 0) listenersByName.set(name, left);
      else listenersByName.delete(name);
    };
  }

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

  /** Tells how far the thread and the workspace of a command have come. */
  async function announceHeads(command: Command): Promise<void> {
    const { workspace_id } = command.caller;
    const pos = await store.position(workspace_id);
    feed.announce(`${WORKSPACES}${workspace_id}`, pos);
    if (!('thread_id' in command)) return;
    const { thread_id } = command;
    const { thread } = (await store.page({ workspace_id, thread_id, after: 0, limit: 0, max_bytes: 0 }))
      .located;
    if (thread !== undefined) announce(feed, { thread_id, last_seq: thread.last_seq, workspace_id, pos });
  }

  return {
    read,
    position: (workspaceId) => store.position(workspaceId),
    placeOf: (workspaceId, cursor) => store.placeOf(workspaceId, cursor),
    async append(command) {
      try {
        const committed = await store.transact(command);
        noticed(command, committed);
        for (const reached of committed.reached ?? []) announce(feed, reached);
        return committed;
      } catch (error) {
        // It may be durable all the same: whoever follows must not wait for the next entry to hear of it.
        if (isUnknown(error)) void announceHeads(command).catch(() => {});
        throw error;
      }
    },
    async *follow(caller, threadId, after, signal) {
      const subscription = feed.subscribe(threadId);
      const leave = listen(listenerName(caller.workspace_id, caller.agent_id, threadId));
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
        leave();
        subscription.close();
      }
    },
    hears: (workspaceId, agentId, threadId) =>
      listenersByName.has(listenerName(workspaceId, agentId, threadId)) ||
      listenersByName.has(listenerName(workspaceId, agentId)),
    async *followWorkspace(caller, after, signal, mine = false) {
      const { workspace_id, agent_id } = caller;
      const participant = mayOverride(caller) && !mine ? undefined : agent_id;
      const subscription = feed.subscribe(`${WORKSPACES}${workspace_id}`);
      const leave = listen(listenerName(workspace_id, agent_id));
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
        leave();
        subscription.close();
      }
    },
  };
}

/** Tells how far a thread, its workspace and, where it is theirs, the documents of that have come. */
export function announce(
  feed: Pick<Feed, 'announce'>,
  { thread_id, last_seq, workspace_id, pos }: Omit<Reached, 'after'>,
): void {
  feed.announce(thread_id, last_seq);
  feed.announce(`${WORKSPACES}${workspace_id}`, pos);
  if (thread_id.startsWith(JOURNAL_PREFIX) && thread_id === treeId(workspace_id))
    feed.announce(`${TREES}${workspace_id}`, pos);
}

/** True for an error after which nobody knows whether the command was written. */
export function isUnknown(error: unknown): boolean {
  return !(error instanceof ParleyError) || error.code === 'UNAVAILABLE';
}

/** Of one who follows all threads the last part is left out. */
function listenerName(workspaceId: string, agentId: string, threadId = ''): string {
  return `${workspaceId} ${agentId} ${threadId}`;
}

/** What the feed's name for the log of a workspace begins with. */
export const WORKSPACES = 'workspace ';

/** The same for what happens to the documents of a workspace, by position in its log. */
export const TREES = 'tree ';
