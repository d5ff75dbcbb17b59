import {
  type ManagedSession,
  type ManagedTurn,
  type ManagedTurnEnd,
  headline,
  RuntimeError,
  told,
} from '@parley/runtimes';

import type { Report, SessionLink } from '../link/index.ts';

/** Who wanted a turn. */
type TurnSource = 'wake' | 'prompt';

/** The turns of a session, one after the other. */
export interface Turns {
  readonly state: 'idle' | 'working';
  readonly waiting: number;
  /** Begins at once; throws BUSY while a turn runs. */
  begin(text: string, source: TurnSource): ManagedTurn;
  /** Begins now or after what runs; true where it must wait. */
  queue(text: string): boolean;
  /** No further turn is begun; settles when the running one has ended. */
  close(): Promise<void>;
}

const MOST_WAITING = 20;

/** Runs one turn at a time and tells the hub of each; what people asked for meanwhile follows in order. */
export function createTurns(deps: {
  session: ManagedSession;
  link: Pick<SessionLink, 'begun' | 'rested' | 'report'>;
  onTurn: (news: { turn: 'started' | 'ended'; message: string }) => void;
}): Turns {
  const { session, link, onTurn } = deps;
  const waiting: string[] = [];
  let running: Promise<void> | undefined;
  let closed = false;

  function report(news: Report, turn: 'started' | 'ended'): void {
    link.report(news);
    onTurn({ turn, message: String(news.data?.['message']) });
  }

  function ended(end: ManagedTurnEnd): void {
    running = undefined;
    const failure = end.status === 'failed' ? told(end.error ?? 'the turn failed', 300) : undefined;
    link.rested(failure);
    report(describeEnd(end, failure), 'ended');
    const next = closed ? undefined : waiting.shift();
    if (next !== undefined) begin(next, 'prompt');
  }

  function begin(text: string, source: TurnSource): ManagedTurn {
    if (running !== undefined || closed) throw new RuntimeError('BUSY', 'a turn is running');
    const turn = session.prompt(text);
    const message = headline(text) || 'a turn';
    link.begun(message);
    report({ event_type: 'task_started', data: { message, source } }, 'started');
    running = turn.ended.then(ended);
    return turn;
  }

  return {
    get state() {
      return running === undefined ? 'idle' : 'working';
    },
    get waiting() {
      return waiting.length;
    },
    begin,
    queue(text) {
      if (running === undefined) {
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

function describeEnd(
  { status, text, durationMs, usage }: ManagedTurnEnd,
  failure: string | undefined,
): Report {
  const said = told(text);
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
