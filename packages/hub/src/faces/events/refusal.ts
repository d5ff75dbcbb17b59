import { type ErrorEnvelope, ParleyError, toEnvelope } from '@parley/protocol';

/** What the operations' fields are called in an event. */
const WORDS: Readonly<Record<string, string>> = {
  body: 'content',
  output: 'content',
  tags: 'meta.tags',
  control: 'content',
  state: 'content.state',
  profile: 'content.details',
  in_reply_to: 'meta.reply_to',
  task: 'meta.reply_to',
  metadata: 'meta',
  idempotency_key: 'id',
};

/** The envelope of a refusal in which a field has the name that the client gave it. */
export function inOwnWords(error: ParleyError, requestId: string): ErrorEnvelope {
  const field = error.details?.['field'];
  if (typeof field !== 'string') return toEnvelope(error, requestId);
  const [head = '', ...rest] = field.split('.');
  const word = Object.hasOwn(WORDS, head) ? WORDS[head] : undefined;
  if (word === undefined) return toEnvelope(error, requestId);
  const named = [word, ...rest].join('.');
  const message = error.message.startsWith(field) ? named + error.message.slice(field.length) : error.message;
  return toEnvelope(new ParleyError(error.code, message, { ...error.details, field: named }), requestId);
}
