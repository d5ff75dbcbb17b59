import type { OutputOf, PostedKind } from '@parley/protocol';

import type { Content, InThread } from '../command.ts';

export type PostMessage = InThread<
  'post_message',
  Content & {
    schema_version: number;
    kind: PostedKind;
    in_reply_to?: string | undefined;
    to?: string | undefined;
  },
  OutputOf<'post_message'>
>;
export type AckRead = InThread<'ack_read', { last_read_seq: number }, OutputOf<'ack_read'>>;

/** What changes messages. */
export type MessageCommands = PostMessage | AckRead;
