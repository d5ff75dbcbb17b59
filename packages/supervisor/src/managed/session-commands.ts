import { setTimeout as sleep } from 'node:timers/promises';

import type { CommandHandler } from '@parley/client';
import {
  ParleyError,
  SESSION_COMMANDS,
  type SessionCommand,
  type SessionInput,
  type SessionOutput,
  keysOf,
  tableOf,
  issueWords,
} from '@parley/protocol';
import { RuntimeError } from '@parley/runtimes';

import type { OpenAsks } from './asks.ts';
import type { LastingSession } from './lasting-session.ts';
import type { Turns } from './turns.ts';

interface RunningSession {
  session: LastingSession;
  turns: Turns;
  asks: Pick<OpenAsks, 'count'>;
  /** Ends the session for good, by word of somebody. */
  stop: (by: string) => void;
}

type Acts = {
  [C in SessionCommand]: (
    running: RunningSession,
    input: SessionInput<C>,
    by: string,
  ) => SessionOutput<C> | Promise<SessionOutput<C>>;
};

const ACTS: Acts = {
  session_state: ({ session, turns, asks }) => ({
    state: asks.count > 0 ? 'blocked' : turns.state,
    session_id: session.facts.sessionId,
    can_steer: session.facts.can.steer,
    waiting: turns.waiting,
  }),
  session_deliver: deliver,
  prompt: ({ turns }, { prompt }) => ({ accepted: true, queued: turns.queue(prompt) }),
  cancel: async ({ session }) => ({ cancelled: await session.cancel() }),
  stop({ turns, stop }, _input, by) {
    const was_working = turns.state === 'working';
    stop(by);
    return { stopping: true, was_working };
  },
};

async function deliver(
  { session, turns, asks }: RunningSession,
  { text, steer, thread_id }: Pick<SessionInput<'session_deliver'>, 'text' | 'steer' | 'thread_id'>,
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
    return { result: 'started', proof: await turns.begin(text, 'wake', thread_id).started, session_id };
  } catch (error) {
    if (!(error instanceof RuntimeError && error.code === 'BUSY')) throw error;
    return { result: 'deferred', reason: asks.count > 0 ? 'blocked' : 'working', session_id };
  }
}

const KEPT = 200;
/** How long whoever delivers waits for the proof at once. */
const QUEUED_MS = 5_000;

/** The handlers of every command, checked by schema; a delivery that comes twice is given once. */
export function createSessionCommands(running: RunningSession): Record<SessionCommand, CommandHandler> {
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
    async (parameters, { agentId }) => {
      const parsed = SESSION_COMMANDS[name].input.safeParse(parameters);
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        const field = issue?.path.join('.') ?? '';
        throw new ParleyError('VALIDATION_ERROR', `${field}: ${issueWords(issue, parameters)}`, { field });
      }
      // It was parsed by the schema of this very command.
      const input = parsed.data as SessionInput<C>;
      if (name !== 'session_deliver') return ACTS[name](running, input, agentId);
      // As above, for the one command that is left.
      const { delivery_id, ...what } = input as SessionInput<'session_deliver'>;
      const { steer } = what;
      const given = once(delivery_id, () => deliver(running, what));
      if (!steer) return given;
      const { sessionId: session_id } = running.session.facts;
      const queued = { result: 'queued', reason: 'working', session_id } as const;
      // A turn may be long: whoever waits is told that it has it, and asks again.
      return Promise.race([given, sleep(QUEUED_MS, queued, { ref: false })]);
    };
  return tableOf(keysOf(SESSION_COMMANDS), (name) => handler(name));
}
