import type { CommandHandler } from '@parley/client';
import {
  ParleyError,
  SESSION_COMMANDS,
  type SessionCommand,
  type SessionInput,
  type SessionOutput,
} from '@parley/protocol';
import { type ManagedSession, RuntimeError } from '@parley/runtimes';

import type { OpenAsks } from './asks.ts';
import type { Turns } from './turns.ts';

interface Desk {
  session: ManagedSession;
  turns: Turns;
  asks: Pick<OpenAsks, 'count'>;
}

type Acts = {
  [C in SessionCommand]: (desk: Desk, input: SessionInput<C>) => SessionOutput<C> | Promise<SessionOutput<C>>;
};

const ACTS: Acts = {
  session_state: ({ session, turns, asks }) => ({
    state: asks.count > 0 ? 'blocked' : turns.state,
    session_id: session.facts.sessionId,
    can_steer: session.facts.can.steer,
    waiting: turns.waiting,
  }),
  session_deliver: (desk, { text, steer }) => deliver(desk, text, steer),
  prompt: ({ turns }, { prompt }) => ({ accepted: true, queued: turns.queue(prompt) }),
  cancel: async ({ session }) => ({ cancelled: await session.cancel() }),
};

async function deliver(
  { session, turns, asks }: Desk,
  text: string,
  steer: boolean,
): Promise<SessionOutput<'session_deliver'>> {
  const { sessionId: session_id, can } = session.facts;
  if (turns.state === 'working' && steer && can.steer)
    try {
      return { result: 'steered', proof: await session.steer(text), session_id };
    } catch (error) {
      // The turn has ended in between: it begins one of its own.
      if (!(error instanceof RuntimeError && error.code === 'REFUSED')) throw error;
    }
  try {
    return { result: 'started', proof: await turns.begin(text, 'wake').started, session_id };
  } catch (error) {
    if (!(error instanceof RuntimeError && error.code === 'BUSY')) throw error;
    return { result: 'deferred', reason: asks.count > 0 ? 'blocked' : 'working', session_id };
  }
}

const KEPT = 200;

/** The handlers of every command, checked by schema; a delivery that comes twice is given once. */
export function createSessionCommands(desk: Desk): Record<SessionCommand, CommandHandler> {
  const deliveries = new Map<string, ReturnType<typeof deliver>>();

  function once(id: string, give: () => ReturnType<typeof deliver>): ReturnType<typeof deliver> {
    const known = deliveries.get(id);
    if (known !== undefined) return known;
    const given = give();
    deliveries.set(id, given);
    const [oldest] = deliveries.keys();
    if (deliveries.size > KEPT && oldest !== undefined) deliveries.delete(oldest);
    const forget = (): void => void deliveries.delete(id);
    // What was not given may be tried again.
    given.then(({ result }) => (result === 'deferred' ? forget() : undefined), forget);
    return given;
  }

  const handler =
    <C extends SessionCommand>(name: C): CommandHandler =>
    async (parameters) => {
      const parsed = SESSION_COMMANDS[name].input.safeParse(parameters);
      if (!parsed.success) {
        const { path = [], message = 'is not valid' } = parsed.error.issues[0] ?? {};
        throw new ParleyError('VALIDATION_ERROR', `${path.join('.')}: ${message}`, { field: path.join('.') });
      }
      const input = parsed.data as SessionInput<C>;
      if (name !== 'session_deliver') return ACTS[name](desk, input);
      const { delivery_id, text, steer } = input as SessionInput<'session_deliver'>;
      return once(delivery_id, () => deliver(desk, text, steer));
    };
  const names = Object.keys(SESSION_COMMANDS) as SessionCommand[];
  return Object.fromEntries(names.map((name) => [name, handler(name)])) as Record<
    SessionCommand,
    CommandHandler
  >;
}
