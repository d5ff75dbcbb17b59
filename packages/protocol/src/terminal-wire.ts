import * as z from 'zod';

import { TAKE_OVER_ENDS, type TakeOverEnd, type TerminalOutput } from './terminal.ts';
import { storableText } from './text.ts';

/** How many characters of keys one message may bring; and for how long a terminal is taken over. */
export const KEYS_CHARS = 4_096;
export const TAKE_OVER_MS = { usual: 300_000, longest: 600_000 } as const;

/** What somebody who looks at a terminal may say on that connection. */
export const ViewerWord = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('take'),
    for_ms: z.number().int().min(1_000).max(TAKE_OVER_MS.longest).default(TAKE_OVER_MS.usual),
    force: z
      .strictObject({ reason: storableText({ maxBytes: 500 }) })
      .optional()
      .describe('also while the person at the machine types, and why'),
  }),
  z.strictObject({ type: z.literal('keys'), keys: z.string().min(1).max(KEYS_CHARS) }),
  z.strictObject({ type: z.literal('give_back') }),
]);
export type ViewerWord = z.input<typeof ViewerWord>;

/** What somebody who looks at a terminal is told. */
export type ScreenWord =
  | ({ type: 'screen' } & Omit<TerminalOutput<'terminal_watch'>, 'yours'>)
  /** The session is not connected; it is looked for. */
  | { type: 'away'; message: string }
  | { type: 'taken'; until: string }
  /** Whoever looks types no longer. */
  | { type: 'over'; ended: TakeOverEnd; message: string }
  /** The terminal could not be taken over, or the keys did not arrive. */
  | { type: 'refused'; code: string; message: string }
  /** Nothing is to be seen; the connection ends. */
  | { type: 'nothing'; code: string; message: string; sessions?: string[] };

/** How a take-over ended, in words for whoever held it. */
export const TAKE_OVER_WORDS: Record<TakeOverEnd, string> = {
  given_back: 'You have given the terminal back.',
  person: 'The person at the machine pressed a key: the terminal is theirs again.',
  time: 'Your time was over: the terminal is free again.',
  lost: 'The connection to the session was lost: the terminal is free again.',
  program_ended: 'The program has ended.',
};

/** True for the name of a way in which a take-over ends. */
export function isTakeOverEnd(word: string | undefined): word is TakeOverEnd {
  return TAKE_OVER_ENDS.some((name) => name === word);
}
