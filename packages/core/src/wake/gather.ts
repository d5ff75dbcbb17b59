import { type Agent, LIMITS } from '@parley/protocol';

import type { Entry } from '../entry.ts';
import { hasEnded, PLAIN } from '../participation/conversation.ts';
import type { KeptSession } from '../records.ts';
import type { ThreadState } from '../threads/state.ts';
import type { WakeTarget } from './door.ts';
import { familyOf } from './ladder.ts';
import type { WakeFacts } from './policy.ts';
import type { WakeProfile, WakerDeps } from './ports.ts';

type Ports = Pick<WakerDeps, 'store' | 'offers' | 'links' | 'clock' | 'patience'>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An agent as the doors see it: its newest session, what of it can be resumed, what it takes on its connection. */
export async function findTarget(
  { store, links, clock, patience }: Ports,
  workspace_id: string,
  agent_id: string,
  profile: WakeProfile | undefined,
): Promise<{ target: WakeTarget; quiet: boolean }> {
  const limit = LIMITS.records;
  const [sessions, agents] = await Promise.all([
    store.records({ kind: 'session', workspace_id, prefix: `${agent_id} `, limit }),
    store.records({ kind: 'agent', workspace_id, prefix: agent_id, owner: agent_id, limit: 1 }),
  ]);
  const newest = sessions.toSorted((a, b) => (a.last_heartbeat_at < b.last_heartbeat_at ? 1 : -1));
  const agent: Agent | undefined = agents[0];
  const isHeard = ({ status, last_heartbeat_at }: KeptSession): boolean =>
    status !== 'offline' && clock.now() - Date.parse(last_heartbeat_at) < patience.offlineAfterMs;
  // A session that a supervisor has in hand is the one to wake, whatever else of the agent is heard of.
  const session = newest.find((one) => one.management_mode === 'managed' && isHeard(one)) ?? newest[0];
  const connected = (links.of(workspace_id).get(agent_id) ?? []).length > 0;
  const target: WakeTarget = {
    workspace_id,
    agent_id,
    family: profile?.family ?? familyOf(session?.runtime),
    session,
    native_id: newest.map(nativeId).find((id) => id !== undefined),
    managed: session?.management_mode === 'managed',
    commands: connected ? (agent?.capabilities ?? []) : [],
  };
  return { target, quiet: profile?.quiet === true || agent?.metadata?.['quiet'] === true };
}

function nativeId({ resumable, native_session_id, session_id }: KeptSession): string | undefined {
  const id = native_session_id ?? session_id;
  return resumable && UUID.test(id) ? id.toLowerCase() : undefined;
}

/** What others have said to an agent that it has neither acknowledged nor fetched. */
export interface Unread {
  first: number;
  through: number;
  senders: string[];
}

/** How many pages are looked through for what is unread. */
const PAGES = 5;

/** The unread messages of an agent in a thread; undefined where there are none. */
export async function unreadIn(
  { store, offers }: Ports,
  { thread_id, workspace_id, last_seq }: ThreadState,
  agent: string,
): Promise<Unread | undefined> {
  const [cursors, given] = await Promise.all([
    store.cursors(thread_id),
    offers.reached(workspace_id, thread_id, agent),
  ]);
  const read = cursors.find(({ agent_id }) => agent_id === agent)?.last_read_seq ?? 0;
  const query = { workspace_id, thread_id, limit: LIMITS.page_max, max_bytes: LIMITS.page_bytes };
  let after = Math.max(read, given);
  const found: Entry[] = [];
  for (let page = 0; page < PAGES && after < last_seq; page++) {
    const { entries, has_more } = await store.page({ ...query, after });
    found.push(...entries.filter((entry) => isFor(entry, agent)));
    after = entries.at(-1)?.seq ?? last_seq;
    if (!has_more) break;
  }
  const first = found[0];
  if (first === undefined) return undefined;
  const senders = [...new Set(found.map(({ sender_agent_id }) => sender_agent_id))];
  return { first: first.seq, through: found.at(-1)?.seq ?? first.seq, senders };
}

function isFor({ type, sender_agent_id, to, metadata }: Entry, agent: string): boolean {
  if (sender_agent_id === agent) return false;
  if (type === 'message' || type === 'task' || type === 'result') return to === undefined || to === agent;
  if (type !== 'control') return false;
  const { prod, invite } = (metadata?.['control'] ?? {}) as {
    prod?: string[];
    invite?: { participant_id: string };
  };
  return prod?.includes(agent) === true || invite?.participant_id === agent;
}

/** Why a thread wants nothing from an agent now. */
export function hushOf(
  { status, conversation = PLAIN }: ThreadState,
  agent: string,
  now: number,
): WakeFacts['hush'] {
  if (status === 'closed') return 'closed';
  if (hasEnded(conversation, now)) return 'ended';
  if (conversation.muted.includes(agent)) return 'muted';
  return conversation.paused ? 'paused' : undefined;
}
