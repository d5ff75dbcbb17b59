import * as z from 'zod';

import { Name, storableText } from './text.ts';

const Text = storableText({ maxBytes: 65_536 });

/** The commands that a managed session without a terminal takes from its hub, each with what it answers. */
export const SESSION_COMMANDS = {
  session_state: {
    input: z.object({}),
    output: z.object({
      state: z.enum(['idle', 'working', 'blocked']).describe('blocked: it waits for a person’s answer'),
      session_id: z.string().describe('the runtime’s own id'),
      can_steer: z.boolean(),
      waiting: z.number().describe('prompts that wait for the end of the turn'),
    }),
  },
  session_deliver: {
    input: z.object({
      delivery_id: Name.describe('yours; the same id is one delivery'),
      text: Text,
      thread_id: storableText({ maxBytes: 128 }).optional().describe('the thread that it is about'),
      steer: z.boolean().default(false).describe('into the running turn, where the runtime can'),
    }),
    output: z.object({
      result: z
        .enum(['started', 'steered', 'queued', 'deferred'])
        .describe('queued: the running turn has it and has not taken it up yet; ask again with the same id'),
      proof: z.enum(['runtime_status', 'runtime_record']).optional(),
      reason: z.string().optional().describe('why it must be tried again later'),
      session_id: z.string(),
    }),
  },
  prompt: {
    input: z.object({ prompt: Text }),
    output: z.object({ accepted: z.boolean(), queued: z.boolean() }),
  },
  cancel: { input: z.object({}), output: z.object({ cancelled: z.boolean() }) },
  stop: {
    input: z.object({}),
    output: z.object({
      stopping: z.boolean(),
      was_working: z.boolean().describe('a turn ran, and is cut off'),
    }),
  },
} as const;

export type SessionCommand = keyof typeof SESSION_COMMANDS;
export type SessionInput<C extends SessionCommand> = z.infer<(typeof SESSION_COMMANDS)[C]['input']>;
export type SessionOutput<C extends SessionCommand> = z.infer<(typeof SESSION_COMMANDS)[C]['output']>;
