import { seqOfMessageId, timeOfMessageId } from '@parley/protocol';

type AnswerFields = Record<string, unknown>;

interface PostAnswer {
  message_id: string;
  thread_status: string;
  called: string[];
  not_called: unknown[];
}

/**
 * The text that an answer is kept as. A post's is its id, the thread's status and whom it called, if anybody: what
 * else it said can be read out of the id, and there are as many of these rows as messages.
 */
export function packAnswer(answer: AnswerFields): string {
  if (!isOfPost(answer)) return JSON.stringify(answer);
  const { message_id, thread_status, called, not_called } = answer;
  const calls = called.length + not_called.length === 0 ? '' : ` ${JSON.stringify({ called, not_called })}`;
  return `${message_id} ${thread_status}${calls}`;
}

const FIELDS = ['message_id', 'seq', 'thread_status', 'created_at', 'called', 'not_called'];

function isOfPost(answer: AnswerFields): answer is AnswerFields & PostAnswer {
  const { message_id, thread_status, called, invokes } = answer;
  if (typeof message_id !== 'string' || typeof thread_status !== 'string') return false;
  if (!FIELDS.every((field) => answer[field] !== undefined)) return false;
  const isWhole = Object.keys(answer).length === FIELDS.length + (invokes === undefined ? 0 : 1);
  return isWhole && (invokes === undefined) === (Array.isArray(called) && called.length === 0);
}

/** The answer again, as it was given. */
export function unpackAnswer(text: string): AnswerFields {
  // `packAnswer` wrote it, as all that follows.
  if (text.startsWith('{')) return JSON.parse(text) as AnswerFields;
  const [message_id = '', thread_status = ''] = text.split(' ', 2);
  const calls = text.slice(message_id.length + thread_status.length + 2);
  // As above.
  const { called, not_called } = (calls === '' ? NOBODY : JSON.parse(calls)) as PostAnswer;
  const created_at = new Date(timeOfMessageId(message_id) ?? Number.NaN).toISOString();
  return {
    message_id,
    seq: seqOfMessageId(message_id),
    thread_status,
    created_at,
    called,
    not_called,
    ...(called.length === 0 ? {} : { invokes: called }),
  };
}

const NOBODY = { called: [], not_called: [] };
