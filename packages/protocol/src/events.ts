import * as z from 'zod';

import type { EventType } from './event-types.ts';

const text = z.string().min(1).max(2_000);
/** What a thread's state keeps of each open finding stays short. */
const name = z.string().min(1).max(128);
const finding = {
  event_version: z.union([z.number(), z.string()]).optional(),
  finding_id: name
    .optional()
    .describe('name of the finding; without it the finding message itself is the name'),
  task_id: name.optional(),
};

/** The events the hub understands, each with the metadata it may carry; other event types are kept as sent. */
export const EVENT_METADATA = {
  finding_reported: z.looseObject({
    ...finding,
    severity: name.optional(),
    file: z.string().min(1).max(512).optional(),
    line: z.number().int().min(0).optional(),
    reviewer: name.optional().describe('who may verify it beside you'),
  }),
  fix_pushed: z.looseObject({
    ...finding,
    commit: text.optional(),
    branch: text.optional(),
    files: z.array(text).max(1_000).optional(),
  }),
  re_review_requested: z.looseObject({ ...finding, reviewer: text.optional(), commit: text.optional() }),
  finding_verified: z.looseObject({ ...finding, commit: text.optional() }),
  finding_rejected: z.looseObject({ ...finding, reason: text.optional() }),
  thread_escalated: z.looseObject({ ...finding, reason: text.optional(), to: text.optional() }),
  thread_resolved: z.looseObject({ ...finding, reason: text.optional() }),
} as const satisfies Record<EventType, z.ZodType>;
