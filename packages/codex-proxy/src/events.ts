import type { CodexEvent } from '@parley/runtimes';

import type { Params } from './wire/message.ts';

export interface EventsDeps {
  notify: (method: string, params: Params) => boolean;
  /** True where the child's own words are MCP's. */
  isMcp: () => boolean;
  agentOf: (threadId: string) => string | undefined;
  /** True while a session waits to learn its thread's id. */
  someStarting: () => boolean;
  /** Hears what is passed on, each with its session. */
  heard: (agentId: string, event: CodexEvent) => void;
}

/** Passes the child's events on to the client, each with its session; what the client cannot take is counted. */
export interface Events {
  take(event: CodexEvent): void;
  /** The thread has a session now: what came before goes out. */
  threadKnown(threadId: string): void;
  dropped(agentId: string): number;
  droppedInAll(): number;
}

const MOST_EARLY = 1_000;

/** Events are never altered, held back or queued, save those that come before their session knows its thread. */
export function createEvents({ notify, isMcp, agentOf, someStarting, heard }: EventsDeps): Events {
  let early: CodexEvent[] = [];
  let inAll = 0;
  const droppedByAgent = new Map<string, number>();

  const pass = (event: CodexEvent, agentId: string | undefined): void => {
    if (agentId !== undefined) heard(agentId, event);
    if (notify('codex/event', { ...paramsOf(event), agent_id: agentId ?? null })) return;
    inAll += 1;
    if (agentId !== undefined) droppedByAgent.set(agentId, (droppedByAgent.get(agentId) ?? 0) + 1);
  };

  return {
    take(event) {
      if (event.method !== 'codex/event' && isMcp()) {
        if (!notify(event.method, event.params)) inAll += 1;
        return;
      }
      const agentId = event.threadId === undefined ? undefined : agentOf(event.threadId);
      if (agentId !== undefined || event.threadId === undefined || !someStarting())
        return pass(event, agentId);
      if (early.length < MOST_EARLY) early.push(event);
      else inAll += 1;
    },
    threadKnown(threadId) {
      const now = early.filter((event) => event.threadId === threadId);
      early = early.filter((event) => event.threadId !== threadId);
      for (const event of now) pass(event, agentOf(threadId));
    },
    dropped: (agentId) => droppedByAgent.get(agentId) ?? 0,
    droppedInAll: () => inAll,
  };
}

/** An event of mcp-server goes as it came; one of app-server whole inside the same frame. */
function paramsOf({ method, params, threadId, turnId }: CodexEvent): Params {
  if (method === 'codex/event') return params;
  return { _meta: { threadId: threadId ?? null }, id: turnId ?? '', msg: { type: method, params } };
}
