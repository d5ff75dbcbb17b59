import { type ManagedTurn, type ManagedTurnEnd, headline, RuntimeError, publicText } from '@parley/runtimes';

import type { Report, SessionLink } from '../link/index.ts';
import type { LastingSession } from './lasting-session.ts';

/** Who wanted a turn. */
type TurnSource = 'wake' | 'prompt';

/** The turns of a session, one after the other. */
export interface Turns {
  readonly state: 'idle' | 'working';
  readonly waiting: number;
  /** Begins at once; throws BUSY while a turn runs. */
  begin(text: string, source: TurnSource, threadId?: string): ManagedTurn;
  /** Begins now or after what runs; true where it must wait. */
  queue(text: string): boolean;
  /** Begins what waits, where nothing runs. */
  goOn(): void;
  /** No further turn is begun; settles when the running one has ended. */
  close(): Promise<void>;
}

const MOST_WAITING = 20;

/** Runs one turn at a time and tells the hub of each; what people asked for meanwhile follows in order. */
export function createTurns(deps: {
  session: Pick<LastingSession, 'prompt' | 'isUp'>;
  link: Pick<SessionLink, 'begun' | 'rested' | 'report' | 'used'>;
  onTurn: (news: { turn: 'started' | 'ended'; message: string; isGood: boolean }) => void;
}): Turns {
  const { session, link, onTurn } = deps;
  const waiting: string[] = [];
  let running: Promise<void> | undefined;
  let closed = false;

  function report(news: Report, turn: 'started' | 'ended'): void {
    link.report(news);
    const isGood = news.event_type !== 'task_failed';
    onTurn({ turn, message: String(news.data?.['message']), isGood });
  }

  function ended(end: ManagedTurnEnd, threadId: string | undefined): void {
    running = undefined;
    if (end.spent !== undefined) link.used(end.spent, threadId);
    const failure = end.status === 'failed' ? publicText(end.error ?? 'the turn failed', 300) : undefined;
    link.rested(failure);
    report(describeEnd(end, failure), 'ended');
    goOn();
  }

  function goOn(): void {
    const [next] = waiting;
    if (next === undefined || closed || running !== undefined) return;
    try {
      begin(next, 'prompt');
      waiting.shift();
    } catch (error) {
      // The program is away: it goes on when that is back.
      if (!isAway(error)) throw error;
    }
  }

  function begin(text: string, source: TurnSource, threadId?: string): ManagedTurn {
    if (running !== undefined || closed) throw new RuntimeError('BUSY', 'a turn is running');
    const turn = session.prompt(text);
    const message = headline(text) || 'a turn';
    link.begun(message);
    report({ event_type: 'task_started', data: { message, source } }, 'started');
    running = turn.ended.then((end) => ended(end, threadId));
    return turn;
  }

  return {
    get state() {
      return running === undefined && session.isUp ? 'idle' : 'working';
    },
    get waiting() {
      return waiting.length;
    },
    begin,
    goOn,
    queue(text) {
      if (running === undefined && session.isUp && waiting.length === 0) {
        begin(text, 'prompt');
        return false;
      }
      if (waiting.length >= MOST_WAITING)
        throw new RuntimeError('OVERLOADED', `${MOST_WAITING} prompts wait already`);
      waiting.push(text);
      return true;
    },
    async close() {
      closed = true;
      await running;
    },
  };
}

function isAway(error: unknown): boolean {
  return error instanceof RuntimeError && (error.code === 'BUSY' || error.code === 'CHILD_EXITED');
}

function describeEnd(
  { status, text, durationMs, usage }: ManagedTurnEnd,
  failure: string | undefined,
): Report {
  const said = publicText(text);
  return {
    event_type: failure === undefined ? 'task_completed' : 'task_failed',
    data: {
      message: failure ?? (said || `the turn was ${status}`),
      status,
      ...(said === '' || failure === undefined ? {} : { last_message: said }),
      duration_ms: Math.round(durationMs),
      ...(usage === undefined ? {} : { usage }),
    },
  };
}
