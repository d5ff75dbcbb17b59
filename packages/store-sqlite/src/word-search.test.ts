import { join } from 'node:path';

import type { SearchQuery, SearchResult } from '@parley/core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { openReader } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';
import { SampleCommands, sampleThread } from './sample-commands.ts';
import { openSample, removeFolder, sampleFolder } from './sample-record.ts';
import { WordSearch } from './word-search.ts';
import { Batches } from './batches.ts';

/** What a search may cost is 10 ms; other machines are slower than ours. */
const MOST_MS = 20;
/** More than two blocks of the index. */
const MANY = 20_000;
const FEW = 1_000;
const folder = sampleFolder();
const small = sampleFolder();
let words: WordSearch;
let fewWords: WordSearch;

beforeAll(() => {
  words = fill(folder, MANY);
  fewWords = fill(small, FEW);
}, 120_000);
afterAll(() => [folder, small].forEach(removeFolder));

/** Thread 0 is for all, 1 for alice alone, 2 for bob with few messages, 3 and on are bob's many. */
function fill(place: string, count: number): WordSearch {
  const writer = new Batches(openSample(place));
  const sample = new SampleCommands();
  const run = (commands: Parameters<Batches['run']>[0]): void => {
    const refused = writer.run(commands).find(({ ok }) => ok === undefined);
    if (refused !== undefined) throw new Error(JSON.stringify(refused));
  };
  run([0, 1, 2].map((n) => sample.create(n, n === 1 ? [] : ['bob'])));
  for (let n = 3; n < 103; n++) run([sample.create(n, ['many'])]);
  run([sample.create(500, ['alice'], undefined, 'v')]);
  for (let n = 0; n < count; n += 500)
    run(
      Array.from({ length: 500 }, (_, i) => {
        const at = n + i;
        const parity = at % 2 === 0 ? 'even' : 'odd';
        const rare = at === 100 ? ' oldest-needle' : '';
        return sample.post('alice', at % 50 === 7 ? 0 : 1, `common word ${parity} ${at}${rare}`);
      }),
    );
  run([sample.post('alice', 2, 'common word even odd'), sample.post('alice', 2, 'odd common, then word')]);
  run(
    Array.from({ length: 3 }, (_, i) => sample.post('alice', 500, `common foreign ${i}`, { workspace: 'v' })),
  );
  while (writer.idle() !== undefined);
  writer.close();
  return new WordSearch(openReader(join(place, DATABASE_FILE)));
}

function find(text: string, more: Partial<SearchQuery> = {}): SearchResult {
  return words.search({
    workspace_id: 'w',
    participant: undefined,
    thread_id: undefined,
    text,
    limit: 50,
    ...more,
  });
}

const bodies = ({ hits }: SearchResult): string[] => hits.map(({ entry }) => entry.body);

describe('what is found', () => {
  test('of very many matches the newest, and it is said that there are older ones', () => {
    const found = find('common word', { limit: 3 });
    expect(found.lacks).toEqual(['older_matches']);
    expect(found.hits).toHaveLength(3);
    for (const { entry } of found.hits)
      if (entry.thread_id !== sampleThread(2))
        expect(Number(/\d+/.exec(entry.body)?.[0])).toBeGreaterThan(MANY - 200);
  });

  test('a rare word leads to the oldest message, alone and with common ones, in and out of a phrase', () => {
    for (const text of ['needle', 'needle common word', 'NEEDLE Common', '"oldest needle"', 'oldest-needle'])
      expect([text, find(text)]).toMatchObject([text, { hits: [{ entry: {} }], lacks: [] }]);
    expect(find('"needle oldest"')).toEqual({ hits: [], lacks: [] });
    expect(find('needle odd')).toEqual({ hits: [], lacks: [] });
  });

  test('words that hardly meet are looked for as far as there is time, phrases among the texts themselves', () => {
    expect(bodies(find('odd even'))).toEqual(['common word even odd']);
    expect(bodies(find('"even odd"'))).toEqual(['common word even odd']);
    expect(find('nowhere common')).toEqual({ hits: [], lacks: [] });
    expect(find('*"* --')).toEqual({ hits: [], lacks: [] });
  });

  test('what one may not read takes nothing away from what one may', () => {
    const found = find('common odd', { participant: 'bob', limit: 2 });
    expect(bodies(found)[0]).toContain('odd');
    expect(found.hits).toHaveLength(2);
    expect(bodies(find('odd even', { participant: 'bob' }))).toEqual(['common word even odd']);
    expect(find('common', { participant: 'many' })).toEqual({ hits: [], lacks: ['older_matches'] });
    expect(find('common', { participant: 'nobody' })).toEqual({ hits: [], lacks: [] });
    expect(find('common even', { thread_id: sampleThread(2) })).toMatchObject({ hits: [{}], lacks: [] });
    expect(find('common', { thread_id: 'th_nowhere' })).toEqual({ hits: [], lacks: [] });
  });

  test('another workspace is neither found nor in the way', () => {
    expect(bodies(find('common', { workspace_id: 'v' }))).toEqual(
      [2, 1, 0].map((i) => `common foreign ${i}`),
    );
    expect(find('common', { workspace_id: 'u' })).toEqual({ hits: [], lacks: [] });
    expect(find('foreign')).toEqual({ hits: [], lacks: [] });
  });

  test('the marks of the index are no words that one could ask for', () => {
    for (const mark of ['w1', 'b1', 't1', 'a1'])
      expect(find(`\u{e000}${mark}`)).toEqual({ hits: [], lacks: [] });
  });

  test('a word counts once, and of many words the first sixteen', () => {
    expect(find('needle '.repeat(140))).toEqual(find('needle'));
    const many = `needle ${Array.from({ length: 15 }, () => 'common word').join(' ')}`;
    expect(find(many).lacks).toEqual([]);
    const different = Array.from({ length: 40 }, (_, i) => `w${i}`).join(' ');
    expect(find(different)).toEqual({ hits: [], lacks: ['words'] });
  });
});

describe('what it costs', () => {
  /** The least CPU time of some tries: others use this machine too. */
  function cost(where: WordSearch, text: string, more: Partial<SearchQuery> = {}): number {
    const query = { workspace_id: 'w', participant: undefined, thread_id: undefined, limit: 20, ...more };
    const tries = Array.from({ length: 15 }, () => {
      const before = process.cpuUsage();
      where.search({ ...query, text });
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    });
    return Math.min(...tries);
  }

  test.each([
    ['common words', 'common word'],
    ['words that hardly meet', 'odd even'],
    ['1 kB of one word', 'common '.repeat(142)],
    ['phrases', '"common word" "word odd"'],
    ['very many words', Array.from({ length: 140 }, (_, i) => `${i}`).join(' ')],
  ])('little, in a short log and in one twenty times as long: %s', (_name, text) => {
    expect(cost(fewWords, text)).toBeLessThan(MOST_MS);
    expect(cost(words, text)).toBeLessThan(MOST_MS);
  });
});
