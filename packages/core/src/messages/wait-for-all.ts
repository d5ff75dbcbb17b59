import { type Caller, LIMITS } from '@parley/protocol';

import type { Entry } from '../entry.ts';
import type { RecordPorts } from '../ports.ts';

/** What others said in all threads of a caller, and up to which position of the workspace's log that goes. */
interface Heard {
  entries: Entry[];
  next: number;
  has_more: boolean;
}

/** How many threads are looked into for what is unread. */
const MOST_THREADS = 50;

/**
 * What others said in the caller's threads, new ones too: after a position of the log of its workspace, or from 0 on
 * what it has not acknowledged. Waits for the first of it until the signal.
 */
export async function waitForAll(
  deps: RecordPorts,
  caller: Caller,
  since: number,
  limit: number,
  signal: AbortSignal,
): Promise<Heard> {
  let next = since;
  if (since === 0) {
    const unread = await unreadMessages(deps, caller, limit);
    if (unread.entries.length > 0) return unread;
    next = unread.next;
  }
  for await (const page of deps.log.followWorkspace(caller, next, signal, true)) {
    const heard = page.rows.filter(({ entry }) => isForOthers(caller, entry));
    const shown = heard.slice(0, limit);
    const last = shown.at(-1);
    if (last === undefined) next = page.next;
    else {
      const cut = shown.length < heard.length;
      const entries = shown.map(({ entry }) => entry);
      return { entries, next: cut ? last.pos : page.next, has_more: cut || page.has_more };
    }
  }
  return { entries: [], next, has_more: false };
}

/** What lies unread now, each thread in its order; nothing that stands after the position it tells. */
async function unreadMessages(deps: RecordPorts, caller: Caller, limit: number): Promise<Heard> {
  const { workspace_id, agent_id } = caller;
  const position = await deps.log.position(workspace_id);
  const query = { workspace_id, participant: agent_id, reader: agent_id, status: undefined, unread: true };
  const { rows } = await deps.store.threads({
    ...query,
    limit: MOST_THREADS,
    max_bytes: LIMITS.page_bytes,
    before: undefined,
  });
  const found: Entry[] = [];
  let has_more = rows.length === MOST_THREADS;
  for (const { state, last_read_seq } of rows) {
    let after = last_read_seq;
    for (;;) {
      const asked = { workspace_id, thread_id: state.thread_id, after, limit: LIMITS.page_max };
      const page = await deps.log.read({ ...asked, max_bytes: LIMITS.page_bytes });
      found.push(...page.entries.filter((entry) => isForOthers(caller, entry)));
      after = page.entries.at(-1)?.seq ?? after;
      if (!page.has_more || found.length > limit) break;
    }
    if (found.length > limit) break;
  }
  const later = await idsAfter(deps, caller, position);
  const unread = found.filter(({ message_id }) => !later.has(message_id));
  has_more ||= unread.length > limit;
  // What is left over stays unread: it comes once this has been acknowledged.
  return { entries: unread.slice(0, limit), next: has_more ? 0 : position, has_more };
}

/** What has come while the threads were read: it follows after the position and must not come twice. */
async function idsAfter(deps: RecordPorts, caller: Caller, position: number): Promise<Set<string>> {
  const { workspace_id, agent_id: participant } = caller;
  const ids = new Set<string>();
  let after = position;
  for (;;) {
    const query = { workspace_id, participant, after, limit: LIMITS.page_max, max_bytes: LIMITS.page_bytes };
    const page = await deps.store.workspace(query);
    for (const { entry } of page.rows) ids.add(entry.message_id);
    after = page.next;
    if (!page.has_more) return ids;
  }
}

function isForOthers({ agent_id }: Caller, { kind, sender_agent_id }: Entry): boolean {
  return kind !== 'system' && sender_agent_id !== agent_id;
}
