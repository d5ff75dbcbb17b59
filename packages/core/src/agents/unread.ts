import { LIMITS } from '@parley/protocol';

import type { Deps } from '../operation.ts';
import type { ThreadRow } from '../store.ts';

/** How many of an agent's threads are looked into for what it leaves unread. */
const LOOKED_INTO = 5;
const LOOKED_AT = 20;

/** What an agent has not acknowledged, and since when it lets the messages of others lie. */
export async function unreadOf(
  deps: Deps,
  workspace_id: string,
  agent: string,
  now: number,
): Promise<{ unread: number; since: number | undefined }> {
  const { rows } = await deps.store.threads({
    workspace_id,
    participant: agent,
    reader: agent,
    status: undefined,
    unread: true,
    limit: LIMITS.page_default,
    max_bytes: LIMITS.page_bytes,
    before: undefined,
  });
  const open = rows.filter(({ state }) => state.status !== 'closed');
  const unread = open.reduce((sum, { state, last_read_seq }) => sum + state.last_seq - last_read_seq, 0);
  const oldest = now - deps.patience.unreadStuckMs;
  const old = open.filter(({ state }) => Date.parse(state.created_at) <= oldest).slice(-LOOKED_INTO);
  const moments = await Promise.all(old.map((row) => leftLying(deps, workspace_id, agent, row)));
  const known = moments.filter((at) => at !== undefined);
  return { unread, since: known.length === 0 ? undefined : Math.min(...known) };
}

/** When the first message of another was posted that the agent has neither acknowledged nor been given. */
async function leftLying(
  deps: Deps,
  workspace_id: string,
  agent: string,
  { state: { thread_id }, last_read_seq }: ThreadRow,
): Promise<number | undefined> {
  const given = await deps.offers.reached(workspace_id, thread_id, agent);
  const after = Math.max(last_read_seq, given);
  const query = { workspace_id, thread_id, after, limit: LOOKED_AT, max_bytes: LIMITS.page_bytes };
  const { entries } = await deps.store.page(query);
  const first = entries.find(({ sender_agent_id }) => sender_agent_id !== agent);
  return first === undefined ? undefined : Date.parse(first.created_at);
}
