import { expect, test } from 'vitest';

import { idAt, sampleCreation, sampleEvent, sampleMessage } from '../threads/sample-entries.ts';
import { evolve, type ThreadState } from '../threads/state.ts';
import { createThreadDocument } from './thread-document.ts';

function documentOf(entries: Parameters<typeof evolve>[1][]) {
  const all = [sampleCreation(), ...entries];
  const document = createThreadDocument();
  document.add(all);
  return document.write(all.reduce<ThreadState | undefined>(evolve, undefined) as ThreadState);
}

test('a review becomes statements, each with the entry it rests on', () => {
  const { body, cited } = documentOf([
    sampleMessage(1, 'bob', 'looking at it'),
    sampleEvent(2, 'bob', 'finding_reported', {
      finding_id: 'F1',
      severity: 'high',
      file: 'a_b.ts',
      line: 3,
    }),
    sampleEvent(3, 'alice', 'fix_pushed', { finding_id: 'F1', commit: 'abc1234' }),
    sampleEvent(4, 'bob', 'finding_verified', { finding_id: 'F1' }),
    sampleEvent(5, 'bob', 'finding_reported', { finding_id: 'F2' }),
  ]);
  expect(body.split('\n').filter((line) => line.startsWith('- ') || line.startsWith('#'))).toEqual([
    '# Review',
    '## Findings',
    '- **high** finding\\_reported by bob (a\\_b.ts:3), reported by bob [#2](/t/t1/2). ' +
      'Fixed by alice in abc1234: fix\\_pushed by alice [#3](/t/t1/3) Verified by bob: finding\\_verified by bob [#4](/t/t1/4)',
    '- finding\\_reported by bob, reported by bob [#5](/t/t1/5). Nothing more was said of it.',
    '## What was said',
    '- bob: looking at it [#1](/t/t1/1)',
    '## Sources',
    ...[1, 2, 3, 4, 5].map((seq) => expect.stringContaining(`- #${seq} \`${idAt(seq)}\` `)),
  ]);
  expect(cited).toBe(5);
});

test('what others wrote stays words: no markup, link or heading of theirs', () => {
  const { body } = documentOf([
    sampleMessage(1, 'bob', '# Top\n\n[[Guide]] <script>alert(1)</script> ![x](http://evil.example/x.png)'),
  ]);
  expect(body).not.toMatch(/(?<!\\)[<[](script|\[|x)/);
  expect(body.match(/^#+ /gm)).toHaveLength(3);
});

test('of a long thread the newest is told, and how much is not', () => {
  const { body, cited } = documentOf(
    Array.from({ length: 1_000 }, (_, i) => sampleMessage(i + 1, 'bob', `word ${i + 1}`)),
  );
  expect(body).toContain('800 earlier ones are left out.');
  expect(body).toContain('bob: word 1000 [#1000]');
  expect(cited).toBe(200);
});
