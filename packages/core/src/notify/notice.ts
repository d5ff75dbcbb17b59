import type { Channel, ChannelTarget, NoticeKind } from '@parley/protocol';

import type { Grant } from '../devices/grant.ts';

/** A channel as it is kept, with where it leads. */
export interface ChannelRecord extends Omit<Channel, 'host'> {
  workspace_id: string;
  target: ChannelTarget;
  /** Signs what goes to a webhook. */
  secret?: string;
  /** What it ends with; those of before have none. */
  grant?: Grant;
}

/** What a notification is about: by this it is asked, before it goes, whether it is still so. */
export interface NoticeSubject {
  ask_id?: string;
  thread_id?: string;
  seq?: number;
  agent_id?: string;
}

/** One notification to one channel, from when it fell due until it was sent or dropped. */
export interface Notice {
  notice_id: string;
  workspace_id: string;
  channel_id: string;
  /** Of all that have the same key, one is made. */
  key: string;
  kind: NoticeKind;
  title: string;
  body: string;
  /** Where in the dashboard it leads. */
  path: string;
  /** A newer one of the same tag takes its place on the screen. */
  tag: string;
  urgency: 'normal' | 'high';
  subject: NoticeSubject;
  created_at: string;
  /** Not before this moment; moves with quiet hours and after a failure. */
  due_at: string;
  tries: number;
  state: 'due' | 'sent' | 'dropped' | 'failed';
  why?: string;
}

/** What came of sending one. */
export interface NoticeOutcome {
  sent: boolean;
  /** In plain words and without any address. */
  why?: string;
  /** The channel is gone for good: the browser has taken its subscription back. */
  gone?: boolean;
  /** Another try would not help. */
  final?: boolean;
  retry_after_ms?: number;
}

/** Carries notifications out of the hub. */
export interface Messenger {
  /** The public key that browsers subscribe with. */
  pushKey: string;
  /** Why nothing would ever be sent there; undefined where something may. */
  refusal(target: ChannelRecord['target']): Promise<string | undefined>;
  send(channel: ChannelRecord, notice: Notice, badge: number): Promise<NoticeOutcome>;
}

/** What a channel's person sees of it. */
export function toChannel({
  workspace_id: _workspace,
  target,
  secret: _secret,
  grant: _grant,
  ...channel
}: ChannelRecord): Channel {
  return { ...channel, host: new URL(target.url).host };
}

/** The key of a notice in the records. */
export function noticeKey(channelId: string, key: string): string {
  return `${channelId} ${key}`;
}

/** The feed's name for channels that were added. */
export const CHANNELS_TOPIC = 'channels';
