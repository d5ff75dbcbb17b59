import { seqOfMessageId, timeOfMessageId } from '@parley/protocol';

type Answer = Record<string, unknown>;

/**
 * The text that an answer is kept as. A post's is its id and the thread's status: what else it said can be read out of
 * the id, and there are as many of these rows as messages.
 */
export function packAnswer(answer: Answer): string {
  const { message_id, thread_status } = answer;
  if (typeof message_id !== 'string' || typeof thread_status !== 'string' || Object.keys(answer).length !== 4)
    return JSON.stringify(answer);
  return `${message_id} ${thread_status}`;
}

/** The answer again, as it was given. */
export function unpackAnswer(text: string): Answer {
  if (text.startsWith('{')) return JSON.parse(text) as Answer;
  const [message_id = '', thread_status] = text.split(' ');
  const created_at = new Date(timeOfMessageId(message_id) ?? Number.NaN).toISOString();
  return { message_id, seq: seqOfMessageId(message_id), thread_status, created_at };
}
