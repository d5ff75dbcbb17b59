import * as z from 'zod';

import { HOURS } from './daily-hours.ts';
import { NOTICE_KINDS } from './notice-words.ts';
import { Name, storableText } from './text.ts';

const Moment = z.iso.datetime();

export const NoticeKind = z.enum(NOTICE_KINDS);
export type NoticeKind = z.infer<typeof NoticeKind>;

/** What a new channel tells of unless its person says otherwise. */
export const USUAL_NOTICES: readonly NoticeKind[] = ['ask', 'trouble', 'mention'];

/** The hours in which nothing is sent; what falls due waits for their end. */
export const QuietHours = z.object({
  ...HOURS,
  urgent: z.boolean().default(false).describe('let commands to approve and requests of high risk through'),
});
export type QuietHours = z.infer<typeof QuietHours>;

const Wants = z
  .array(NoticeKind)
  .min(1)
  .refine((kinds) => new Set(kinds).size === kinds.length, { error: 'each kind once' });

export const ChannelName = storableText({ maxBytes: 100 });

/** How a person wants to be told; neither its address nor its keys are ever shown again. */
export const Channel = z
  .object({
    channel_id: Name,
    name: z.string(),
    kind: z.enum(['push', 'ntfy', 'webhook']),
    agent_id: Name.describe('the person'),
    host: z.string().describe('where it goes; the rest of the address is kept to the hub'),
    wants: z.array(NoticeKind),
    quiet: QuietHours.optional(),
    paused: z.boolean(),
    created_at: Moment,
    device_id: Name.optional().describe('the device that a push goes to'),
    last_sent_at: Moment.optional(),
    last_failure: z.object({ at: Moment, why: z.string() }).optional(),
  })
  .meta({ id: 'Channel' });
export type Channel = z.infer<typeof Channel>;

/** Where a channel leads: what a browser gives for its push service, or a URL. */
export const ChannelTarget = z.object({
  url: z
    .string()
    .max(2_048)
    .refine(isWebAddress, { error: 'must be an http or https address without a name or password in it' })
    .describe('of the push service, the ntfy topic, or the webhook'),
  p256dh: z.string().max(256).optional().describe('push: the public key of the browser'),
  auth: z.string().max(256).optional().describe('push: the secret of the browser'),
  token: storableText({ maxBytes: 1_024 }).optional().describe('ntfy: the access token'),
});
export type ChannelTarget = z.infer<typeof ChannelTarget>;

/** What can be chosen for a channel, and chosen anew. */
export const ChannelChoice = z.object({
  name: ChannelName,
  wants: Wants.default([...USUAL_NOTICES]).describe('what to tell of'),
  quiet: QuietHours.optional(),
});

export const ChannelChange = z.object({
  name: ChannelName.optional(),
  wants: Wants.optional(),
  quiet: QuietHours.nullable().optional().describe('null: no quiet hours'),
  paused: z.boolean().optional().describe('send nothing until it is taken back'),
});
export type ChannelChange = z.infer<typeof ChannelChange>;

function isWebAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hostname } = new URL(text);
  return (
    (protocol === 'https:' || protocol === 'http:') && username === '' && password === '' && hostname !== ''
  );
}
