import { type Command, journalId, workspaceTag } from '@parley/core';
import { type Caller, threadId, ulid } from '@parley/protocol';
import { openSqliteStore } from '@parley/store-sqlite';

import { freshFolder, type HubProcess, removeFolder, startHub } from './hub-process.ts';
import { cpuSeconds } from './load.ts';
import { hold, line } from './report.ts';

const FEW = 100;
const MANY = 10_000;
const CALLS = 100;
const ROUNDS = 3;
const WORKSPACE = 'default';

/** What a page of 50 costs in a workspace of many agents, sessions and threads, beside one of few, in alternating rounds. */
export async function benchLists(): Promise<void> {
  const small = await prepare(FEW);
  const large = await prepare(MANY);
  try {
    for (const [what, call] of Object.entries(PAGES)) {
      for (const place of [small, large]) await cost(place, call, CALLS);
      const ratios: number[] = [];
      let ms = 0;
      for (let round = 0; round < ROUNDS; round++) {
        const reference = await cost(small, call, CALLS);
        ms = await cost(large, call, CALLS);
        ratios.push(ms / reference);
      }
      const middle = ratios.toSorted((a, b) => a - b)[ROUNDS >> 1] ?? 0;
      const figure = `${ms.toFixed(2)} ms CPU among ${MANY}, ${middle.toFixed(2)} of that among ${FEW}`;
      hold('lists.page', middle, { what, figure });
    }
    const { agents } = await large.hub.call<{ agents: unknown[] }>(large.person, 'list_agents', {});
    line('an answer of list_agents', `${Math.round(JSON.stringify(agents).length / 1_000)} kB`);
  } finally {
    for (const { hub } of [small, large]) {
      await hub.stop();
      removeFolder(hub.data);
    }
  }
}

interface Place {
  hub: HubProcess;
  person: string;
  worker: string;
}

type Call = (place: Place) => Promise<unknown>;

const page = { limit: 50 };

const PAGES: Record<string, Call> = {
  'a page of agents': ({ hub, person }) => hub.call(person, 'list_agents', page),
  'a page of agents after a post': async ({ hub, person, worker }) => {
    await hub.call(worker, 'post_message', { schema_version: 1, thread_id: threadOf(7), body: 'x' });
    return hub.call(person, 'list_agents', page);
  },
  'a page of sessions': ({ hub, person }) => hub.call(person, 'list_sessions', page),
  'a page of threads for a person': ({ hub, person }) => hub.call(person, 'list_threads', page),
  'a page of threads for a participant': ({ hub, worker }) => hub.call(worker, 'list_threads', page),
  'a page of unread threads': ({ hub, worker }) =>
    hub.call(worker, 'list_threads', { ...page, unread: true }),
};

/** Milliseconds of CPU of the hub for one call. */
async function cost(place: Place, call: Call, calls: number): Promise<number> {
  const before = cpuSeconds(place.hub.pid);
  for (let i = 0; i < calls; i++) await call(place);
  return ((cpuSeconds(place.hub.pid) - before) * 1_000) / calls;
}

async function prepare(count: number): Promise<Place> {
  const data = freshFolder();
  await (await startHub(data)).stop();
  await fill(data, count);
  const hub = await startHub(data);
  return { hub, person: hub.token('ann', 'operator'), worker: hub.token('bob', 'worker') };
}

function threadOf(n: number): string {
  return threadId(ulid(1_000_000 + n, new Uint8Array(16)), workspaceTag(WORKSPACE));
}

/** Agents with a session each, and a thread of bob with each of them in which the last word is the agent's. */
async function fill(folder: string, count: number): Promise<void> {
  const store = await openSqliteStore({ folder, maxQueue: 100_000, maxBatch: 1_000, onFault: () => {} });
  const now = Date.now() - 60_000;
  const bob = callerOf('bob');
  const commands = (n: number): Command[] => {
    const caller = callerOf(`agent-${String(n).padStart(5, '0')}`);
    const { agent_id, workspace_id } = caller;
    const head = { now: now + n, salt: n };
    const thread_id = threadOf(n);
    const beat = {
      runtime: 'codex',
      status: 'idle',
      resumable: false,
      management_mode: 'unmanaged',
    } as const;
    const input = { title: `with ${agent_id}`, type: 'conversation' as const, participants: [agent_id] };
    const message = { schema_version: 1, kind: 'chat' as const, body: 'The mapper is ready.' };
    return [
      {
        type: 'register_agent',
        ...head,
        caller,
        thread_id: journalId(workspace_id, agent_id),
        input: { name: agent_id, type: 'custom', capabilities: [] },
      },
      { type: 'heartbeat', ...head, caller, input: beat },
      { type: 'create_thread', ...head, caller: bob, thread_id, input },
      { type: 'post_message', ...head, caller, thread_id, input: message },
    ];
  };
  for (let done = 0; done < count; done += 500)
    for (const step of [0, 1, 2, 3])
      await Promise.all(
        Array.from({ length: Math.min(500, count - done) }, (_, i) =>
          store.transact(commands(done + i)[step] as Command),
        ),
      );
  await store.close();
}

function callerOf(agent_id: string): Caller {
  return { agent_id, workspace_id: WORKSPACE, role: 'worker', session_id: `${agent_id}-1` };
}
