import type { Ask, AskVerdict, InputOf, OutputOf } from '@parley/protocol';

import { type Client, createClient } from './client.ts';
import { createPatience } from './patience.ts';
import { openPresence, type Presence, type PresenceOptions } from './presence.ts';
import type { CallOptions, ClientOptions } from './transport.ts';

export interface AgentOptions extends ClientOptions, PresenceOptions {}

/** An agent at the hub: it is there, takes commands and asks people. */
export interface Agent extends Presence {
  /** Everything else the hub can do, as this agent. */
  client: Client;
  /** Reports a task's course, a warning or an error. */
  event(
    event_type: InputOf<'report_event'>['event_type'],
    data?: Record<string, unknown>,
    thread_id?: string,
  ): Promise<OutputOf<'report_event'>>;
  /** Puts something before a person and waits for the verdict, over restarts of the hub too; denied when time runs out. */
  ask(ask: InputOf<'raise_ask'>, options?: CallOptions): Promise<AskVerdict>;
}

const WAIT_MS = 60_000;

/** Registers an agent and keeps it alive until it is closed. */
export async function openAgent(options: AgentOptions): Promise<Agent> {
  const client = createClient(options);
  return {
    ...(await openPresence(client, options)),
    client,
    event: (event_type, data = {}, thread_id) =>
      client.report_event({ event_type, data, ...(thread_id === undefined ? {} : { thread_id }) }),
    ask: (ask, callOptions = {}) => awaitVerdict(client, ask, callOptions),
  };
}

async function awaitVerdict(
  client: Client,
  raising: InputOf<'raise_ask'>,
  options: CallOptions,
): Promise<AskVerdict> {
  let { ask }: { ask: Ask } = await client.raise_ask(raising, options);
  // The ask stands at the hub, whatever happens to the connection: there is no reason to give up on it.
  const patience = createPatience(Infinity);
  for (;;) {
    try {
      ({ ask } = await client.wait_for_ask({ ask_id: ask.ask_id, timeout_ms: WAIT_MS }, options));
      if (ask.verdict !== undefined) return ask.verdict;
      patience.renew();
    } catch (error) {
      options.signal?.throwIfAborted();
      await patience.wait(error, options.signal);
    }
  }
}
