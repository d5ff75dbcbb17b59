import * as z from 'zod';

import { Metadata, Timestamp } from './entities.ts';
import { Name, storableText } from './text.ts';

/** Why a text waits before it is typed. */
export const DEFER_REASONS = ['human_input_busy', 'working', 'blocked', 'no_prompt', 'taken_over'] as const;
export type DeferReason = (typeof DEFER_REASONS)[number];

/** What was seen of a delivery, in the order of seeing it. */
export const DELIVERY_EVIDENCE = [
  'typed',
  'seen',
  'entered',
  'prompt_empty',
  'prompt_again',
  'working',
] as const;
export type DeliveryEvidence = (typeof DELIVERY_EVIDENCE)[number];

/** Why somebody who typed from elsewhere does so no longer. */
export const TAKE_OVER_ENDS = ['given_back', 'person', 'time', 'lost', 'program_ended'] as const;
export type TakeOverEnd = (typeof TAKE_OVER_ENDS)[number];

/** Parameters of commands that never stand on record: what is typed may be a secret, and a lock's id is the right to type. */
export const UNRECORDED_PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  terminal_lock: ['lock_id'],
  terminal_type: ['lock_id', 'keys'],
  terminal_unlock: ['lock_id'],
  terminal_watch: ['lock_id'],
};

/** No screen that is shown elsewhere is larger. */
export const SCREEN_BOUNDS = { cols: 1_000, rows: 500, line_chars: 4_000, line_runs: 20_000 } as const;

const LockId = z.string().min(1).max(128);
const Force = {
  operator: Name.optional().describe('who wants it, for force'),
  audit: Metadata.optional().describe('why, for force: {"reason": …}'),
};

const ProgramState = z.object({
  state: z.enum(['idle', 'working', 'blocked']),
  source: z.enum(['report', 'title', 'output']),
  detail: z.string().optional().describe('what it waits for, in its own words'),
});

/** How a delivery stands. */
export const Delivery = z.object({
  delivery_id: Name,
  result: z
    .enum(['submitted', 'typed', 'deferred'])
    .describe(
      'submitted: the program took it; typed: it was typed, and no more is known; deferred: it waits',
    ),
  evidence: z.array(z.enum(DELIVERY_EVIDENCE)),
  altered: z.array(z.string()).describe('what was changed in the text to make it harmless'),
  detail: z.string().optional(),
  defer_reason: z.enum(DEFER_REASONS).optional(),
  deferred_until: Timestamp.optional().describe('when it is looked at again'),
  waited_ms: z.number(),
});
export type Delivery = z.infer<typeof Delivery>;

/** The commands that the supervisor of a terminal takes from its hub, each with what it answers. */
export const TERMINAL_COMMANDS = {
  terminal_deliver: {
    input: z.object({
      delivery_id: Name.describe('yours; the same id is one delivery, and asking again tells how it stands'),
      text: storableText({ maxBytes: 32_768 }),
      mode: z
        .enum(['when_quiet', 'force'])
        .default('when_quiet')
        .describe('force does not wait for a quiet person or an idle program; operators only, with audit'),
      ...Force,
      wait_ms: z
        .number()
        .int()
        .min(0)
        .max(60_000)
        .default(20_000)
        .describe('how long to wait for the outcome before the answer is deferred'),
    }),
    output: Delivery,
  },
  terminal_cancel: {
    input: z.object({ delivery_id: Name }),
    output: z.object({ cancelled: z.boolean() }),
  },
  terminal_screen: {
    input: z.object({}),
    output: z.object({
      cols: z.number(),
      rows: z.number(),
      lines: z.array(z.string()).describe('the rows of the screen from the top'),
      cursor: z.object({ x: z.number(), y: z.number(), visible: z.boolean() }),
      title: z.string(),
      state: ProgramState,
    }),
  },
  terminal_watch: {
    input: z.object({
      since: z.string().max(100).optional().describe('the version that was answered last; without it all'),
      wait_ms: z
        .number()
        .int()
        .min(0)
        .max(20_000)
        .default(5_000)
        .describe('how long to wait for something to change'),
      lock_id: LockId.optional().describe('a lock of yours: it is still wanted'),
    }),
    output: z.object({
      version: z.string().max(100),
      whole: z.boolean().describe('every line that is not empty is in it; else those that have changed'),
      cols: z.number().int().min(1).max(SCREEN_BOUNDS.cols),
      rows: z.number().int().min(1).max(SCREEN_BOUNDS.rows),
      lines: z
        .array(
          z.tuple([
            z.number().int().min(0).max(SCREEN_BOUNDS.rows),
            z.string().max(SCREEN_BOUNDS.line_chars),
            z.string().max(SCREEN_BOUNDS.line_runs),
          ]),
        )
        .max(SCREEN_BOUNDS.rows)
        .describe('row, text, and how it looks: runs of a length and its marks, such as "5;f1;o 3"'),
      cursor: z.object({ x: z.number(), y: z.number(), visible: z.boolean() }),
      title: z.string().max(1_000),
      state: ProgramState,
      modes: z.object({
        app_cursor: z.boolean().describe('arrow keys are sent as ESC O'),
        paste: z.boolean().describe('pasted text stands between markers'),
      }),
      lock: z.object({ holder: Name, until: Timestamp }).nullable(),
      yours: z
        .enum(['held', ...TAKE_OVER_ENDS])
        .optional()
        .describe('how it stands with the lock that was named'),
      ended: z.boolean().describe('the program has ended'),
    }),
  },
  terminal_state: {
    input: z.object({}),
    output: z.object({
      program: z.string(),
      kind: z.string(),
      pid: z.number(),
      state: ProgramState,
      draft: z.boolean().describe('something stands at the prompt that was not sent'),
      quiet_ms: z.number().nullable().describe('since the person last pressed a key; null: never'),
      no_prompt: z
        .object({ detail: z.string(), starting: z.boolean() })
        .optional()
        .describe('why it takes no text just now, whoever wants it'),
      deferred: z.array(Delivery),
      lock: z.object({ holder: Name, until: Timestamp }).nullable(),
    }),
  },
  terminal_lock: {
    input: z.object({
      ttl_ms: z.number().int().min(1_000).max(600_000).default(60_000),
      lease_ms: z
        .number()
        .int()
        .min(1_000)
        .max(60_000)
        .optional()
        .describe('it ends when its holder has neither watched with it nor typed for so long'),
      lock_id: LockId.optional().describe('a lock of yours that is to hold longer'),
      force: z.boolean().default(false).describe('also while the person at the machine types'),
      ...Force,
    }),
    output: z.object({ lock_id: LockId, until: Timestamp }),
  },
  terminal_type: {
    input: z.object({ lock_id: LockId, keys: z.string().min(1).max(4_096).describe('sent as they are') }),
    output: z.object({ typed: z.number().describe('bytes') }),
  },
  terminal_unlock: {
    input: z.object({
      lock_id: LockId,
      lost: z.boolean().default(false).describe('its holder is gone and did not give it back'),
    }),
    output: z.object({ released: z.boolean() }),
  },
} as const satisfies Record<string, { input: z.ZodObject; output: z.ZodObject }>;

export type TerminalCommand = keyof typeof TERMINAL_COMMANDS;
export type TerminalInput<C extends TerminalCommand> = z.output<(typeof TERMINAL_COMMANDS)[C]['input']>;
export type TerminalOutput<C extends TerminalCommand> = z.input<(typeof TERMINAL_COMMANDS)[C]['output']>;
