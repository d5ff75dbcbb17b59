import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { OutputOf } from '@parley/protocol';
import { expect, onTestFinished } from 'vitest';

import { type CrashHub, temporaryFolder, tokenFor } from '../faults/crash-hub.ts';
import {
  clientOf,
  createThread,
  type HubClient,
  ok,
  post,
  readAll,
  type StoredMessage,
} from '../faults/hub-client.ts';
import { PARLEY } from '../harness/start-hub.ts';
import { type Person, type PersonOptions, sitDown, supervised } from '../supervisor/person.ts';
import { ANSWER } from './woken-mind.ts';

/** What is waited for takes seconds; each look costs the hub a call. */
export const PATIENT = { timeout: 60_000, interval: 200 };
export const WORKSPACE = 'w';

/** Where a hub is, and where it keeps its keys. */
export type HubPlace = Pick<CrashHub, 'url' | 'folder'>;

/** Another agent with something to say to one that sits at a terminal; it finds the hub wherever that is now. */
export interface Caller {
  thread_id: string;
  say(body: string): Promise<string>;
  trigger(more?: Record<string, unknown>): Promise<OutputOf<'trigger_participant'>>;
  woken(message_id: string): Promise<OutputOf<'get_message_evidence'>['woken']>;
  /** Who has answered in the thread. */
  answers(): Promise<string[]>;
  /** What the journal of the agent tells of its wakes, step by step. */
  journal(): Promise<{ at: number; facts: Record<string, unknown> }[]>;
}

/** Starts a program by `parley run` on the hub's own data folder, and waits until the hub can reach it. */
export async function runSupervised(
  { folder, url }: HubPlace,
  agent: string,
  program: string[],
  { options = [], ...place }: PersonOptions & { options?: string[] },
): Promise<Person> {
  const words = ['--data', folder, '--agent', agent, '--workspace', WORKSPACE, ...options];
  const person = await sitDown(supervised(program, words), place);
  const client = clientOf(url, 'alice', await tokenFor(folder, 'alice'));
  const reached = async (): Promise<boolean> => {
    const { status, body } = await client.call<OutputOf<'get_agent'>>('get_agent', { of_agent: agent });
    return status === 200 && body.connected.length > 0 && body.capabilities.includes('terminal_deliver');
  };
  await expect.poll(reached, PATIENT).toBe(true);
  client.close();
  return person;
}

/** The hub's tools for one agent by the hub's address, so that its MCP server waits for a killed hub and never is one. */
export async function hubServerAt({ folder, url }: HubPlace, agent: string) {
  const file = join(temporaryFolder(), 'token');
  writeFileSync(file, await tokenFor(folder, agent), { mode: 0o600 });
  const args = [PARLEY, 'mcp', '--token-file', file, '--data', join(temporaryFolder(), 'data')];
  return { kind: 'stdio' as const, command: process.execPath, args, env: { PARLEY_URL: url } };
}

/** One connection to the hub for as long as it is the same; then one to the next. */
export async function followHub(hub: () => HubPlace, agent: string, role?: string): Promise<() => HubClient> {
  const token = await tokenFor(hub().folder, agent, role === undefined ? {} : { role });
  let at: HubPlace | undefined;
  let client: HubClient | undefined;
  onTestFinished(() => client?.close());
  return () => {
    if (client === undefined || at !== hub()) {
      client?.close();
      at = hub();
      client = clientOf(at.url, agent, token);
    }
    return client;
  };
}

/** Opens a thread between alice and the agent. */
export async function callerOf(hub: () => HubPlace, target_agent_id: string): Promise<Caller> {
  const alice = await followHub(hub, 'alice');
  const ann = await followHub(hub, 'ann', 'operator');
  const thread_id = await createThread(alice(), [target_agent_id]);
  return {
    thread_id,
    async say(body) {
      return ok(await post(alice(), thread_id, body)).message_id;
    },
    async trigger(more = {}) {
      const trigger = { thread_id, target_agent_id, ...more };
      return ok(await alice().call<OutputOf<'trigger_participant'>>('trigger_participant', trigger));
    },
    async woken(message_id) {
      const evidence = { thread_id, message_id };
      return ok(await alice().call<OutputOf<'get_message_evidence'>>('get_message_evidence', evidence)).woken;
    },
    async answers() {
      const messages = await readAll(alice(), thread_id);
      return messages.filter(({ body }) => body === ANSWER).map(({ sender_agent_id }) => sender_agent_id);
    },
    async journal() {
      const about = { of_agent: target_agent_id };
      const { journal_thread_id } = ok(await ann().call<OutputOf<'get_agent'>>('get_agent', about));
      const entries = (await readAll(ann(), journal_thread_id ?? '')) as Entry[];
      return entries.flatMap(({ metadata, created_at }) =>
        metadata?.['trigger_id'] === undefined ? [] : [{ at: Date.parse(created_at), facts: metadata }],
      );
    },
  };
}

type Entry = StoredMessage & { metadata?: Record<string, unknown> };
