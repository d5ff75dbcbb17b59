import { z } from 'zod';

import { LIMITS } from './limits.ts';
import { Name, storableObject, storableText } from './text.ts';

const Moment = z.iso.datetime();

const OptionText = storableText({ maxBytes: LIMITS.option_bytes });

const Option = z.strictObject({
  id: OptionText,
  label: OptionText,
  kind: z
    .enum(['allow_once', 'allow_session', 'allow_rule', 'deny', 'choice'])
    .default('choice')
    .describe('what choosing it means'),
});

/** One form everywhere: each option is a word, or says what choosing it means. */
const Options = z
  .array(z.union([OptionText, Option], { error: 'must be a text, or an object with id, label and kind' }))
  .max(16)
  .transform((options) =>
    options.map((option) =>
      typeof option === 'string' ? { id: option, label: option, kind: 'choice' as const } : option,
    ),
  )
  .refine((options) => new Set(options.map(({ id }) => id)).size === options.length, {
    error: 'each option needs an id of its own',
  });

/** What the hub can see in a command that makes it high risk, whatever its agent says. */
export const RISK_HINTS = [
  'recursive_delete',
  'destroys_data',
  'discards_work',
  'force_push',
  'disk',
  'permissions',
  'privilege',
  'secrets',
  'sends_data',
  'network_to_shell',
  'outside_folder',
  'hidden_command',
] as const;
export type RiskHint = (typeof RISK_HINTS)[number];

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

export const AskStatus = z.enum(['open', 'answering', 'resolved']);
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
  device: z.string().describe('the session it was answered from'),
  at: Moment,
});
export type AskVerdict = z.infer<typeof AskVerdict>;

/** Why an ask is withdrawn when its agent does not say. */
export const NO_LONGER_NEEDED = 'no longer needed';

export const AskId = z.string().min(1).max(64);

export const Ask = AskContent.extend({
  options: z.array(Option).optional(),
  risk: AskContent.shape.risk.describe('the higher of what the agent says and what the hub sees'),
  risk_hints: z
    .array(z.enum(RISK_HINTS))
    .optional()
    .describe('why the hub itself calls the command high risk'),
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
}).meta({ id: 'Ask' });
export type Ask = z.infer<typeof Ask>;
