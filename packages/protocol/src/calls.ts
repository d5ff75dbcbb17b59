import * as z from 'zod';

import { Name } from './text.ts';

/** Somebody whom a message might have meant and does not call. */
export const NotCalled = z
  .object({
    agent: z.string().describe('a participant, or the name that is none'),
    why: z.string().describe('the reason in one word, such as not_addressed'),
    hint: z.string().describe('the same in a sentence, and what can be done about it'),
  })
  .meta({ id: 'NotCalled' });
export type NotCalled = z.infer<typeof NotCalled>;

/** What the answer to every post says of calls. */
export const CALLS = {
  called: z.array(Name).describe('whom it calls upon: they are woken for it'),
  not_called: z.array(NotCalled),
  invokes: z.array(Name).optional().describe('the same as called, left out where it is empty'),
} as const;
