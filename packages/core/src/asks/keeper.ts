import type { Ask } from '@parley/protocol';

import type { Links } from '../agents/ports.ts';
import type { Patience } from '../agents/state.ts';
import type { Chance, Clock } from '../clock.ts';
import { commandHead } from '../command-head.ts';
import { hubCaller } from '../hub-caller.ts';
import { keepTrying } from '../keep-trying.ts';
import type { Log } from '../log.ts';
import { everyRecord } from '../record-pages.ts';
import type { Store } from '../store.ts';
import { createGoneRaisers, type GoneRaisers, type Raised } from './gone-raisers.ts';
import { isOver } from './rules.ts';

/** Puts on record what time has decided: an ask that nobody answered is denied, one whose agent is gone withdrawn. */
export interface AskKeeper {
  /** Knows of the asks that are open, denies those whose time ran out meanwhile, and looks on until it is closed. */
  start(): Promise<void>;
  /** Knows of the asks that are open, also of those that others have raised. */
  reload(): Promise<void>;
  /** Takes note of an ask as it stands now. */
  watch(ask: AskNews): void;
  /** Does so where another node has told of it. */
  heard(ask: AskNews): void;
  /** Does so once it can be read, where nobody knows how it stands: its writer was told of an error. */
  lookUp(workspaceId: string, askId: string): void;
  /** How many asks of an agent are open. */
  openOf(workspaceId: string, agentId: string): number;
  /** The ask as it stands: one whose time is up is denied on record first, so that nobody reads a verdict that may yet change. */
  settle(ask: Ask): Promise<Ask>;
  /** Does so for all whose time is up. */
  settleAll(): Promise<void>;
  /** Withdraws those whose agent has been gone for as long as it may. */
  dropLost(): Promise<void>;
  /** The asks as people read them: one that its agent has yet to take says whether that is gone. */
  shown(asks: readonly Ask[]): Promise<Ask[]>;
  /** The agent waits for the verdict until this is called. */
  waits: GoneRaisers['waits'];
  close(): void;
}

/** What is told of an ask. */
export type AskNews = Watched & Pick<Ask, 'status'>;

type Watched = Raised & Pick<Ask, 'thread_id' | 'expires_at'>;

export interface AskKeeperDeps {
  store: Store;
  log: Log;
  /** The log as the one writes to it who looks by itself; others read asks, and settle what they read. */
  ownLog?: Pick<Log, 'append'>;
  clock: Clock;
  chance: Chance;
  links: Pick<Links, 'session'>;
  patience: Patience;
  /** Whether it is this process that looks, where several know of the asks. */
  isOwner?: () => boolean;
  /** Hears how asks stand that were written here. */
  onNews?: (ask: AskNews) => void;
  /** In this workspace an agent with open asks was found to be gone, or to be back. */
  onGone: (workspaceId: string) => void;
  onFault: (error: unknown) => void;
}

const LOOK_MS = 250;
/** Every so many looks it is seen who is gone. */
const LOOKS = 4;

/** The keeper of one process; it writes under the hub's own name. */
export function createAskKeeper(deps: AskKeeperDeps): AskKeeper {
  const { store, log, ownLog = log, clock, patience, onGone, onFault } = deps;
  const raisers = createGoneRaisers(deps);
  /** When each ask was first seen to have lost its agent, by a clock that stands still while the machine sleeps. */
  const lostAt = new Map<string, number>();
  let looks = 0;
  const open = new Map<string, Watched>();
  const countByAgent = new Map<string, number>();
  const ending = new Map<string, Promise<Ask>>();
  let timer: NodeJS.Timeout | undefined;
  let closing = new AbortController();

  function count(workspaceId: string, agentId: string, step: number): void {
    const name = JSON.stringify([workspaceId, agentId]);
    const next = (countByAgent.get(name) ?? 0) + step;
    if (next === 0) countByAgent.delete(name);
    else countByAgent.set(name, next);
  }

  function forget({ ask_id, workspace_id, agent_id }: Watched): void {
    lostAt.delete(ask_id);
    if (!open.delete(ask_id)) return;
    count(workspace_id, agent_id, -1);
    if (open.size === 0) rest();
  }

  function rest(): void {
    clearInterval(timer);
    timer = undefined;
  }

  function beginToLook(): void {
    if (closing.signal.aborted || open.size === 0) return;
    timer ??= setInterval(() => void look().catch(onFault), LOOK_MS).unref();
  }

  function watch(ask: AskNews): void {
    heard(ask);
    deps.onNews?.({ ...fieldsOf(ask), status: ask.status });
  }

  function heard(ask: AskNews): void {
    const { ask_id, workspace_id, agent_id } = ask;
    if (ask.status !== 'open') return forget(ask);
    if (open.has(ask_id)) return;
    open.set(ask_id, fieldsOf(ask));
    count(workspace_id, agent_id, 1);
    beginToLook();
  }

  function lookUp(workspace_id: string, askId: string): void {
    const query = { kind: 'ask', workspace_id, keys: [askId], limit: 1 } as const;
    keepTrying(
      () => store.records(query),
      closing.signal,
      () => {},
    ).then(([ask]) => ask && heard(ask), onFault);
  }

  async function look(): Promise<void> {
    if (deps.isOwner?.() === false) return;
    await settleAll(ownLog);
    if (++looks % LOOKS === 0) await dropLost();
  }

  async function write(
    to: Pick<Log, 'append'>,
    { workspace_id, thread_id, ask_id }: Watched,
    since?: number,
  ): Promise<Ask> {
    const head = { ...commandHead(deps, hubCaller(workspace_id)), thread_id, ask_id };
    const { result } = await to.append(
      since === undefined
        ? { type: 'expire_ask', ...head, input: {} }
        : { type: 'drop_ask', ...head, input: { gone_since: new Date(since).toISOString() } },
    );
    const ask = result.ask;
    watch(ask);
    return ask;
  }

  /** However many ask for it, it is written once; where that fails it is tried again. */
  function end(to: Pick<Log, 'append'>, ask: Watched, since?: number): Promise<Ask> {
    const running = ending.get(ask.ask_id);
    if (running !== undefined) return running;
    const written = write(to, ask, since).finally(() => ending.delete(ask.ask_id));
    ending.set(ask.ask_id, written);
    return written;
  }

  async function dropLost(): Promise<void> {
    const gone = await raisers.find([...open.values()]);
    const now = clock.monotonic();
    const changed = new Set<string>();
    const over: Promise<Ask>[] = [];
    for (const ask of open.values()) {
      const since = gone.get(ask.ask_id);
      const known = lostAt.get(ask.ask_id);
      if ((since === undefined) !== (known === undefined)) changed.add(ask.workspace_id);
      if (since === undefined) lostAt.delete(ask.ask_id);
      else if (known === undefined) lostAt.set(ask.ask_id, now);
      else if (now - known >= patience.returnMs) {
        lostAt.delete(ask.ask_id);
        over.push(end(ownLog, ask, since));
      }
    }
    await Promise.all(over);
    for (const workspace of changed) onGone(workspace);
  }

  async function settleAll(to: Pick<Log, 'append'> = log): Promise<void> {
    const now = clock.now();
    const over = [...open.values()].filter((ask) => isOver(ask, now));
    await Promise.all(over.map((ask) => end(to, ask)));
  }

  async function reload(): Promise<void> {
    const known = new Set(open.keys());
    for await (const ask of everyRecord(store, 'ask', 'open', (one) => one.ask_id)) {
      known.delete(ask.ask_id);
      heard(ask);
    }
    // What was known before and is not open any more was settled by another.
    for (const askId of known) {
      const ask = open.get(askId);
      if (ask !== undefined) lookUp(ask.workspace_id, askId);
    }
  }

  return {
    reload,
    async start() {
      if (closing.signal.aborted) closing = new AbortController();
      await reload();
      beginToLook();
      await settleAll(ownLog).catch(onFault);
    },
    watch,
    heard,
    lookUp,
    openOf: (workspaceId, agentId) => countByAgent.get(JSON.stringify([workspaceId, agentId])) ?? 0,
    settle: async (ask) => (ask.status === 'open' && isOver(ask, clock.now()) ? end(log, ask) : ask),
    settleAll: () => settleAll(),
    dropLost,
    async shown(asks) {
      const gone = await raisers.find(asks.filter(({ status }) => status !== 'resolved'));
      return asks.map((ask) => {
        const since = gone.get(ask.ask_id);
        return since === undefined ? ask : { ...ask, agent_gone_since: new Date(since).toISOString() };
      });
    },
    waits: (askId) => raisers.waits(askId),
    close() {
      closing.abort();
      rest();
    },
  };
}

function fieldsOf(ask: Watched): Watched {
  const { ask_id, workspace_id, agent_id, session_id, thread_id, created_at, expires_at } = ask;
  return { ask_id, workspace_id, agent_id, session_id, thread_id, created_at, expires_at };
}
