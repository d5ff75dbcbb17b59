import { describe, expect, test } from 'vitest';

import type { Entry } from '../entry.ts';
import { idAt, sampleCreation, sampleEvent, sampleMessage } from './sample-entries.ts';
import { evolve, type ThreadState } from './state.ts';
import { type Prose, summarize } from './summary.ts';

const signal = new AbortController().signal;
function summaryOf(entries: Entry[], prose?: Prose) {
  const state = [sampleCreation(), ...entries].reduce<ThreadState | undefined>(
    evolve,
    undefined,
  ) as ThreadState;
  return summarize(state, entries, prose, signal);
}

describe('[HUB-M7] summarize', () => {
  test('no message', async () => {
    expect(await summaryOf([])).toEqual({
      summary: '“Review” (workflow) is active; 0 messages read of 0. Nothing is open.',
      open_items: [],
      last_status: 'active',
      messages_read: 0,
      through_seq: 0,
      written_by: 'rules',
    });
  });

  test('one message', async () => {
    const { summary } = await summaryOf([sampleMessage(1, 'bob', 'good\n morning')]);
    expect(summary).toBe(
      '“Review” (workflow) is active; 1 message read of 1. Nothing is open. Last heard: bob at 2030-01-01T00:00:01.000Z: good morning',
    );
  });

  test('a text is told without its marks', async () => {
    const table = '| file | change |\n| --- | ---: |\n| a.ts | +1 |\n\nThat is all.';
    const { summary } = await summaryOf([sampleMessage(1, 'bob', table)]);
    expect(summary).toMatch(/: file change a\.ts \+1 That is all\.$/);
  });

  test('a whole review, the same each time', async () => {
    const entries = [
      sampleEvent(1, 'bob', 'finding_reported', {
        finding_id: 'F1',
        severity: 'high',
        file: 'a.ts',
        line: 3,
      }),
      sampleEvent(2, 'bob', 'finding_reported', { finding_id: 'F2', severity: 'low' }),
      sampleEvent(3, 'bob', 'finding_reported', { finding_id: 'F3', severity: 'high' }),
      sampleEvent(4, 'alice', 'fix_pushed', { commit: 'abc1234', files: ['a.ts', 'b.ts'] }),
      sampleEvent(5, 'alice', 're_review_requested', { finding_id: 'F1', commit: 'abc1234' }),
      sampleEvent(6, 'bob', 'finding_verified', { finding_id: 'F1' }),
      sampleEvent(7, 'alice', 'finding_rejected', { finding_id: 'F2' }),
      sampleEvent(8, 'alice', 're_review_requested', { finding_id: 'F3' }),
    ];
    const reported = await summaryOf(entries);
    expect(reported.summary).toBe(
      '“Review” (workflow) is active; 8 messages read of 8. 3 findings reported (2 high, 1 low), 1 verified, 1 rejected. ' +
        'Commits: abc1234. Files: a.ts, b.ts. ' +
        'Open: finding_reported by bob (bob, #3); re_review_requested by alice (alice, #8). ' +
        '1 finding rejected but not settled with the reporter. ' +
        'Last heard: alice at 2030-01-01T00:00:08.000Z: re_review_requested by alice',
    );
    expect(reported.open_items.map(({ kind, message_id }) => [kind, message_id])).toEqual([
      ['finding', idAt(3)],
      ['request', idAt(8)],
    ]);
    expect(await summaryOf(entries)).toEqual(reported);
  });

  test.each<[string, Entry, boolean]>([
    ['a reply of another', sampleMessage(2, 'bob', 'yes', { in_reply_to: idAt(1) }), true],
    ['a reply of the asker', sampleMessage(2, 'alice', 'ping', { in_reply_to: idAt(1) }), false],
    ['a reply to something else', sampleMessage(2, 'bob', 'yes', { in_reply_to: idAt(9) }), false],
    ['another message', sampleMessage(2, 'bob', 'hello'), false],
    ['a verdict on the same finding', sampleEvent(2, 'bob', 'finding_verified', { finding_id: 'F1' }), true],
    ['a verdict on the same task', sampleEvent(2, 'bob', 'finding_rejected', { task_id: 'T' }), true],
    ['a verdict on another finding', sampleEvent(2, 'bob', 'finding_verified', { finding_id: 'F2' }), false],
    [
      'a verdict on another task',
      sampleEvent(2, 'bob', 'finding_verified', { finding_id: 'F1', task_id: 'U' }),
      false,
    ],
    ['a verdict of the asker', sampleEvent(2, 'alice', 'finding_verified', { finding_id: 'F1' }), false],
    ['the end of the thread', sampleEvent(2, 'bob', 'thread_resolved'), true],
    ['a fix', sampleEvent(2, 'bob', 'fix_pushed', { finding_id: 'F1' }), false],
  ])('a request and %s', async (_what, entry, answered) => {
    const request = sampleEvent(1, 'alice', 're_review_requested', { finding_id: 'F1', task_id: 'T' });
    const { open_items } = await summaryOf([request, entry]);
    expect(open_items.map(({ kind }) => kind)).toEqual(answered ? [] : ['request']);
  });

  test('many messages: lists stay short, and other work gets its turn', async () => {
    const entries = Array.from({ length: 5_000 }, (_, i) =>
      i % 2 === 0
        ? sampleEvent(i + 1, 'alice', 're_review_requested', { finding_id: `F${i}`, commit: `c${i}` })
        : sampleEvent(i + 1, 'alice', 'finding_verified', { finding_id: `F${i}`, severity: `s${i}` }),
    );
    let turns = 0;
    const ticking = setInterval(() => turns++, 0);
    const { summary, open_items, messages_read } = await summaryOf(entries);
    clearInterval(ticking);
    expect(messages_read).toBe(5_000);
    expect(open_items).toHaveLength(500);
    expect(open_items.at(-1)?.seq).toBe(4_999);
    expect(summary).toContain('c18 and 2490 more');
    expect(summary.length).toBeLessThan(3_000);
    expect(turns).toBeGreaterThan(3);
  });

  test('a model may write the prose, but not the facts', async () => {
    const entries = [sampleEvent(1, 'bob', 'finding_reported')];
    const rules = await summaryOf(entries);
    const seen: string[] = [];
    const model = await summaryOf(entries, async (facts) => {
      seen.push(facts);
      return 'All is well.';
    });
    expect(seen).toEqual([rules.summary]);
    expect(model).toEqual({ ...rules, summary: 'All is well.', written_by: 'model' });
    expect(await summaryOf(entries, async () => undefined)).toEqual(rules);
  });
});
