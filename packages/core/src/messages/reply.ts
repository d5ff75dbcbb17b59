import { ParleyError, seqOfMessageId } from '@parley/protocol';

import type { Loaded, Needs } from '../commands.ts';

/** What a rule must know of an entry that may answer another. */
export function replyNeeds(thread_id: string, in_reply_to: string | undefined): Needs {
  const seq = in_reply_to === undefined ? undefined : seqOfMessageId(in_reply_to);
  return seq === undefined ? { thread: thread_id } : { thread: thread_id, entry_seq: seq };
}

/** Refuses an answer to what is not there. */
export function checkReply({ entry }: Pick<Loaded, 'entry'>, in_reply_to: string | undefined): void {
  if (in_reply_to !== undefined && (entry?.message_id !== in_reply_to || entry.seq === 0)) {
    throw new ParleyError('NOT_FOUND', 'in_reply_to names no message of this thread', {
      field: 'in_reply_to',
    });
  }
}
