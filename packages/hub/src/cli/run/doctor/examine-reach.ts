import { type Client, createClient } from '@parley/client';
import { type OutputOf, readAll } from '@parley/protocol';

import { issueToken } from '../../../auth/issue-token.ts';
import type { Config } from '../../../config/schema.ts';
import type { Check } from './check.ts';
import { findHub } from '../../find-hub.ts';
import { oneLine } from '../../harmless.ts';

type View = OutputOf<'list_agents'>['agents'][number];
type Reach = OutputOf<'check_reach'>;

/** One agent that the hub knows: whether a call would reach it now, and what would mend it where it would not. */
export interface FoundReach extends Reach {
  state: View['state'];
  mend?: string;
}

const PATIENCE_MS = 10_000;
const TTL_MS = 60_000;

/** Tries every door of every agent that has a session, by the hub that runs; nothing goes through them. */
export async function findReach(config: Config): Promise<FoundReach[]> {
  const hub = findHub(config.data);
  if (hub === undefined) return [];
  const identity = {
    agent_id: 'doctor',
    workspace_id: config.workspace,
    role: 'operator',
    session_id: 'doctor',
  };
  const { token } = await issueToken(
    config,
    { ...identity, ttl_ms: Math.min(TTL_MS, config.auth.max_lifetime_ms) },
    Date.now(),
  );
  const client = createClient({ url: hub.url, token, patienceMs: PATIENCE_MS });
  const agents = await readAll(
    (place) => client.list_agents(place),
    (page) => page.agents,
  );
  return Promise.all(agents.filter(({ sessions }) => sessions > 0).map((agent) => reachOf(client, agent)));
}

async function reachOf(client: Client, agent: View): Promise<FoundReach> {
  const reach = await client.check_reach({ of_agent: agent.agent_id });
  const { state } = agent;
  return reach.reachable === 'no' ? { ...reach, state, mend: mendOf(reach, agent) } : { ...reach, state };
}

/** The one thing to do: what is not open is opened, what is open without a door is connected. */
function mendOf({ runtime, doors }: Reach, { state, runtimes }: View): string {
  const reasons = doors.map(({ reason = '' }) => reason);
  const name = runtime === 'other' ? programOf(runtimes) : runtime;
  if (reasons.some((reason) => reason.startsWith('version_')))
    return `parley verify-runtime ${name}, and if its doors work: --set wake.any_version=true`;
  if (state === 'offline')
    return runtime === 'other' ? `start it with: parley run --managed -- ${name}` : `start ${name}`;
  if (reasons.includes('no_open_codex') || reasons.includes('session_not_open'))
    return 'start codex without --no-daemon, or with: parley run -- codex';
  if (runtime === 'other') return `start it with: parley run --managed -- ${name}`;
  return `parley init ${name}, then start ${name} anew`;
}

/** The program behind a session that is neither Codex nor Claude Code, as far as its name tells. */
function programOf(runtimes: readonly string[]): string {
  const known = ['opencode', 'gemini', 'copilot'];
  return known.find((name) => runtimes.some((one) => one.toLowerCase().includes(name))) ?? '<program>';
}

/**
 * A line for each. A Codex or Claude Code that is there and cannot be reached is a fault; one that is not open is not, nor
 * an agent of another make, which may well read by itself.
 */
export function reachChecks(found: readonly FoundReach[]): Check[] {
  return found.map(({ agent_id, runtime, state, reachable, doors, mend }) => ({
    name: `reach ${agent_id}`,
    ok: reachable !== 'no' || state === 'offline' || runtime === 'other',
    detail: oneLine(
      reachable === 'no'
        ? `${unreached(state, doors)}; ${mend ?? ''}`
        : `${reachable === 'now' ? 'now' : 'soon'} through ${through(doors, reachable)}`,
    ),
  }));
}

/** Of a program that is not open no door can be: naming each would only hide what to do. */
function unreached(state: View['state'], doors: Reach['doors']): string {
  return state === 'offline' ? 'not open' : `${state}, and no door is open (${shut(doors)})`;
}

function through(doors: Reach['doors'], how: 'now' | 'later'): string {
  const { door = '', reason } = doors.find(({ open }) => open === how) ?? {};
  return reason === undefined ? door : `${door} (${reason})`;
}

function shut(doors: Reach['doors']): string {
  return doors.map(({ door, reason = 'shut' }) => `${door}: ${reason}`).join(', ');
}
