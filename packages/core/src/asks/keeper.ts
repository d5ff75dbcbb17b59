import { type Ask, ENTRY_SALT_BOUND } from '@parley/protocol';

import type { Chance, Clock } from '../clock.ts';
import { hubCaller } from '../hub-caller.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store.ts';
import { isOver } from './rules.ts';

/** Puts on record what time has decided: an ask that nobody answered is denied. */
export interface AskKeeper {
  /** Knows of the asks that were open when the hub started, and denies those whose time ran out meanwhile. */
  start(): Promise<void>;
  /** Takes note of an ask as it stands now. */
  watch(ask: Ask): void;
  /** How many asks of an agent are open. */
  openOf(workspaceId: string, agentId: string): number;
  /** The ask as it stands: one whose time is up is denied on record first, so that nobody reads a verdict that may yet change. */
  settle(ask: Ask): Promise<Ask>;
  /** Does so for all whose time is up. */
  settleAll(): Promise<void>;
  close(): void;
}

type Watched = Pick<Ask, 'ask_id' | 'workspace_id' | 'agent_id' | 'thread_id' | 'expires_at'>;

const LOOK_MS = 250;

/** The keeper of one process; it writes under the hub's own name. */
export function createAskKeeper(
  store: Store,
  log: () => Log,
  clock: Clock,
  chance: Chance,
  onFault: (error: unknown) => void,
): AskKeeper {
  const open = new Map<string, Watched>();
  const countByAgent = new Map<string, number>();
  const expiring = new Map<string, Promise<Ask>>();
  let timer: NodeJS.Timeout | undefined;

  function count(workspaceId: string, agentId: string, step: number): void {
    const name = JSON.stringify([workspaceId, agentId]);
    const next = (countByAgent.get(name) ?? 0) + step;
    if (next === 0) countByAgent.delete(name);
    else countByAgent.set(name, next);
  }

  function forget({ ask_id, workspace_id, agent_id }: Watched): void {
    if (!open.delete(ask_id)) return;
    count(workspace_id, agent_id, -1);
    if (open.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function watch(ask: Ask): void {
    const { ask_id, workspace_id, agent_id, thread_id, expires_at } = ask;
    if (ask.status !== 'open') return forget(ask);
    if (open.has(ask_id)) return;
    open.set(ask_id, { ask_id, workspace_id, agent_id, thread_id, expires_at });
    count(workspace_id, agent_id, 1);
    timer ??= setInterval(() => void settleAll().catch(onFault), LOOK_MS).unref();
  }

  async function write({ workspace_id, thread_id, ask_id }: Watched): Promise<Ask> {
    const caller = hubCaller(workspace_id);
    const salt = chance.below(ENTRY_SALT_BOUND);
    const head = { caller, now: clock.now(), salt, thread_id, ask_id };
    const { result } = await log().append({ type: 'expire_ask', ...head, input: {} });
    const ask = result['ask'] as Ask;
    watch(ask);
    return ask;
  }

  /** However many ask for it, it is written once; where that fails it is tried again. */
  function expire(ask: Watched): Promise<Ask> {
    const running = expiring.get(ask.ask_id);
    if (running !== undefined) return running;
    const written = write(ask).finally(() => expiring.delete(ask.ask_id));
    expiring.set(ask.ask_id, written);
    return written;
  }

  async function settleAll(): Promise<void> {
    const now = clock.now();
    const over = [...open.values()].filter((ask) => isOver(ask, now));
    await Promise.all(over.map(expire));
  }

  return {
    async start() {
      const query = { kind: 'ask', workspace_id: undefined, marks: ['open'], limit: 1_000_000 } as const;
      for (const ask of await store.records(query)) watch(ask);
      await settleAll().catch(onFault);
    },
    watch,
    openOf: (workspaceId, agentId) => countByAgent.get(JSON.stringify([workspaceId, agentId])) ?? 0,
    settle: async (ask) => (ask.status === 'open' && isOver(ask, clock.now()) ? expire(ask) : ask),
    settleAll,
    close: () => clearInterval(timer),
  };
}
