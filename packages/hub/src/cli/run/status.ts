import type { Client } from '@parley/client';
import {
  AGENT_STATES,
  type AgentView,
  LIMITS,
  type OutputOf,
  ParleyError,
  readAll,
  table,
  fieldsOf,
} from '@parley/protocol';
import { plainSend } from '@parley/supervisor/plain-send';
import type { Command } from 'commander';

import { openElsewhere } from '../asks-elsewhere.ts';
import { addConnectOptions, connect } from '../connect.ts';
import { findHub } from '../find-hub.ts';
import { print } from '../output.ts';
import { span } from '../span.ts';
import type { Speaker } from '../speaker.ts';
import { type Paint, painter } from '../style.ts';

const MOST_THREADS = 1_000;

/** `parley status`: whether the hub is up, and what is going on in the workspace. */
export function addStatusCommand(program: Command): void {
  addConnectOptions(program.command('status'))
    .description('is the hub up, can it write, and what is going on')
    .addHelpText('after', '\nExample:\n  parley status --json')
    .action(async (_options: unknown, command: Command) => {
      const { client, url, json, loaded, minted, speaker, typed } = await connect(command);
      const paint = painter(command);
      const { config } = loaded;
      // The first call finds out whether the hub is there.
      const sessions = await readAll(
        (place) => client.list_sessions(place),
        (page) => page.sessions,
      );
      const [threads, asks, agents, store, version, hub, elsewhere] = await Promise.all([
        countThreads(client),
        client.list_asks({ limit: LIMITS.page_max }),
        readAll(
          (place) => client.list_agents(place),
          (page) => page.agents,
        ),
        readHealth(url),
        readVersion(url),
        describeHub(client),
        minted ? openElsewhere(config) : [],
      ]);
      const local = findHub(config.data);
      const data = {
        up: true,
        url,
        version,
        ...(local?.url === url ? { pid: local.pid, data: config.data } : {}),
        ...(minted ? { workspace: config.workspace } : {}),
        ...(speaker === undefined ? {} : { speaker }),
        store: {
          ...store,
          ...(hub?.trouble === undefined ? {} : { trouble: hub.trouble }),
          ...(hub === undefined ? {} : { rebuilt: hub.rebuilt }),
        },
        ...(hub === undefined ? {} : { search: hub.search, clock: hub.clock }),
        ...(hub?.nodes === undefined ? {} : { nodes: hub.nodes }),
        threads: threads.counts,
        threads_complete: threads.complete,
        sessions: countBy(sessions.map((session) => session.status)),
        agents: countStates(agents),
        asks: { open: asks.asks.length, complete: asks.next_before === null, elsewhere },
      };
      print({ json }, data, () =>
        table([
          ['hub', `${paint('green', 'up')} at ${url}, version ${version}`],
          ...(speaker === undefined ? [] : [['you', youAre(speaker)]]),
          ['store', store.writable ? 'accepts writes' : paint('red', whyNoWrites(hub))],
          ...(hub?.nodes === undefined ? [] : [['nodes', describeNodes(hub.nodes, paint)]]),
          ...(hub === undefined ? [] : [['search', describeLag(hub.search)]]),
          ...(hub === undefined || hub.clock.ahead_ms === 0
            ? []
            : [['clock', paint('yellow', describeClock(hub.clock))]]),
          ...(hub === undefined || hub.rebuilt.length === 0
            ? []
            : [
                [
                  'rebuilt',
                  paint('yellow', `${hub.rebuilt.join(', ')}: gone or damaged, made anew from the log`),
                ],
              ]),
          ['threads', describe(threads.counts) + (threads.complete ? '' : ' among the newest')],
          ['sessions', describe(data.sessions)],
          ['agents', describe(spoken(data.agents))],
          ['asks', describeAsks(data.asks, paint, typed)],
          ...elsewhere.map(({ workspace_id, open }) => [
            '',
            `${paint('yellow', `${open} open in ${workspace_id}`)}: ${typed(`ask ls --workspace ${workspace_id}`)}`,
          ]),
          ...(data.data === undefined ? [] : [['data', data.data]]),
        ]),
      );
    });
}

type Hub = OutputOf<'describe_hub'>;

/** What only a person may ask; undefined for others. */
async function describeHub(client: Client): Promise<Hub | undefined> {
  try {
    return await client.describe_hub({});
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'INSUFFICIENT_AUTHORITY') return undefined;
    throw error;
  }
}

function youAre({ agent_id, role, workspace_id, by }: Speaker): string {
  return `${agent_id} (${role} in ${workspace_id}), by ${by}`;
}

function whyNoWrites(hub: Hub | undefined): string {
  return `cannot write${hub?.trouble === undefined ? '' : ` (${hub.trouble})`}: run parley doctor`;
}

function describeLag({ behind, lag_ms }: Hub['search']): string {
  return behind === 0 ? 'up to date' : `${behind} entries behind, for ${(lag_ms / 1_000).toFixed(1)} s`;
}

function describeNodes({ by, connected, trouble, others }: NonNullable<Hub['nodes']>, paint: Paint): string {
  const way = by === 'nats' ? 'NATS' : 'PostgreSQL';
  if (connected)
    return `${others === 0 ? 'no other' : `${others} other${others === 1 ? '' : 's'}`}, heard by ${way}`;
  return paint('yellow', `the others are not heard (${trouble}); the log is looked at every second instead`);
}

function describeClock({ ahead_ms, believed_at = '' }: Hub['clock']): string {
  return `jumped ahead by ${span(ahead_ms)}; nothing is forgotten by it before ${believed_at}`;
}

interface ThreadCounts {
  counts: Record<string, number>;
  /** False when there are more threads than were counted. */
  complete: boolean;
}

async function countThreads(client: Client): Promise<ThreadCounts> {
  const statuses: string[] = [];
  let before: string | null | undefined;
  while (before !== null && statuses.length < MOST_THREADS) {
    const page = await client.list_threads({ limit: 200, ...(before === undefined ? {} : { before }) });
    statuses.push(...page.threads.map((thread) => thread.status));
    before = page.next_before;
  }
  return { counts: { total: statuses.length, ...countBy(statuses) }, complete: before === null };
}

function countBy(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1;
  return counts;
}

/** How many agents are in each state, in the order of what needs a person. */
function countStates(agents: readonly AgentView[]): Record<string, number> {
  const counts = countBy(agents.map(({ state }) => state));
  return Object.fromEntries(AGENT_STATES.flatMap((state) => (counts[state] ? [[state, counts[state]]] : [])));
}

function spoken(counts: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name.replace('_', ' '), count]));
}

function describeAsks(
  { open, complete }: { open: number; complete: boolean },
  paint: Paint,
  typed: (line: string) => string,
): string {
  if (open === 0) return 'nobody waits for you';
  const many = `${open}${complete ? '' : ' or more'} open`;
  return `${paint('yellow', many)}: ${typed('ask ls')}`;
}

function describe(counts: Record<string, number>): string {
  const reported = Object.entries(counts).filter(([, count]) => count > 0);
  return reported.length === 0 ? 'none' : reported.map(([name, count]) => `${count} ${name}`).join(', ');
}

async function readHealth(url: string): Promise<{ writable: boolean }> {
  const response = await plainSend(`${url}/healthz`, { signal: AbortSignal.timeout(5_000) });
  return { writable: response.ok };
}

async function readVersion(url: string): Promise<string> {
  const response = await plainSend(`${url}/v1/openapi.json`, { signal: AbortSignal.timeout(5_000) });
  const { info } = fieldsOf(await response.json());
  const { version } = fieldsOf(info);
  return typeof version === 'string' ? version : 'unknown';
}
