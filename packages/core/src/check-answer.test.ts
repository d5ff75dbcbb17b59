import { expect, test } from 'vitest';

import { checkAnswer } from './check-answer.ts';
import type { AckRead, Rule } from './commands.ts';
import type { CallRecord } from './gate.ts';
import { createHub } from './hub.ts';
import { callerOf } from './store-contract/scene.ts';
import { openSampleHub } from './sample-hub.ts';
import { openMemoryStore } from './store-memory.ts';

const updated_at = '2030-01-01T00:00:00.000Z';

test('a rule that answers something else than its command promises does not compile', () => {
  const right: Rule<AckRead> = {
    needs: () => ({}),
    decide: () => ({ changes: [], result: { ok: true, updated_at } }),
  };
  const wrong: Rule<AckRead> = {
    needs: () => ({}),
    // @ts-expect-error The contract of ack_read knows no banana.
    decide: () => ({ changes: [], result: { banana: true } }),
  };
  expect(right).not.toEqual(wrong);
});

test('an answer that differs from its contract is told by the place, never by what stands there', () => {
  expect(() => checkAnswer('ack_read', { ok: true, updated_at })).not.toThrow();
  expect(() => checkAnswer('ack_read', { ok: true, updated_at, secret: 'hunter2' })).toThrow(
    /^the answer of ack_read differs from its contract: secret is not in it$/,
  );
  expect(() => checkAnswer('ack_read', { ok: 'hunter2', updated_at })).toThrow(
    /^the answer of ack_read differs from its contract: ok: invalid_value$/,
  );
});

test('one that came too late in its order is no mismatch, unless it says more than that', () => {
  expect(() => checkAnswer('create_document', { ignored: true, last_seq: 5 })).not.toThrow();
  expect(() => checkAnswer('create_document', { ignored: true, last_seq: 5, id: 'x' })).toThrow('contract');
});

test('the gate serves no answer that differs, where it is to look', async () => {
  const { deps } = openSampleHub(openMemoryStore(), { now: 1e12 });
  const about = () => ({ ...deps.about(), started_at: 'hunter2' });
  const calls: CallRecord[] = [];
  const look = (checkAnswers: boolean) =>
    createHub({ ...deps, about }, (call) => calls.push(call), { checkAnswers }).call(
      callerOf('chief', 'w', 'operator'),
      'describe_hub',
      {},
      { request_id: 'r', signal: new AbortController().signal },
    );
  expect(await look(false)).toMatchObject({ started_at: 'hunter2' });
  await expect(look(true)).rejects.toMatchObject({ code: 'INTERNAL' });
  expect(String(calls[1]?.cause)).toContain('describe_hub differs from its contract: started_at');
  expect(String(calls[1]?.cause)).not.toContain('hunter2');
});
