import { type NotCalled, table } from '@parley/protocol';

import { oneLine } from '../harmless.ts';
import type { Paint } from '../style.ts';

/** Whom a post called and whom not, one line for all who were and one for each reason why not. */
export function callLines(
  { called, not_called }: { called: readonly string[]; not_called: readonly NotCalled[] },
  paint: Paint,
): string[] {
  return table([
    ...(called.length === 0 ? [] : [[`  ${paint('green', 'called')}`, called.join(', ')]]),
    ...whyNotRows('not called', not_called, paint),
  ]);
}

/** One row for each reason, with all to whom it applies. */
export function whyNotRows(word: string, some: readonly NotCalled[], paint: Paint): string[][] {
  const namesByHint = new Map<string, string[]>();
  for (const { agent, hint } of some)
    namesByHint.set(hint, [...(namesByHint.get(hint) ?? []), oneLine(agent)]);
  return [...namesByHint].map(([hint, names]) => [
    `  ${paint('yellow', word)}`,
    // What a call names as a field, a person at a terminal has as a flag.
    `${names.join(', ')}: ${oneLine(hint).replaceAll('`to`', '--to')}`,
  ]);
}
