import * as z from 'zod';

import { LIMITS } from './limits.ts';

/** How many a page of a list holds at most. */
export const Limit = z.number().int().min(1).max(LIMITS.page_max).default(LIMITS.page_default);

/** Where a page of a list begins. */
export const After = z
  .string()
  .min(1)
  .max(1_024)
  .optional()
  .describe('next_after of the page before this one');

/** Where the page after this one begins. */
export const NextAfter = z.string().nullable().describe('where the next page begins; null: there is none');
