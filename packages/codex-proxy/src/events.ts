import type { CodexEvent } from '@parley/runtimes';

import { eventMessage } from './event-words.ts';
import type { Params, RpcId } from './wire/message.ts';

export interface EventsDeps {
  notify: (method: string, params: Params) => boolean;
  /** True where the child's own words are MCP's. */
  isMcp: () => boolean;
  agentOf: (threadId: string) => string | undefined;
  /** The client's own request whose turn a session runs. */
  requestOf: (agentId: string) => RpcId | undefined;
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
export function createEvents(deps: EventsDeps): Events {
  const { notify, isMcp, agentOf, requestOf, someStarting, heard } = deps;
  let early: CodexEvent[] = [];
  let inAll = 0;
  const droppedByAgent = new Map<string, number>();

  const pass = (event: CodexEvent, agentId: string | undefined): void => {
    if (agentId !== undefined) heard(agentId, event);
    const request = agentId === undefined ? undefined : requestOf(agentId);
    if (notify('codex/event', { ...paramsOf(event, request), agent_id: agentId ?? null })) return;
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

/** An event of mcp-server goes as it came, one of app-server in the same frame; the request is the client's, where it has one. */
function paramsOf({ threadId, ...event }: CodexEvent, requestId: RpcId | undefined): Params {
  const request = requestId === undefined ? {} : { requestId };
  if (event.method !== 'codex/event') {
    const { turnId = '' } = event;
    return {
      _meta: { ...request, threadId: threadId ?? null },
      id: turnId,
      msg: eventMessage({ ...event, threadId }),
    };
  }
  // The id that the child knows is the proxy's own.
  const { requestId: _own, ...meta } = (event.params['_meta'] ?? {}) as Params;
  return { ...event.params, _meta: { ...request, ...meta } };
}
