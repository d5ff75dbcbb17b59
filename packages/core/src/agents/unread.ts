import { LIMITS } from '@parley/protocol';

import type { Offers } from '../evidence/offers.ts';
import type { Store, ThreadRow } from '../store.ts';
import { unreadFor } from '../threads/unread.ts';
import type { Patience } from './state.ts';

/** How many of an agent's threads are looked into for what it leaves unread. */
const LOOKED_INTO = 5;
const LOOKED_AT = 20;

export interface UnreadDeps {
  store: Store;
  offers: Pick<Offers, 'reached'>;
  patience: Pick<Patience, 'unreadStuckMs'>;
}

/** What an agent has not acknowledged, and since when it lets the messages of others lie. */
export interface Unread {
  unread: number;
  since: number | undefined;
  /** Where it is. */
  threads: string[];
  /** When a thread that is young today is to be looked into as well. */
  changes_at?: number;
}

/** Counts what an agent has not read, as it stands now. */
export async function unreadOf(
  deps: UnreadDeps,
  workspace_id: string,
  agent: string,
  now: number,
): Promise<Unread> {
  const { unreadStuckMs } = deps.patience;
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
  const open = rows.filter((row) => row.state.status !== 'closed');
  const unread = open.reduce((sum, row) => sum + unreadFor(row.state, row), 0);
  const createdAt = ({ state }: ThreadRow): number => Date.parse(state.created_at);
  const old = open.filter((row) => createdAt(row) <= now - unreadStuckMs);
  const young = open.filter((row) => !old.includes(row)).map(createdAt);
  const moments = await Promise.all(
    old.slice(-LOOKED_INTO).map((row) => leftLying(deps, workspace_id, agent, row)),
  );
  const known = moments.filter((at) => at !== undefined);
  return {
    unread,
    since: known.length === 0 ? undefined : Math.min(...known),
    threads: open.map(({ state }) => state.thread_id),
    ...(young.length === 0 ? {} : { changes_at: Math.min(...young) + unreadStuckMs }),
  };
}

/** When the first message of another was posted that the agent has neither acknowledged nor been given. */
async function leftLying(
  { store, offers }: UnreadDeps,
  workspace_id: string,
  agent: string,
  { state: { thread_id }, last_read_seq }: ThreadRow,
): Promise<number | undefined> {
  const query = { workspace_id, thread_id, limit: LOOKED_AT, max_bytes: LIMITS.page_bytes };
  const [given, page] = await Promise.all([
    offers.reached(workspace_id, thread_id, agent),
    store.page({ ...query, after: last_read_seq }),
  ]);
  // What it was given is mostly little, and then all that matters is on the page already.
  const isBeyond = page.has_more && given > last_read_seq;
  const { entries } = isBeyond ? await store.page({ ...query, after: given }) : page;
  const first = entries.find(
    ({ seq, sender_agent_id }) => seq > Math.max(last_read_seq, given) && sender_agent_id !== agent,
  );
  return first === undefined ? undefined : Date.parse(first.created_at);
}
