// oxlint-disable-next-line no-restricted-imports -- The head of every command is made here.
import { type Caller, ENTRY_SALT_BOUND } from '@parley/protocol';

import type { Chance, Clock } from './clock.ts';
import type { Command } from './commands.ts';

/** What the head of a command is made of. */
export interface HeadPorts {
  clock: Pick<Clock, 'now'>;
  chance: Pick<Chance, 'below'>;
}

/** The head of every command: who, when, and a pinch of chance. It is made here and nowhere else. */
export function commandHead(
  { clock, chance }: HeadPorts,
  caller: Caller,
): Pick<Command, 'caller' | 'now' | 'salt'> {
  return { caller, now: clock.now(), salt: chance.below(ENTRY_SALT_BOUND) };
}
