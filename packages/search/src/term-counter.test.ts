import { afterAll, expect, test } from 'vitest';

import { TermCounter } from './term-counter.ts';

const counter = new TermCounter();
afterAll(() => counter.close());

/** What a question's words count in a text, all of them equally rare. */
function weight(question: string, text: string): number {
  const asked = new Set(counter.question('w', question)?.indices);
  const [vector] = counter.texts('w', [text]);
  return (vector?.indices ?? []).reduce(
    (sum, index, i) => sum + (asked.has(index) ? (vector?.values[i] ?? 0) : 0),
    0,
  );
}

test('[KNOW-17] a word counts no more than once, whether or not the text around it has marks', () => {
  const plain = 'Der Vater wohnte lange in Weimar am Markt und schrieb dort viel';
  const marked = 'Der Vater wohnte für Jahre in Köln am Münster und übte dort häufig';
  expect(weight('vater', plain)).toBeGreaterThan(0.5);
  expect(weight('vater', marked)).toBeCloseTo(weight('vater', plain), 1);
});

test('[KNOW-17] words typed without marks find those that have them, and not the other way round', () => {
  const text = 'Đường phố rất đông';
  expect(weight('duong', text)).toBeGreaterThan(0);
  expect(weight('đường', text)).toBeGreaterThan(0);
  expect(weight('đương', text)).toBe(0);
  expect(weight('đường', 'duong pho')).toBe(0);
});
