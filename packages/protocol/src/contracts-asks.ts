import * as z from 'zod';

import { NO_LONGER_NEEDED } from './ask-words.ts';
import { Ask, AskAnswer, AskContent, AskId, AskStatus } from './asks.ts';
import { contract, READS, WRITES } from './contract.ts';
import { IdempotencyKey, ThreadId } from './entities.ts';
import { LIMITS } from './limits.ts';
import { PasskeySignature } from './passkeys.ts';
import { Name, storableText } from './text.ts';

const Patience = z.number().int().min(0).max(LIMITS.wait_max_ms).default(LIMITS.wait_default_ms);

const Raising = AskContent.extend({
  thread_id: ThreadId.optional().describe('where it arose; else your own journal'),
  expires_in_ms: z
    .number()
    .int()
    .min(1_000)
    .max(86_400_000)
    .default(600_000)
    .describe('then it counts as denied'),
  idempotency_key: IdempotencyKey.optional(),
});

const raiseAsk = contract({
  name: 'raise_ask',
  version: '1.0.0',
  title: 'Raise an ask',
  description: 'Put something before a person and go on; wait_for_ask brings the answer.',
  input: Raising,
  output: z.object({ ask: Ask }),
  annotations: WRITES,
  essential: false,
  shows: 'state',
  cost: 'message',
  strict: true,
});

const askHuman = contract({
  name: 'ask_human',
  version: '1.0.0',
  title: 'Ask a person',
  description:
    'Ask the person in charge and wait: approval of a command, a question with options. Unanswered means denied. If timed_out, call again with the same idempotency_key to wait on.',
  input: Raising.extend({ timeout_ms: Patience }),
  output: z.object({ ask: Ask, timed_out: z.boolean() }),
  annotations: WRITES,
  essential: true,
  shows: 'state',
  cost: 'message',
  strict: true,
});

const waitForAsk = contract({
  name: 'wait_for_ask',
  version: '1.0.0',
  title: 'Wait for an answer',
  description: 'Wait until your ask is answered, denied or expired.',
  input: z.object({ ask_id: AskId, timeout_ms: Patience }),
  output: z.object({ ask: Ask, timed_out: z.boolean() }),
  annotations: WRITES,
  essential: false,
  shows: 'state',
});

const getAsk = contract({
  name: 'get_ask',
  version: '1.0.0',
  title: 'Get an ask',
  description: 'One ask as it stands.',
  input: z.object({ ask_id: AskId }),
  output: z.object({ ask: Ask }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/asks/{ask_id}' },
  essential: false,
});

const listAsks = contract({
  name: 'list_asks',
  version: '1.0.0',
  title: 'List asks',
  description:
    'What agents need of a person, the newest first; those still open unless another status is named.',
  input: z.object({
    status: z.union([AskStatus, z.literal('all')]).default('open'),
    of_agent: Name.optional(),
    limit: z.number().int().min(1).max(LIMITS.page_max).default(LIMITS.page_default),
    before: AskId.optional().describe('next_before of the page before this one'),
  }),
  output: z.object({
    asks: z.array(Ask),
    next_before: AskId.nullable().describe('where the next page begins; null: there is none'),
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/asks' },
  essential: false,
});

const answerAsk = contract({
  name: 'answer_ask',
  version: '1.0.0',
  title: 'Answer an ask',
  description: 'A person’s verdict. A second answer gets the standing one.',
  input: AskAnswer.extend({
    ask_id: AskId,
    passkey: PasskeySignature.optional().describe('for an ask that needs one'),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ ask: Ask }),
  annotations: WRITES,
  essential: false,
  shows: 'state',
  strict: true,
});

const withdrawAsk = contract({
  name: 'withdraw_ask',
  version: '1.0.0',
  title: 'Withdraw an ask',
  description: 'You no longer need the answer.',
  input: z.object({
    ask_id: AskId,
    reason: storableText({ maxBytes: LIMITS.reason_bytes }).default(NO_LONGER_NEEDED),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ ask: Ask }),
  annotations: WRITES,
  essential: false,
  shows: 'state',
  strict: true,
});

/** By name: the table of contracts takes them from here. */
export const askContracts = {
  raise_ask: raiseAsk,
  ask_human: askHuman,
  wait_for_ask: waitForAsk,
  get_ask: getAsk,
  list_asks: listAsks,
  answer_ask: answerAsk,
  withdraw_ask: withdrawAsk,
};
