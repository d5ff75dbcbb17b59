import * as z from 'zod';

import { LIMITS } from './limits.ts';
import { Name, storableText } from './text.ts';

/** Who a participant is to the others; roles are words, not authority. */
export const Profile = z
  .strictObject({
    client: storableText({ maxBytes: 64 }).describe('for example codex, claude, gemini'),
    model: storableText({ maxBytes: 128 }),
    nickname: z
      .string()
      .regex(/^[\p{L}\p{N}][\p{L}\p{N}\p{M}._-]{0,63}$/u, {
        error: 'must be 1 to 64 letters, digits, . _ - and start with a letter or digit',
      })
      .optional(),
    roles: z
      .array(storableText({ maxBytes: 64 }))
      .max(16)
      .optional(),
  })
  .partial({ client: true, model: true })
  .meta({ id: 'Profile' });
export type Profile = z.infer<typeof Profile>;

/** A participant's name: `all` means everybody and is nobody's. */
export const Participant = Name.refine((name) => name !== 'all', { error: '"all" is not a participant' });

const Targets = z.array(Participant).min(1).max(LIMITS.participants);
const Switch = z.strictObject({ on: z.boolean() });

/** The knobs of a thread, one per control. */
const VERBS = {
  mute: z.strictObject({
    targets: Targets,
    mode: z.literal('hard').default('hard'),
    for_seconds: z.number().int().min(1).max(31_536_000).optional().describe('else until unmute'),
  }),
  unmute: z.strictObject({ targets: Targets }),
  pause: Switch,
  prod: Targets,
  done: z.boolean(),
  ttl_seconds: z.number().int().min(1).max(31_536_000),
  discussion: Switch.extend({ allow_agent_mentions: z.boolean().optional() }),
  invited_auto: Switch,
  invite: z.strictObject({ participant_id: Participant, profile: Profile.optional() }),
  remove: z.strictObject({ participant_id: Participant }),
  leave: z.literal(true),
  policy: z.strictObject({
    mode: z.enum(['auto', 'permissive', 'conservative']).default('auto'),
    threshold: z.number().int().min(1).max(LIMITS.participants).optional(),
  }),
  profile: Profile,
} as const;

type Verbs = { [V in keyof typeof VERBS]: z.infer<(typeof VERBS)[V]> };

/** Exactly one verb with what it takes. */
export type Control = { [V in keyof Verbs]: { [K in V]: Verbs[K] } }[keyof Verbs];

export type ControlVerb = keyof Verbs;

const CONTROL_VERBS = Object.keys(VERBS);

/** A control as it is sent: an object with exactly one verb. */
export const Control = z
  .strictObject(VERBS)
  .partial()
  .refine((control) => Object.keys(control).length === 1, {
    error: `must hold exactly one of ${CONTROL_VERBS.join(', ')}`,
  })
  .describe('exactly one verb')
  // One of its verbs is there, which is all that the type asks beyond the schema.
  .transform((control) => control as Control);
