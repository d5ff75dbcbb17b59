import { newTurn, type OpenTurn, spentBy } from './open-turn.ts';
import type { SpentTurn } from './spent-turn.ts';

/** How far a runtime's record of a session was read, and what of it is not reported yet: numbers and ids alone. */
export interface RecordState {
  /** What was at work by then counts no more. */
  after: string;
  /** The requests that were reported last. */
  reported: string[];
  turn?: OpenTurn;
  /** Of Codex: whose record it is, and the model that was chosen last. */
  own?: string;
  /** Somebody of ours drives it, and tells what it used. */
  isOurs?: boolean;
  model?: string;
}

const MOST_REPORTED = 64;

/** Ends the turn that runs, and gives what it used; whatever comes of it later is a turn of its own. */
export function endTurn(state: RecordState): SpentTurn | undefined {
  const { turn } = state;
  if (turn === undefined) return undefined;
  state.reported = [...state.reported, ...turn.requests.map(({ id }) => id)].slice(-MOST_REPORTED);
  const { at, id, thread_id } = turn;
  state.turn = newTurn(at, {
    ...(id !== undefined && { id }),
    ...(thread_id !== undefined && { thread_id }),
  });
  return spentBy(turn);
}
