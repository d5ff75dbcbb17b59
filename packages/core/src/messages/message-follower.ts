import { createLogFollower, type LogFollower, type LogFollowerDeps } from '../log-follower.ts';
import type { MessageIndex } from '../knowledge/library.ts';
import { HUB_TOPIC } from '../log.ts';
import type { WorkspacePage } from '../store.ts';
import { JOURNAL_PREFIX } from '../threads/access.ts';
import { indexName } from './message-search.ts';

export interface MessageFollowerDeps extends LogFollowerDeps {
  index: MessageIndex;
  /** How many of the newest entries of the log are kept in the index. */
  keep: number;
}

/** What is posted in a while is indexed at once: a post only rings a bell. */
const REST_MS = 250;
const TYPES: ReadonlySet<string> = new Set(['message', 'task', 'result']);

/** Keeps an index of the newest messages of all threads; older ones are found by their words alone. */
export function createMessageFollower(deps: MessageFollowerDeps): LogFollower {
  const { index, keep } = deps;
  let trimmed = 0;

  async function resume(head: number): Promise<number> {
    const place = (await index.place()) ?? 0;
    return Math.max(0, head - keep, place <= head ? place : 0);
  }

  async function take({ rows, next }: WorkspacePage): Promise<void> {
    const puts = rows
      .filter(({ entry }) => TYPES.has(entry.type) && entry.seq > 0 && entry.body.trim() !== '')
      .filter(({ entry }) => !entry.thread_id.startsWith(JOURNAL_PREFIX))
      .map(({ entry: { thread_id, seq, message_id, body }, pos, workspace_id }) => ({
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
    if (puts.length === 0) return;
    await index.apply(puts, [], next);
    if (next - trimmed < keep / 10) return;
    await index.dropBefore(next - keep + 1);
    trimmed = next;
  }

  return createLogFollower(deps, { topic: HUB_TOPIC, resume, take, restMs: REST_MS });
}
