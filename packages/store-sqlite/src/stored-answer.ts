import { seqOfMessageId, timeOfMessageId } from '@parley/protocol';

type Answer = Record<string, unknown>;

/**
 * The text that an answer is kept as. A post's is its id and the thread's status: what else it said can be read out of
 * the id, and there are as many of these rows as messages.
 */
export function packAnswer(answer: Answer): string {
  if (!isOfPost(answer)) return JSON.stringify(answer);
  return `${answer.message_id} ${answer.thread_status}`;
}

function isOfPost(answer: Answer): answer is { message_id: string; thread_status: string } {
  const { message_id, seq, thread_status, created_at } = answer;
  const named = typeof message_id === 'string' && typeof thread_status === 'string';
  return named && seq !== undefined && created_at !== undefined && Object.keys(answer).length === 4;
}

/** The answer again, as it was given. */
export function unpackAnswer(text: string): Answer {
  if (text.startsWith('{')) return JSON.parse(text) as Answer;
  const [message_id = '', thread_status] = text.split(' ');
  const created_at = new Date(timeOfMessageId(message_id) ?? Number.NaN).toISOString();
  return { message_id, seq: seqOfMessageId(message_id), thread_status, created_at };
}
