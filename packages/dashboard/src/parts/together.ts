import type { AskRow } from '../data/state.ts';

/** Of what waits for a person, the commands that may be answered together: none of high risk, none of one who is gone. */
export function together(rows: readonly AskRow[]): AskRow[] {
  return rows.filter(
    ({ ask, sending }) =>
      ask.status === 'open' &&
      sending !== true &&
      ask.kind === 'approval' &&
      ask.command !== undefined &&
      ask.risk !== 'high' &&
      ask.agent_gone_since === undefined,
  );
}
