import { createLogFollower, type LogFollower, type LogFollowerDeps } from '../log-follower.ts';
import type { MessageIndex } from '../knowledge/library.ts';
import { WORKSPACES } from '../log.ts';
import type { WorkspacePage } from '../store.ts';
import { JOURNAL_PREFIX } from '../threads/access.ts';
import { indexName } from './message-search.ts';

export interface MessageFollowerDeps extends LogFollowerDeps {
  index: MessageIndex;
  /** How many of the newest entries of each workspace are kept in the index. */
  keep: number;
}

/** What is posted in a while is indexed at once: a post only announces its position. */
const REST_MS = 250;
const TYPES: ReadonlySet<string> = new Set(['message', 'task', 'result']);

/** Keeps an index of the newest messages of all threads; older ones are found by their words alone. */
export function createMessageFollower(deps: MessageFollowerDeps): LogFollower {
  const { index, keep } = deps;
  const trimmed = new Map<string, number>();

  async function resume(workspace_id: string, head: number): Promise<number> {
    const place = (await index.place(workspace_id)) ?? 0;
    return Math.max(0, head - keep, place <= head ? place : 0);
  }

  async function take(workspace_id: string, { rows, next }: WorkspacePage): Promise<boolean> {
    const puts = rows
      .filter(({ entry }) => TYPES.has(entry.type) && entry.seq > 0 && entry.body.trim() !== '')
      .filter(({ entry }) => !entry.thread_id.startsWith(JOURNAL_PREFIX))
      .map(({ entry: { thread_id, seq, message_id, body }, pos }) => ({
        workspace_id,
        document_id: indexName({ thread_id, seq }),
        version: message_id,
        revision: pos,
        title: '',
        tags: [],
        group: thread_id,
        mime_type: 'text/plain',
        body,
      }));
    if (puts.length === 0) return true;
    await index.apply(puts, [], { workspace_id, pos: next });
    if (next - (trimmed.get(workspace_id) ?? 0) < keep / 10) return true;
    await index.dropBefore(workspace_id, next - keep + 1);
    trimmed.set(workspace_id, next);
    return true;
  }

  return createLogFollower(deps, { topics: WORKSPACES, positions: { of: resume }, take, restMs: REST_MS });
}
