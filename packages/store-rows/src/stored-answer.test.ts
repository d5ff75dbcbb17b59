import { entryUlid, messageId } from '@parley/protocol';
import { assert, constantFrom, nat, property } from 'fast-check';
import { expect, test } from 'vitest';

import { packAnswer, unpackAnswer } from './stored-answer.ts';

const LAST_MOMENT = Date.parse('9999-12-31T23:59:59.999Z');

const NOBODY = { called: [], not_called: [] };
const BOB = { called: ['bob'], not_called: [], invokes: ['bob'] };
const NOT_BOB = { called: [], not_called: [{ agent: 'bob', why: 'muted', hint: 'it is muted here' }] };

test("a post's answer is kept as its id, status and calls, and comes back word for word", () => {
  assert(
    property(
      nat(LAST_MOMENT),
      nat(Number.MAX_SAFE_INTEGER),
      constantFrom('active', 'blocked', 'resolved'),
      constantFrom(NOBODY, BOB, NOT_BOB),
      (at, seq, thread_status, calls) => {
        const message_id = messageId(entryUlid(at, seq, 7));
        const answer = { message_id, seq, thread_status, created_at: new Date(at).toISOString(), ...calls };
        const text = packAnswer(answer);
        expect(text.startsWith(`${message_id} ${thread_status}`)).toBe(true);
        if (calls === NOBODY) expect(text).toBe(`${message_id} ${thread_status}`);
        expect(JSON.stringify(unpackAnswer(text))).toBe(JSON.stringify(answer));
      },
    ),
  );
});

test('every other answer is kept whole', () => {
  const answers = [
    { ok: true, updated_at: '2026-01-01T00:00:00.000Z' },
    {
      message_id: 'msg_1',
      seq: 1,
      thread_status: 'active',
      created_at: '2026-01-01T00:00:00.000Z',
      ...BOB,
      more: 1,
    },
    { message_id: 'msg_1', seq: 1, thread_status: 'active', created_at: '2026-01-01T00:00:00.000Z' },
    { message_id: 'msg_1', seq: 1, thread_status: 'active', ask_id: 'ask_1' },
  ];
  for (const answer of answers) expect(unpackAnswer(packAnswer(answer))).toEqual(answer);
});
