import { type Agent, LIMITS } from '@parley/protocol';

import type { Link } from '../agents/state.ts';
import { type Entry, factsOf } from '../entry.ts';
import { hasEnded, PLAIN } from '../participation/conversation.ts';
import type { StoredSession } from '../sessions/stored-session.ts';
import type { ThreadState } from '../threads/state.ts';
import type { WakeTarget } from './door.ts';
import { familyOf } from './ladder.ts';
import type { WakeFacts } from './policy.ts';
import type { WakeProfile, WakerDeps } from './ports.ts';
import type { Wake } from './wake.ts';

type Ports = Pick<WakerDeps, 'store' | 'offers' | 'links' | 'clock' | 'patience'>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** How many of an agent's sessions are looked at, those that were heard last. */
const SESSIONS = 100;

/** An agent as the doors see it: its newest session, one that lives before all others, what of it can be resumed, what it takes on its connection. */
export async function findTarget(
  { store, links, clock, patience }: Ports,
  workspace_id: string,
  agent_id: string,
  profile: WakeProfile | undefined,
): Promise<{ target: WakeTarget; quiet: boolean; atWork: boolean }> {
  const [heardLast, agents] = await Promise.all([
    store.records({ kind: 'session', workspace_id, owner: agent_id, heard_last: true, limit: SESSIONS }),
    store.records({ kind: 'agent', workspace_id, prefix: agent_id, owner: agent_id, limit: 1 }),
  ]);
  const agent: Agent | undefined = agents[0];
  const isHeard = ({ status, last_heartbeat_at }: StoredSession): boolean =>
    status !== 'offline' && clock.now() - Date.parse(last_heartbeat_at) < patience.offlineAfterMs;
  // A good-bye is heard too, and makes nobody the one to wake while another lives.
  const newest = heardLast.toSorted((a, b) => Number(isHeard(b)) - Number(isHeard(a)));
  const connections = links.of(workspace_id).get(agent_id) ?? [];
  const linkOf = (one: StoredSession | undefined): Link | undefined =>
    connections.find(({ caller }) => caller?.session_id === one?.session_id);
  const connectedAt = (one: StoredSession): number => linkOf(one)?.since ?? 0;
  // A session that a supervisor has in hand is the one to wake, whatever else of the agent is heard of; of several
  // the one that connected last, whichever beats.
  const session =
    newest
      .filter((one) => one.management_mode === 'managed' && isHeard(one))
      .toSorted((a, b) => connectedAt(b) - connectedAt(a))[0] ?? newest[0];
  const managed = session?.management_mode === 'managed';
  const link = managed ? linkOf(session) : connections.findLast(({ takes = [] }) => takes.includes('wake'));
  const target: WakeTarget = {
    workspace_id,
    agent_id,
    family: profile?.family ?? familyOf(session?.runtime),
    session,
    native_id: newest.map(nativeId).find((id) => id !== undefined),
    managed,
    reach: link?.caller?.session_id,
    commands: link?.takes ?? (connections.length > 0 ? (agent?.capabilities ?? []) : []),
  };
  // Who is managed, or takes wakes itself, says whether it is at work.
  const atWork =
    !managed &&
    !target.commands.includes('wake') &&
    newest.some((one) => one.status === 'active' && isHeard(one));
  return { target, quiet: profile?.quiet === true || agent?.metadata?.['quiet'] === true, atWork };
}

/** The last wakes of an agent for a thread, the newest first. */
export function lastWakes(
  store: Ports['store'],
  workspace_id: string,
  thread_id: string,
  agent: string,
): Promise<Wake[]> {
  const prefix = `${thread_id} ${agent} `;
  return store.records({ kind: 'wake', workspace_id, prefix, descending: true, limit: 20 });
}

/** True for a wake that has reached its target, or may have and nobody will ever know: neither is repeated. */
function cameThrough({ state, doubt }: Wake): boolean {
  if (state === 'failed') return doubt !== undefined;
  return state === 'delivered' || state === 'running' || state === 'queued';
}

/** Of the wakes of an agent for a thread the one that brought it furthest, and last: a clock that was set back names a later one before. */
export function furthest(wakes: readonly Wake[]): Wake | undefined {
  const settled = ({ settled_at, asked_at }: Wake): number => Date.parse(settled_at ?? asked_at);
  return wakes
    .filter(cameThrough)
    .toSorted((a, b) => b.through_seq - a.through_seq || settled(b) - settled(a))[0];
}

function nativeId({ resumable, native_session_id, session_id }: StoredSession): string | undefined {
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

/** A message that is for an agent, and who wrote it. */
export interface Known {
  seq: number;
  by: string;
}

/**
 * The unread messages of an agent in a thread; undefined where there are none. One that is known to be for it counts
 * however much lies before it.
 */
export async function unreadIn(
  { store, offers }: Ports,
  { thread_id, workspace_id, last_seq }: ThreadState,
  agent: string,
  known?: Known,
): Promise<Unread | undefined> {
  const [{ last_read_seq: read }, given] = await Promise.all([
    store.reading(thread_id, agent, workspace_id),
    offers.reached(workspace_id, thread_id, agent),
  ]);
  const query = { workspace_id, thread_id, limit: LIMITS.page_max, max_bytes: LIMITS.page_bytes };
  let after = Math.max(read, given);
  const found: Entry[] = [];
  for (let page = 0; page < PAGES && after < last_seq; page++) {
    const { entries, has_more } = await store.page({ ...query, after });
    found.push(...entries.filter((entry) => isFor(entry, agent)));
    after = entries.at(-1)?.seq ?? last_seq;
    if (!has_more) break;
  }
  const unread = found.map(({ seq, sender_agent_id: by }): Known => ({ seq, by }));
  const newest = unread.at(-1)?.seq ?? Math.max(read, given);
  if (known !== undefined && known.seq > newest) unread.push(known);
  const [first, last] = [unread[0], unread.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  return { first: first.seq, through: last.seq, senders: [...new Set(unread.map(({ by }) => by))] };
}

function isFor({ type, sender_agent_id, to, metadata, called }: Entry, agent: string): boolean {
  if (sender_agent_id === agent) return false;
  if (called?.includes(agent) === true) return true;
  if (type === 'message' || type === 'task' || type === 'result') return to === undefined || to === agent;
  if (type !== 'control') return false;
  const { control = {} } = factsOf<{ control?: { prod?: string[]; invite?: { participant_id: string } } }>({
    metadata,
  });
  const { prod, invite } = control;
  return prod?.includes(agent) === true || invite?.participant_id === agent;
}

/** Why a thread wants nothing from an agent now. */
export function restrictionOf(
  { status, conversation = PLAIN }: ThreadState,
  agent: string,
  now: number,
): WakeFacts['restriction'] {
  if (status === 'closed') return 'closed';
  if (hasEnded(conversation, now)) return 'ended';
  if (conversation.muted.includes(agent)) return 'muted';
  return conversation.paused ? 'paused' : undefined;
}
