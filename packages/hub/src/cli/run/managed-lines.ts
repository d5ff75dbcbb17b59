import { hideSecrets } from '@parley/protocol';
import type { ManagedNews } from '@parley/supervisor';

import { harmlessLines, oneLine } from '../harmless.ts';

const WORDS: Record<ManagedNews['event'], string> = {
  ready: 'ready',
  turn_started: 'turn',
  turn_ended: 'done',
  turn_failed: 'failed',
  ask_open: 'asks',
  ask_closed: 'settled',
  hub: 'hub',
  down: 'gone',
  back: 'back',
  new_session: 'new',
  stopped: 'stopped',
  ended: 'ended',
};
const WIDTH = 9;

/** News of a managed session as a person reads them: what it is, then its text, broken as it is. */
export function newsLines({ event, message, command, cwd }: ManagedNews): string[] {
  // Some programs name them in their question already.
  const isMissing = (what: string | undefined): what is string =>
    what !== undefined && !message.includes(what);
  const asked = [
    ...(isMissing(command) ? harmlessLines(hideSecrets(command)).map((line) => `  ${line}`) : []),
    ...(isMissing(cwd) ? [`in ${oneLine(cwd)}`] : []),
    ...(event === 'ask_open' ? ['answer it in the dashboard, or with: parley ask ls'] : []),
  ];
  const lines = [...harmlessLines(hideSecrets(message).trimEnd()), ...asked];
  return lines.map((line, i) => `${(i === 0 ? WORDS[event] : '').padEnd(WIDTH)}${line}`.trimEnd());
}
