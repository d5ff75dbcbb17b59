import type { AGENT_EVENTS, Role } from '@parley/protocol';

import type { Clock } from '../clock.ts';
import type { CommandBody, Outcome, Sealed, Trouble } from './command-port.ts';

/** How an agent is, in its own words. */
export interface LiveStatus {
  /** What it calls itself: its own name, or that of one of its instances. */
  name: string;
  status: 'online' | 'offline' | 'busy' | 'error';
  capabilities: string[];
  last_seen?: string;
  metadata?: Record<string, unknown>;
}

/** What an agent says that has happened. */
export interface LiveEvent {
  name: string;
  event_type: (typeof AGENT_EVENTS)[number];
  data: Record<string, unknown>;
  /** The thread in which it is kept. */
  thread_id?: string;
}

interface LiveBodies {
  /** `executor` is how the agent has registered that it carries out commands. */
  command: { body: CommandBody | Sealed; from_role: Role; executor?: string };
  status_request: { from_role: Role };
  status: { body: LiveStatus | Sealed };
  event: { body: LiveEvent | Sealed };
  error: { body: Trouble | Sealed };
}

/** What is sent to those who are connected, as plain data; each face puts it on its wire in that wire's words. */
export type LiveUpdate<T extends keyof LiveBodies = keyof LiveBodies> = {
  [K in T]: { type: K; id: string; at: string; from: string; to?: string } & LiveBodies[K];
}[T];

/** How an agent is, when somebody asks; `by` the hub where the agent is away. */
export type StatusOutcome = Outcome<{ status: LiveStatus | Sealed }>;

/** Makes updates with fresh ids and the hub's own time. */
export interface Updates {
  make<T extends keyof LiveBodies>(
    type: T,
    from: string,
    to: string | undefined,
    rest: LiveBodies[T],
  ): LiveUpdate<T>;
}

export function createUpdates(clock: Clock, newId: () => string): Updates {
  return {
    make(type, from, to, rest) {
      const head = { type, id: newId(), at: new Date(clock.now()).toISOString(), from };
      // Type and body belong together by the signature, which the compiler forgets where they are joined.
      return { ...head, ...(to === undefined ? {} : { to }), ...rest } as never;
    },
  };
}
