import { randomUUID } from 'node:crypto';

import { isBoundedMarkdown } from '@parley/protocol';
import { describe, expect, test } from 'vitest';

import { linksIn } from '../../packages/core/src/knowledge/links.ts';
import { mentions } from '../../packages/core/src/participation/mentions.ts';
import { excerpt } from '../../packages/core/src/threads/findings.ts';
import { summarize } from '../../packages/core/src/threads/summary.ts';
import { wakePrompt } from '../../packages/core/src/wake/prompt.ts';
import { compareLines } from '../../packages/dashboard/src/knowledge/compare-texts.ts';
import { documentPage, type Shown } from '../../packages/hub/src/faces/pages/document-page.ts';
import { analyse } from '../../packages/search/src/analyse.ts';
import { passagesOf } from '../../packages/search/src/passages.ts';
import { AskedWords } from '../../packages/store-sqlite/src/asked-words.ts';
import { snippet } from '@parley/store-rows';
import { hostileTexts } from '../harness/hostile-text.ts';
import { send } from '../harness/send.ts';
import { useHub } from '../harness/use-hub.ts';
import { WITHOUT_MODEL } from '../harness/without-model.ts';

const LENGTH = 100_000;
/** Far beyond what any of them takes, far below what one takes that looks at each part of a text again and again. */
const MOST_CPU_MS = 1_000;

const thread = {
  participants: ['ann'],
  title: 't',
  type: 'review',
  status: 'active',
  last_seq: 1,
  findings: [],
};

const entry = (body: string) => ({
  type: 'message',
  kind: 'event',
  body,
  metadata: { event_type: 'finding_reported' },
  sender_agent_id: 'ann',
  created_at: '2030-01-01T00:00:00Z',
  message_id: 'm',
  seq: 1,
});

const page = (body: string, mime_type: string): string =>
  documentPage(
    {
      document_id: '00000000-0000-4000-8000-000000000000',
      metadata: { title: 't' },
      content: { mime_type, body },
      revision: 1,
      updated_at: '2030-01-01T00:00:00Z',
      updated_by: 'ann',
    } as Shown,
    1,
    { parent: undefined, children: [], findLink: () => undefined, revision: undefined },
  );

const asked = new AskedWords();

/** Whatever looks at the words of others. */
const readers: Record<string, (text: string) => unknown> = {
  'the page of a document': (text) => page(text, 'text/markdown'),
  'the page of JSON': (text) => page(text, 'application/json'),
  'what may be parsed': isBoundedMarkdown,
  'links to documents': linksIn,
  'mentions of participants': (text) => mentions(thread as never, `@ann ${text}`),
  'the summary of a thread': (text) =>
    summarize(thread as never, [entry(text)] as never, undefined, new AbortController().signal),
  'an excerpt': excerpt,
  'the passages of a document': (text) => passagesOf(text, 'text/markdown'),
  'the passages of a text': (text) => passagesOf(text, 'text/plain'),
  'words to be found by': analyse,
  'words to look for': (text) => asked.takeApart(text),
  'what was found': (text) => snippet(text, 'nothing of it'),
  'the prompt of a wake': (text) =>
    wakePrompt({
      trigger_id: 'w',
      thread_id: 't',
      agent_id: 'a',
      by: 'b',
      boundary: 'x1',
      first_seq: 1,
      senders: [],
      title: text,
      note: text,
      summary: text,
    }),
};

async function cpuOf(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const texts = hostileTexts(LENGTH);
for (const nested of [1_000, 4_000, 40_000])
  texts.set(`JSON ${nested} deep`, '['.repeat(nested) + ']'.repeat(nested));

describe('time that its length bounds, whatever is written', () => {
  test.each(Object.entries(readers))('%s', async (_name, read) => {
    const slow: [string, number][] = [];
    for (const [what, text] of texts) {
      let ms = await cpuOf(() => read(text));
      // Somebody else's work may have been counted: what is slow is so again.
      if (ms > MOST_CPU_MS) ms = await cpuOf(() => read(text));
      if (ms > MOST_CPU_MS) slow.push([what, Math.round(ms)]);
    }
    expect(slow).toEqual([]);
  });
});

test('what people write is parsed, what holds them up is not', () => {
  const honest = [
    '# Title\n\nText with **marks**, `code` and [a link](https://example.com).\n',
    '> quoted\n>> twice\n> > > thrice\n',
    `${'- item\n'.repeat(900)}\n${'1. item\n'.repeat(900)}`,
    `| a | b |\n| --- | --- |\n${'| x | y |\n'.repeat(6_000)}`,
    '- a\n  - b\n    - c\n      > d\n        1. e\n',
    `\`\`\`\n${'a line of code\n'.repeat(3_000)}\`\`\`\n`,
    '---\n\n***\n\n- - -\n',
    `https://example.com/${'a'.repeat(1_500)}`,
  ];
  for (const text of honest)
    expect([text.slice(0, 40), isBoundedMarkdown(text)]).toEqual([text.slice(0, 40), true]);
  for (const text of [
    '>'.repeat(21),
    `${'>'.repeat(2_000)}x`,
    '> '.repeat(21),
    '- '.repeat(21),
    '1. '.repeat(21),
    `${' '.repeat(90)}- a`,
    `${'\t'.repeat(30)}a`,
    'a'.repeat(2_001),
    `a${' '.repeat(600)}b`,
    '- a\n'.repeat(1_001),
    `${'|a'.repeat(500)}\n${'|-'.repeat(500)}\n${'|\n'.repeat(200)}`,
  ])
    expect([text.slice(0, 40), isBoundedMarkdown(text)]).toEqual([text.slice(0, 40), false]);
});

test('two texts that have nothing in common are shown one after the other, in time', async () => {
  const lines = (word: string): string => Array.from({ length: 10_000 }, (_, i) => `${word} ${i}`).join('\n');
  const [before, after] = [lines('old'), lines('new')];
  let compared: ReturnType<typeof compareLines> = [];
  expect(await cpuOf(() => (compared = compareLines(before, after)))).toBeLessThan(3 * MOST_CPU_MS);
  expect(compared).toHaveLength(20_000);
  expect([compared[0], compared.at(-1)]).toEqual([
    { mark: '-', text: 'old 0' },
    { mark: '+', text: 'new 9999' },
  ]);
  expect(compareLines('a\nb c\n', 'a\nb d\n')).toEqual([
    { mark: ' ', text: 'a' },
    { mark: '-', text: 'b c', other: 'b d' },
    { mark: '+', text: 'b d', other: 'b c' },
  ]);
});

test('JSON that is nested deep is not made longer by its page than it is', () => {
  const deep = '['.repeat(4_000) + ']'.repeat(4_000);
  expect(page(deep, 'application/json')).toContain(deep);
  expect(page('{"a":[1]}', 'application/json')).toContain('{\n  &quot;a&quot;: [\n    1\n  ]\n}');
});

const scene = useHub({ settings: WITHOUT_MODEL });

test('a page of nothing but quotes is shown as it is, and the hub answers others meanwhile', async () => {
  const ed = scene.as('ed', { role: 'orchestrator' });
  for (const body of ['>'.repeat(2_000), '>'.repeat(120_000), `${'> '.repeat(19)}${'>'.repeat(5_000)}x`]) {
    const document_id = randomUUID();
    const content = { mime_type: 'text/markdown' as const, body };
    await ed.ok('create_document', { document_id, parent_id: 'root', content, metadata: { title: 't' } });
    const { status, text } = await send(`${scene.hub.url}/d/${document_id}`, {
      headers: { authorization: `Bearer ${ed.token}` },
    });
    expect(status).toBe(200);
    expect(text).toContain('<pre class="plain">');
    expect(text).toContain('&gt;'.repeat(1_000));
  }
});
