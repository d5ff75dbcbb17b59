import type { TakeOverEnd } from '@parley/protocol';

import type { Report } from './reports.ts';
import type { TakenOver } from './take-over.ts';

const WHY: Record<TakeOverEnd, string> = {
  given_back: 'it was given back',
  person: 'the person at the machine pressed a key',
  time: 'the time was over',
  lost: 'the connection was lost, or the device was signed out',
  program_ended: 'the program ended',
};

/** What stands in the journal of somebody who typed from elsewhere: who, from when to when, and never what. */
export function tellTakenOver({ holder, from, to, ended }: TakenOver): Report {
  const seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1_000));
  return {
    event_type: 'info',
    data: {
      message: `${holder} had taken over the terminal for ${seconds} s: ${WHY[ended]}`,
      take_over: { holder, from, to, ended },
    },
  };
}
