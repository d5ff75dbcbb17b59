import type { AgentView } from '@parley/protocol';

import { allHeads } from '../all-heads.ts';
import { commandHead } from '../command-head.ts';
import { hubCaller } from '../hub-caller.ts';
import { AGENTS_TOPICS } from '../live/live.ts';
import { pause } from '../pause.ts';
import type { NotifyPorts } from '../ports.ts';
import { everyRecord, takeDue } from '../record-pages.ts';
import { type AgentStateRecord, afterLook, type SeenState, stretchKey } from './stretch.ts';
import { everyAgent, type ViewPorts } from './view.ts';

/** Keeps what each agent was at, so that people can look back over hours and days. */
export interface StateWatcher {
  start(): Promise<void>;
  /** Looks at the agents of these workspaces, or of all, and writes what has changed. */
  look(workspaces?: readonly string[]): Promise<void>;
  /** Forgets what is older than people want to look back. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

export type StateWatcherDeps = ViewPorts &
  Pick<NotifyPorts, 'feed'> & {
    keepMs: number;
    /** When whoever watched before was last there; undefined where nobody knows. */
    ranUntil: number | undefined;
    onFault: (error: unknown) => void;
  };

/** Some get into trouble by mere silence, and nothing rings for that. */
const LOOK_MS = 10_000;
/** What happens within this time is looked at once. */
const REST_MS = 500;
/** A look takes at most the tenth part of the time, however many agents there are. */
const SHARE = 10;
const SWEEP_MS = 3_600_000;
/** So many are written at once: others want to write too. */
const AT_ONCE = 100;
/** So many stretches of one agent are kept at most; beyond that the oldest go, however young they are. */
const MOST = 10_000;

type Open = Map<string, AgentStateRecord>;

/** The watcher of one process; it writes under the hub's own name, and only when an agent has changed. */
export function createStateWatcher(deps: StateWatcherDeps): StateWatcher {
  const { store, log, clock, feed, keepMs, onFault } = deps;
  const closing = new AbortController();
  const openByWorkspace = new Map<string, Open>();
  const written = new Map<string, number>();
  /** Looked at once since this process has the job. */
  const begun = new Set<string>();
  let { ranUntil } = deps;
  let running: Promise<void> = Promise.resolve();

  const openOf = (workspaceId: string): Open => {
    const known = openByWorkspace.get(workspaceId) ?? new Map<string, AgentStateRecord>();
    openByWorkspace.set(workspaceId, known);
    return known;
  };

  async function note(
    workspace_id: string,
    states: readonly AgentStateRecord[],
    drops: readonly string[] = [],
  ): Promise<void> {
    const head = commandHead(deps, hubCaller(workspace_id));
    await log.append({ type: 'note_agent_states', ...head, input: { states, drops } });
    const open = openOf(workspace_id);
    for (const state of states)
      if (state.until === undefined) open.set(state.agent_id, state);
      else if (open.get(state.agent_id)?.from === state.from) open.delete(state.agent_id);
  }

  /** An agent that changes without end keeps no more than others. */
  async function keepFew(workspace_id: string, states: readonly AgentStateRecord[]): Promise<void> {
    for (const { agent_id } of states) {
      const name = `${workspace_id} ${agent_id}`;
      const count = (written.get(name) ?? 0) + 1;
      written.set(name, count % AT_ONCE);
      if (count < AT_ONCE) continue;
      const old = await store.records({
        kind: 'agent_state',
        workspace_id,
        owner: agent_id,
        descending: true,
        offset: MOST,
        limit: 2 * AT_ONCE,
      });
      if (old.length > 0) await note(workspace_id, [], old.map(stretchKey));
    }
  }

  async function lookAt(workspace_id: string): Promise<void> {
    const open = openOf(workspace_id);
    const isFirst = !begun.has(workspace_id);
    const seen = new Set<string>();
    let news: AgentStateRecord[] = [];
    const flush = async (): Promise<void> => {
      if (news.length === 0) return;
      const states = news;
      news = [];
      await note(workspace_id, states);
      await keepFew(workspace_id, states);
    };
    for await (const agent of everyAgent(deps, hubCaller(workspace_id))) {
      if (closing.signal.aborted) return;
      const { agent_id } = agent;
      seen.add(agent_id);
      const who = { agent_id, workspace_id };
      const at = { who, now: clock.now(), ranUntil: isFirst ? ranUntil : undefined };
      news.push(...afterLook(open.get(agent_id), seenOf(agent), at));
      if (news.length >= AT_ONCE) await flush();
    }
    // Whoever was taken off the list is at nothing any more.
    const until = new Date(clock.now()).toISOString();
    for (const [agent_id, state] of open) if (!seen.has(agent_id)) news.push({ ...state, until });
    await flush();
    begun.add(workspace_id);
  }

  async function look(workspaces: readonly string[] = [...openByWorkspace.keys()]): Promise<void> {
    for (const workspace_id of workspaces) if (!closing.signal.aborted) await lookAt(workspace_id);
  }

  async function sweep(): Promise<void> {
    const due_by = new Date(clock.trusted() - keepMs).toISOString();
    await takeDue(store, { kind: 'agent_state', mark: 'over', due_by }, (workspace_id, old) =>
      note(workspace_id, [], old.map(stretchKey)),
    );
  }

  /** Looks when something rings, and at all of them from time to time. */
  async function run(rung: ReturnType<typeof feed.watch>): Promise<void> {
    const { signal } = closing;
    let [lookedAt, sweptAt] = [-Infinity, -Infinity];
    while (!signal.aborted) {
      const at = clock.monotonic();
      const isDue = at - lookedAt >= LOOK_MS;
      const heard = [...rung.take().keys()];
      try {
        for (const name of heard) openOf(name);
        await look(isDue ? undefined : heard);
        if (at - sweptAt >= SWEEP_MS) {
          await sweep();
          sweptAt = at;
        }
      } catch (error) {
        onFault(error);
      }
      if (isDue) lookedAt = at;
      const took = clock.monotonic() - at;
      await pause(Math.max(REST_MS, took * SHARE), signal);
      const rest = new AbortController();
      const left = lookedAt + LOOK_MS - clock.monotonic();
      const both = AbortSignal.any([signal, rest.signal]);
      await Promise.race([rung.next(both), pause(Math.max(0, left), both)]);
      rest.abort();
    }
    rung.close();
  }

  return {
    async start() {
      const rung = feed.watch(AGENTS_TOPICS);
      for await (const state of everyRecord(store, 'agent_state', 'now', stretchKey)) {
        openOf(state.workspace_id).set(state.agent_id, state);
        // It ran then, whatever else is on record of it.
        if (ranUntil !== undefined) ranUntil = Math.max(ranUntil, Date.parse(state.from));
      }
      for await (const { workspace_id } of allHeads(store)) openOf(workspace_id);
      running = run(rung).catch(onFault);
    },
    look,
    sweep,
    async close() {
      closing.abort();
      await running;
    },
  };
}

/** What is kept of how an agent is. */
function seenOf({ state, reason, since, waits_for, failure, presence }: AgentView): SeenState {
  const writes = presence.find((one) => one.state === 'thinking' || one.state === 'typing');
  const thread_id =
    state === 'error' ? failure?.thread_id : state === 'working' ? writes?.thread_id : undefined;
  return {
    state,
    reason,
    since,
    ...(waits_for === undefined ? {} : { waits_for }),
    ...(thread_id === undefined ? {} : { thread_id }),
  };
}
