import { setTimeout as sleep } from 'node:timers/promises';

import { type AgentOptions, openAgent } from '@parley/client';
import {
  type ChildExit,
  type ManagedFacts,
  type ManagedOptions,
  type OpenManaged,
  publicText,
} from '@parley/runtimes';

import type { FoundHub } from '../hub-link.ts';
import { openSessionLink, type SessionLink } from '../link/index.ts';
import { createAsks, type OpenAsks } from './asks.ts';
import { createSessionCommands } from './session-commands.ts';
import { type Down, openLastingSession, type Restarts } from './lasting-session.ts';
import { createTurns, type Turns } from './turns.ts';

export interface RunManagedOptions {
  open: OpenManaged;
  program: string;
  session: Omit<ManagedOptions, 'on'>;
  /** The agent's name at the hub, and where that is now; throws while there is none. */
  name: string;
  find: () => Promise<FoundHub>;
  /** A token was refused: the next one must be a fresh one. */
  renew: () => void;
  WebSocket: NonNullable<AgentOptions['WebSocket']>;
  restarts: Restarts;
  /** How long a person may take to answer what the session asks. */
  askMs: number;
  /** Called when the session can be resumed from now on. */
  onResumable: (facts: ManagedFacts) => void;
  onNews: (news: ManagedNews) => void;
  /** Ends the session. */
  signal: AbortSignal;
}

/** What the person who started a session is told of it. */
export interface ManagedNews {
  event:
    | 'ready'
    | 'turn_started'
    | 'turn_ended'
    | 'turn_failed'
    | 'ask_open'
    | 'ask_closed'
    | 'hub'
    | 'down'
    | 'back'
    | 'new_session'
    | 'stopped'
    | 'ended';
  message: string;
  facts?: ManagedFacts;
  /** What an ask is about, and where that would run. */
  command?: string;
  cwd?: string;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const TIMEOUT_MS = 10_000;
const PATIENCE_MS = 2_000;
const LEAVE_MS = 1_500;
/** A hub that comes back finds its session within this time. */
const RECONNECT_MS = 2_000;
const CANCEL_MS = 3_000;
/** So much later than its answer a stop takes effect. */
const STOP_MS = 50;

/** Owns one session without a terminal from its start to its end: an agent of the hub, whose approvals are asks. */
export async function runManaged(options: RunManagedOptions): Promise<ChildExit & { isStopped: boolean }> {
  const { onNews, signal, name } = options;
  /** There once the session is up; before its first turn nothing is asked. */
  const parts: { link?: SessionLink; asks?: OpenAsks; turns?: Turns } = {};
  let exited: (exit: ChildExit) => void = () => {};
  const exit = new Promise<ChildExit>((resolve) => (exited = resolve));
  const { resume, ...about } = options.session;
  const session = await openLastingSession({
    open: (old, on) => options.open({ ...about, on, ...(old === undefined ? {} : { resume: old }) }),
    resume,
    restarts: options.restarts,
    on: {
      report: (report) => parts.link?.report(report),
      ask: (ask) => parts.asks?.ask(ask),
      askClosed: (id, how) => parts.asks?.askClosed(id, how),
      exit: (how) => exited(how),
    },
    onDown,
    onBack(facts, isResumed) {
      const message = `${options.program} is back, ${isResumed ? 'and goes on with its session' : 'with a new session'}`;
      metadata.pid = facts.pid;
      tellSession();
      parts.link?.rested();
      parts.link?.report({ event_type: 'info', data: { message, session_id: facts.sessionId } });
      onNews({ event: 'back', message, facts });
      parts.turns?.goOn();
    },
    onForgotten: (why) =>
      onNews({ event: 'new_session', message: `the session of before is gone (${why}): a new one begins` }),
  });
  const { facts } = session;
  const { isResumed } = session;
  /** Read anew at every heartbeat. */
  const beat: { management_mode: 'managed'; resumable: boolean; native_session_id?: string } = {
    management_mode: 'managed',
    resumable: false,
  };
  const metadata = { program: options.program, managed: 'headless', cwd: about.cwd, pid: facts.pid };
  let isKept = isResumed;
  tellSession();

  /** By an id of another form nobody else can go on with it. */
  function tellSession(): void {
    const { sessionId } = session.facts;
    delete beat.native_session_id;
    beat.resumable = session.isResumed && UUID.test(sessionId);
    if (UUID.test(sessionId)) beat.native_session_id = sessionId;
    isKept = session.isResumed;
  }

  function onDown({ why, again }: Down): void {
    const next =
      again === undefined
        ? 'it is not started again'
        : `it is started again in ${Math.ceil(again.inMs / 1_000)} s (${again.attempt} of ${again.of})`;
    const message = `${options.program} is gone (${publicText(why, 300)}): ${next}`;
    parts.link?.rested(message);
    parts.link?.report({ event_type: 'error', data: { message } });
    onNews({ event: 'down', message });
  }

  let heard: 'open' | 'lost' | 'replaced' | undefined;
  const link = openSessionLink({
    async connect(onConnection) {
      await options.find();
      return openAgent({
        url: async () => (await options.find()).url,
        async token() {
          const { token } = await options.find();
          return typeof token === 'string' ? token : token();
        },
        name,
        runtime: facts.runtime,
        metadata,
        session: beat,
        commands,
        WebSocket: options.WebSocket,
        timeoutMs: TIMEOUT_MS,
        reconnectMs: RECONNECT_MS,
        patienceMs: PATIENCE_MS,
        onConnection(state, reason) {
          onConnection(state, reason);
          // One line for a hub that is away, however often it is looked for.
          if (state !== heard)
            onNews({
              event: 'hub',
              message: state === 'open' && heard === 'lost' ? 'the hub is back' : HUB_NEWS[state],
            });
          heard = state;
        },
      });
    },
    renew: options.renew,
    facts: () => metadata,
    askMs: options.askMs,
    log: (_level, message, more) =>
      onNews({ event: 'hub', message: `${message}: ${String(more['message'] ?? more['error'])}` }),
  });
  const turns = createTurns({
    session,
    link,
    onTurn({ turn, message, isGood }) {
      if (turn === 'ended' && isGood) session.fared();
      if (turn === 'started' && !isKept) {
        isKept = true;
        session.worked();
        beat.resumable = 'native_session_id' in beat;
        options.onResumable(session.facts);
      }
      onNews({ event: turn === 'ended' && !isGood ? 'turn_failed' : `turn_${turn}`, message });
    },
  });
  const asks = createAsks({
    link,
    timeoutMs: options.askMs,
    onAsk: ({ ask, ...news }) => onNews({ event: `ask_${ask}`, ...news }),
  });
  Object.assign(parts, { link, asks, turns });
  /** The answer goes out first; then it ends as by a signal, and nothing starts it again. */
  let isStopped = false;
  function stop(by: string): void {
    isStopped = true;
    const message = `${by} has stopped the session`;
    link.report({ event_type: 'info', data: { message, session_id: session.facts.sessionId } });
    onNews({ event: 'stopped', message });
    setTimeout(ending, STOP_MS);
  }

  const commands = createSessionCommands({ session, turns, asks, stop });
  const { runtime, version, sessionId } = facts;
  const which = isResumed ? 'resumed' : 'new';
  onNews({
    event: 'ready',
    message: `${runtime} ${version ?? ''} as ${name}, ${which} session ${sessionId}`,
    facts,
  });

  let isEnding = false;
  /** A turn that is cut off is told so to the program, so that its own record is whole. */
  async function end(): Promise<void> {
    if (isEnding) return;
    isEnding = true;
    asks.close('the session ends');
    const over = turns.close();
    if (turns.state === 'working')
      await Promise.race([session.cancel().then(() => over), sleep(CANCEL_MS)]).catch(() => {});
    await session.close();
  }

  const ending = (): void => void end().catch(() => {});
  signal.addEventListener('abort', ending);
  if (signal.aborted) ending();
  const how = await exit;
  signal.removeEventListener('abort', ending);
  onNews({ event: 'ended', message: `${options.program} has ended` });
  await Promise.race([link.close(), sleep(LEAVE_MS, undefined, { ref: false })]);
  return { ...how, isStopped };
}

const HUB_NEWS = {
  open: 'connected to the hub',
  lost: 'the hub is away; it is looked for, and the session goes on',
  replaced: 'another session of this agent has taken over: the hub no longer reaches this one',
};
