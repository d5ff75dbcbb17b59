import * as z from 'zod';

import { ASK_STATUSES } from './ask-words.ts';
import { LIMITS } from './limits.ts';
import { Name, storableObject, storableText } from './text.ts';
import { RISK_HINTS } from './risk-words.ts';

const Moment = z.iso.datetime();

const OptionText = storableText({ maxBytes: LIMITS.option_bytes });

const Option = z.strictObject({
  id: OptionText,
  label: OptionText,
  kind: z.enum(['allow_once', 'allow_session', 'allow_rule', 'deny', 'choice']).default('choice'),
});

/** One form everywhere: an object with an id; what is left out of it follows from that. */
const Options = z
  .array(
    z.strictObject(
      { ...Option.shape, label: OptionText.optional() },
      {
        error: (issue) =>
          issue.code === 'invalid_type' ? 'must be an object such as {"id":"main"}' : undefined,
      },
    ),
  )
  .max(16)
  .transform((options) => options.map((option) => ({ ...option, label: option.label ?? option.id })))
  .refine((options) => new Set(options.map(({ id }) => id)).size === options.length, {
    error: 'each option needs an id of its own',
  });

/** What an agent puts before a person, in its own words and with its own options. */
export const AskContent = z.object({
  kind: z.enum(['approval', 'question', 'elicitation', 'budget']).default('question'),
  prompt: storableText({ maxBytes: 4_096 }).describe('what you need, in one or two sentences'),
  command: storableText({ maxBytes: 16_384 }).optional().describe('the exact command or edit to approve'),
  cwd: storableText({ maxBytes: 4_096 }).optional().describe('the folder it runs in'),
  options: Options.optional().describe('answers to choose from'),
  risk: z.enum(['low', 'medium', 'high']).default('medium'),
  rule: storableText({ maxBytes: 500 }).optional().describe('the rule that made you ask'),
  schema: storableObject(LIMITS.metadata_bytes).optional().describe('JSON Schema of an elicitation’s answer'),
  metadata: storableObject(LIMITS.metadata_bytes).optional(),
});
export type AskContent = z.infer<typeof AskContent>;

export const AskStatus = z.enum(ASK_STATUSES);
export type AskStatus = z.infer<typeof AskStatus>;

/** What a person says to an ask. */
export const AskAnswer = z.object({
  decision: z.enum(['approved', 'denied', 'answered']),
  option: storableText({ maxBytes: LIMITS.option_bytes }).optional(),
  scope: z.enum(['once', 'session', 'rule']).optional(),
  text: storableText({ maxBytes: LIMITS.body_bytes }).optional(),
  data: storableObject(LIMITS.metadata_bytes).optional(),
  reason: storableText({ maxBytes: LIMITS.reason_bytes }).optional(),
});
export type AskAnswer = z.infer<typeof AskAnswer>;

/** How an ask ended: by a person, by the agent itself, or by the clock. */
export const AskVerdict = z.object({
  decision: z.enum(['approved', 'denied', 'answered', 'withdrawn']),
  option: z.string().optional(),
  scope: z.enum(['once', 'session', 'rule']).optional(),
  text: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  reason: z.string().optional(),
  by: Name,
  passkey: z.string().optional().describe('the passkey that signed it'),
  device: z.string().describe('the session it was answered from'),
  at: Moment,
});
export type AskVerdict = z.infer<typeof AskVerdict>;

export const AskId = z.string().min(1).max(64);

export const Ask = AskContent.extend({
  options: z.array(Option).optional(),
  risk: AskContent.shape.risk.describe('the higher of what the agent says and what the hub sees'),
  risk_hints: z
    .array(z.enum(RISK_HINTS))
    .optional()
    .describe('why the hub itself calls the command high risk'),
  needs_passkey: z.literal(true).optional().describe('only a passkey approves it; a denial needs none'),
  ask_id: AskId,
  workspace_id: Name,
  agent_id: Name,
  session_id: Name,
  thread_id: z.string(),
  message_id: z.string(),
  status: AskStatus,
  verdict: AskVerdict.optional(),
  created_at: Moment,
  expires_at: Moment,
  resolved_at: Moment.optional(),
  agent_gone_since: Moment.optional().describe('the agent is gone; an answer reaches nobody'),
}).meta({ id: 'Ask' });
export type Ask = z.infer<typeof Ask>;
