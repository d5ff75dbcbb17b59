import { setTimeout as sleep } from 'node:timers/promises';

import { type Client, createClient } from '@parley/client';
import type { Ask, OutputOf } from '@parley/protocol';
import { afterAll, beforeEach } from 'vitest';

import { freshFolder, type HubProcess, startHub } from '../harness/start-hub.ts';
import { issueToken } from '../harness/tokens.ts';

type AgentView = OutputOf<'list_agents'>['agents'][number];

/** A hub, a workspace of it, and a person who looks at that. */
export interface HubScene {
  readonly hub: HubProcess;
  data: string;
  workspace: string;
  person: Client;
  /** What the proxy needs in order to find the hub and the workspace. */
  env: Record<string, string>;
  /** Kills the hub. */
  kill(): Promise<void>;
  /** Starts another on its folder, at another port. */
  start(): Promise<void>;
  /** Waits until an agent is in a state, and gives what is known of it. */
  seen(agent: string, state: AgentView['state'], reason?: RegExp): Promise<AgentView>;
  /** Waits for the one open ask. */
  ask(): Promise<Ask>;
  /** Waits until an ask is no longer open. */
  settled(ask_id: string): Promise<Ask>;
  /** What the journal of an agent says, oldest first. */
  journal(agent: string): Promise<{ body: string; metadata: Record<string, unknown> }[]>;
}

/** The one hub of a file. */
interface House {
  readonly hub: HubProcess;
  data: string;
  isUp: boolean;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** For a test file: one hub, where each test has a workspace of its own; the next test finds it started again. */
export function useHubScene(): () => HubScene {
  let house: House | undefined;
  let scene: HubScene | undefined;
  let tests = 0;
  beforeEach(async () => {
    house ??= await openHouse();
    if (!house.isUp) await house.start();
    tests += 1;
    scene = await openScene(house, `w${tests}`);
  });
  afterAll(() => house?.kill());
  return () => {
    if (scene === undefined) throw new Error('the hub has not started yet');
    return scene;
  };
}

async function openHouse(): Promise<House> {
  const data = freshFolder();
  let hub = await startHub({ data });
  const house: House = {
    get hub() {
      return hub;
    },
    data,
    isUp: true,
    kill() {
      house.isUp = false;
      return hub.kill();
    },
    async start() {
      hub = await startHub({ data });
      house.isUp = true;
    },
  };
  return house;
}

async function openScene(house: House, workspace: string): Promise<HubScene> {
  const { data } = house;
  const { token } = await issueToken({ agent: 'ann', workspace, role: 'operator' }, { data });
  const person = createClient({ url: () => house.hub.url, token });
  return {
    get hub() {
      return house.hub;
    },
    data,
    workspace,
    person,
    env: { PARLEY_DATA: data, PARLEY_WORKSPACE: workspace },
    kill: () => house.kill(),
    start: () => house.start(),
    seen: (agent, state, reason = /(?:)/) =>
      eventually(async () => {
        const { agents } = await person.list_agents();
        return agents.find(
          (view) => view.agent_id === agent && view.state === state && reason.test(view.reason),
        );
      }),
    ask: () => eventually(async () => (await person.list_asks()).asks[0]),
    settled: (ask_id) =>
      eventually(async () => {
        const { ask } = await person.get_ask({ ask_id });
        return ask.status === 'resolved' ? ask : undefined;
      }),
    async journal(agent) {
      const { journal_thread_id } = await person.get_agent({ of_agent: agent });
      if (journal_thread_id === null) return [];
      const reported: { body: string; metadata: Record<string, unknown> }[] = [];
      for (let since_seq = 0; ;) {
        const page = await person.read_messages({ thread_id: journal_thread_id, since_seq, limit: 200 });
        reported.push(...page.messages.map(({ body, metadata = {} }) => ({ body, metadata })));
        if (!page.has_more) return reported;
        since_seq = page.next_seq;
      }
    },
  };
}

/** Looks again until there is something; the test's own time is the limit. */
export async function eventually<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    await sleep(40);
  }
}
