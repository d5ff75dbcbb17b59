import type { Client } from '@parley/client';
import { AGENT_STATES, type AgentView, LIMITS } from '@parley/protocol';
import type { Command } from 'commander';

import { addConnectOptions, connect } from './connect.ts';
import { findHub } from './find-hub.ts';
import { print } from './output.ts';
import { type Paint, painter } from './style.ts';
import { table } from './table.ts';

const MOST_THREADS = 1_000;

/** `parley status`: whether the hub is up, and what is going on in the workspace. */
export function addStatusCommand(program: Command): void {
  addConnectOptions(program.command('status'))
    .description('is the hub up, can it write, and what is going on')
    .addHelpText('after', '\nExample:\n  parley status --json')
    .action(async (_options: unknown, command: Command) => {
      const { client, url, json, loaded, minted, typed } = await connect(command);
      const paint = painter(command);
      const { config } = loaded;
      // The first call finds out whether the hub is there.
      const { sessions } = await client.list_sessions();
      const [threads, asks, { agents }, health, rebuilt, version] = await Promise.all([
        countThreads(client),
        client.list_asks({ limit: LIMITS.page_max }),
        client.list_agents(),
        readHealth(url),
        readRebuilt(client),
        readVersion(url),
      ]);
      const store = { ...health, ...(rebuilt === undefined ? {} : { rebuilt }) };
      const local = findHub(config.data);
      const data = {
        up: true,
        url,
        version,
        ...(local?.url === url ? { pid: local.pid, data: config.data } : {}),
        ...(minted ? { workspace: config.workspace } : {}),
        store,
        threads: threads.counts,
        threads_complete: threads.complete,
        sessions: countBy(sessions.map((session) => session.status)),
        agents: countStates(agents),
        asks: { open: asks.asks.length, complete: asks.next_before === null },
      };
      print({ json }, data, () =>
        table([
          ['hub', `${paint('green', 'up')} at ${url}, version ${version}`],
          ['store', store.writable ? 'takes writes' : paint('red', 'takes no writes: run parley doctor')],
          ...(rebuilt === undefined || rebuilt.length === 0
            ? []
            : [
                [
                  'rebuilt',
                  paint('yellow', `${rebuilt.join(', ')}: gone or damaged, made anew from the log`),
                ],
              ]),
          ['threads', describe(threads.counts) + (threads.complete ? '' : ' among the newest')],
          ['sessions', describe(data.sessions)],
          ['agents', describe(spoken(data.agents))],
          ['asks', describeAsks(data.asks, paint, typed)],
          ...(data.data === undefined ? [] : [['data', data.data]]),
        ]),
      );
    });
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
  const told = Object.entries(counts).filter(([, count]) => count > 0);
  return told.length === 0 ? 'none' : told.map(([name, count]) => `${count} ${name}`).join(', ');
}

async function readHealth(url: string): Promise<{ writable: boolean }> {
  const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5_000) });
  return { writable: response.ok };
}

/** What the hub had to make anew since its start; only operators are told. */
async function readRebuilt(client: Client): Promise<string[] | undefined> {
  try {
    return (await client.describe_hub({})).rebuilt;
  } catch {
    return undefined;
  }
}

async function readVersion(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/openapi.json`, { signal: AbortSignal.timeout(5_000) });
  const { info } = (await response.json()) as { info?: { version?: string } };
  return info?.version ?? 'unknown';
}
