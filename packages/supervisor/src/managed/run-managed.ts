import { setTimeout as sleep } from 'node:timers/promises';

import { type AgentOptions, openAgent } from '@parley/client';
import type { ChildExit, ManagedFacts, ManagedOptions, ManagedSession, OpenManaged } from '@parley/runtimes';

import type { FoundHub } from '../hub-link.ts';
import { openSessionLink, type SessionLink } from '../link/index.ts';
import { createAsks, type OpenAsks } from './asks.ts';
import { createSessionCommands } from './session-commands.ts';
import { createTurns } from './turns.ts';

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
  event: 'ready' | 'turn_started' | 'turn_ended' | 'ask_open' | 'ask_closed' | 'hub' | 'ended';
  message: string;
  facts?: ManagedFacts;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const TIMEOUT_MS = 10_000;
const PATIENCE_MS = 2_000;
const LEAVE_MS = 1_500;
const CANCEL_MS = 3_000;

/** Owns one session without a terminal from its start to its end: an agent of the hub, whose approvals are asks. */
export async function runManaged(options: RunManagedOptions): Promise<ChildExit> {
  const { onNews, signal, name } = options;
  /** There once the session is up; before its first turn nothing is asked. */
  const desk: { link?: SessionLink; asks?: OpenAsks } = {};
  let exited: (exit: ChildExit) => void = () => {};
  const exit = new Promise<ChildExit>((resolve) => (exited = resolve));
  const session: ManagedSession = await options.open({
    ...options.session,
    on: {
      report: (report) => desk.link?.report(report),
      ask: (ask) => desk.asks?.ask(ask),
      askClosed: (id, how) => desk.asks?.askClosed(id, how),
      exit: (how) => exited(how),
    },
  });
  const { facts } = session;
  const isResumed = options.session.resume !== undefined;
  let isKept = isResumed;
  /** Read anew at every heartbeat. */
  const beat = {
    management_mode: 'managed' as const,
    // By an id of another form nobody else can go on with it.
    resumable: isResumed && UUID.test(facts.sessionId),
    ...(UUID.test(facts.sessionId) ? { native_session_id: facts.sessionId } : {}),
  };
  const about = { program: options.program, managed: 'headless', cwd: options.session.cwd, pid: facts.pid };

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
        metadata: about,
        session: beat,
        commands,
        WebSocket: options.WebSocket,
        timeoutMs: TIMEOUT_MS,
        patienceMs: PATIENCE_MS,
        onConnection(state, reason) {
          onConnection(state, reason);
          onNews({ event: 'hub', message: HUB_NEWS[state] + (reason === '' ? '' : `: ${reason}`) });
        },
      });
    },
    renew: options.renew,
    facts: () => about,
    askMs: options.askMs,
    log: (_level, message, more) =>
      onNews({ event: 'hub', message: `${message}: ${String(more['message'] ?? more['error'])}` }),
  });
  const turns = createTurns({
    session,
    link,
    onTurn({ turn, message }) {
      if (turn === 'started' && !isKept) {
        isKept = true;
        beat.resumable = 'native_session_id' in beat;
        options.onResumable(facts);
      }
      onNews({ event: `turn_${turn}`, message });
    },
  });
  const asks = createAsks({
    link,
    timeoutMs: options.askMs,
    onAsk: ({ ask, message }) => onNews({ event: `ask_${ask}`, message }),
  });
  Object.assign(desk, { link, asks });
  const commands = createSessionCommands({ session, turns, asks });
  const { runtime, version, sessionId } = facts;
  const which = isResumed ? 'resumed' : 'new';
  onNews({
    event: 'ready',
    message: `${runtime} ${version ?? ''} as ${name}, ${which} session ${sessionId}`,
    facts,
  });

  /** A turn that is cut off is told so to the program, so that its own record is whole. */
  async function end(): Promise<void> {
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
  if (!signal.aborted) {
    const message = `${options.program} is gone`;
    link.rested(message);
    link.report({ event_type: 'error', data: { message } });
  }
  onNews({ event: 'ended', message: `${options.program} has ended` });
  await Promise.race([link.close(), sleep(LEAVE_MS, undefined, { ref: false })]);
  return how;
}

const HUB_NEWS = {
  open: 'connected to the hub',
  lost: 'the hub is away',
  replaced: 'another session of this agent has taken over: the hub no longer reaches this one',
};
