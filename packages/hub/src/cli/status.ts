import type { Client } from '@parley/client';
import type { Command } from 'commander';

import { addConnectOptions, connect } from './connect.ts';
import { findHub } from './find-hub.ts';
import { print } from './output.ts';
import { painter } from './style.ts';
import { table } from './table.ts';

const MOST_THREADS = 1_000;

/** `parley status`: whether the hub is up, and what is going on in the workspace. */
export function addStatusCommand(program: Command): void {
  addConnectOptions(program.command('status'))
    .description('is the hub up, can it write, and what is going on')
    .addHelpText('after', '\nExample:\n  parley status --json')
    .action(async (_options: unknown, command: Command) => {
      const { client, url, json, loaded, minted } = await connect(command);
      const paint = painter(command);
      const { config } = loaded;
      // The first call finds out whether the hub is there.
      const { sessions } = await client.list_sessions();
      const [threads, store, version] = await Promise.all([
        countThreads(client),
        readHealth(url),
        readVersion(url),
      ]);
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
      };
      print({ json }, data, () =>
        table([
          ['hub', `${paint('green', 'up')} at ${url}, version ${version}`],
          ['store', store.writable ? 'takes writes' : paint('red', 'takes no writes: run parley doctor')],
          ['threads', describe(threads.counts) + (threads.complete ? '' : ' among the newest')],
          ['sessions', describe(data.sessions)],
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

function describe(counts: Record<string, number>): string {
  const told = Object.entries(counts).filter(([, count]) => count > 0);
  return told.length === 0 ? 'none' : told.map(([name, count]) => `${count} ${name}`).join(', ');
}

async function readHealth(url: string): Promise<{ writable: boolean }> {
  const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5_000) });
  return { writable: response.ok };
}

async function readVersion(url: string): Promise<string> {
  const response = await fetch(`${url}/v1/openapi.json`, { signal: AbortSignal.timeout(5_000) });
  const { info } = (await response.json()) as { info?: { version?: string } };
  return info?.version ?? 'unknown';
}
