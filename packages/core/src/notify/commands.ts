import type { ChannelChange } from '@parley/protocol';

import type { Base } from '../command.ts';
import type { ChannelRecord, Notice } from './notice.ts';

/** The input is what was asked for; the channel is what came of it. */
export type AddChannel = Base<'add_channel', object, { channel: ChannelRecord }> & { channel: ChannelRecord };
export type UpdateChannel = Base<'update_channel', ChannelChange, { channel: ChannelRecord }> & {
  channel_id: string;
};
export type RemoveChannel = Base<'remove_channel', Record<string, never>, { channel: ChannelRecord }> & {
  channel_id: string;
};
/** The hub itself tells people, and keeps what it has told. */
export type MakeNotices = Base<
  'make_notices',
  Record<string, never>,
  /** Those that were not made before. */ { notices: Notice[] }
> & { notices: readonly Notice[] };
/** What became of a try to send a notice. */
export type MarkNotice = Base<
  'mark_notice',
  Pick<Notice, 'channel_id' | 'key' | 'notice_id' | 'tries' | 'state' | 'due_at' | 'why'> & {
    /** Its channel has ceased to be. */
    gone: boolean;
  },
  /** How the newest of its key stands now; null where it is forgotten. */ { notice: Notice | null }
>;
export type ForgetNotices = Base<'forget_notices', { keys: readonly string[]; created_by: string }>;

/** What changes channels and notices. */
export type NotifyCommands =
  | AddChannel
  | UpdateChannel
  | RemoveChannel
  | MakeNotices
  | MarkNotice
  | ForgetNotices;
