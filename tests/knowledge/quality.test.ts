import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createModelEmbedder, openSearch, type Search } from '@parley/search';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { keepVectors } from '../../bench/cached-vectors.ts';
import { compareHalves } from '../../bench/long-texts.ts';
import { PlainBm25 } from '../../bench/plain-bm25.ts';
import { startQdrant } from '../harness/qdrant.ts';
import { describeWith } from '../tools/describe-with.ts';

type Paragraph = { text: string; questions: string[] };
const PART = JSON.parse(readFileSync(new URL('./data/xquad-part.json', import.meta.url), 'utf8')) as Record<
  Language,
  Paragraph[]
>;
const LANGUAGES = ['en', 'vi', 'de', 'ar', 'hi', 'ru', 'th', 'zh'] as const;
type Language = (typeof LANGUAGES)[number];
const LONG = 300_000;
/** What is promised, as in bench over all questions: what a language may lose by its meaning or against plain BM25, … */
const SLACK = 0.001;
/** … how far both kinds of index may be apart, … */
const APART = 0.005;
/** … and the second half of a long text from the first. */
const HALVES = 0.01;

/** What each question gains, nDCG@10, where one paragraph answers it. */
async function gainsOf(
  find: (text: string) => Promise<string[]>,
  language: Language,
  asked: (text: string) => string,
  most: number,
): Promise<number[]> {
  const gains: number[] = [];
  for (const [i, { questions }] of PART[language].entries()) {
    // Those of a paragraph at once: one after the other the machine waits more than it works.
    const found = await Promise.all(questions.slice(0, most).map((question) => find(asked(question))));
    for (const ids of found) {
      const rank = ids.indexOf(String(i));
      gains.push(rank < 0 ? 0 : 1 / Math.log2(rank + 2));
    }
  }
  return gains;
}

const mean = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0) / all.length;

/** By how much the one is ahead of the other on the mean, and how far so few questions may be mistaken: two standard errors. */
function lead(one: readonly number[], other: readonly number[]): { ahead: number; error: number } {
  const differences = one.map((gain, i) => gain - (other[i] ?? 0));
  const ahead = mean(differences);
  const variance = mean(differences.map((each) => (each - ahead) ** 2));
  return { ahead, error: 2 * Math.sqrt(variance / differences.length) };
}

const by =
  (search: Search, workspace_id: Language, leg: 'hybrid' | 'keyword' = 'hybrid') =>
  async (text: string): Promise<string[]> => {
    const { passages } = await search.find({ workspace_id, text, tags: [], limit: 10, leg }, LONG);
    return passages.map(({ document_id }) => document_id);
  };

async function fill(search: Search): Promise<void> {
  for (const workspace_id of LANGUAGES)
    await search.apply(
      PART[workspace_id].map(({ text }, i) => ({
        workspace_id,
        document_id: String(i),
        version: '1',
        revision: 1,
        title: '',
        tags: [],
        mime_type: 'text/plain',
        body: text,
      })),
      [],
    );
  await search.settled();
}

const asIs = (text: string): string => text;
const bare = (text: string): string =>
  text.normalize('NFD').replaceAll(/\p{M}/gu, '').replaceAll('đ', 'd').replaceAll('Đ', 'D');

describeWith(['qdrant'], 'how well paragraphs are found that answer a question', ({ qdrant: program }) => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-quality-'));
  const onFault = (error: unknown): void => {
    throw error;
  };
  // Both kinds of index are asked the same: each vector is made once.
  const embedder = keepVectors(createModelEmbedder(LONG, onFault), join(folder, 'vectors'));
  const ends: (() => Promise<void>)[] = [];
  let searches: Search[] = [];
  beforeAll(async () => {
    const qdrant = await startQdrant(program);
    const common = { folder, kind: 'documents', embedder, onFault } as const;
    const place = { url: qdrant.url, key: qdrant.key, timeoutMs: 60_000 };
    searches = [openSearch(common), openSearch({ ...common, qdrant: place })];
    for (const search of searches) await fill(search);
    ends.push(
      ...searches.map((search) => () => search.close()),
      () => embedder.close(),
      () => qdrant.close(),
    );
  }, LONG);
  afterAll(async () => {
    for (const end of ends) await end();
    rmSync(folder, { recursive: true });
  });

  // Where no figure is promised, one question of each paragraph shows what is lost; bench asks all of XQuAD.
  test.for([
    ['English', 'en', asIs, 0.97],
    ['Vietnamese', 'vi', asIs, 0.96],
    ['Vietnamese typed without marks', 'vi', bare, 0.9],
    ['German', 'de', asIs, 0],
    ['Arabic', 'ar', asIs, 0],
    ['Hindi', 'hi', asIs, 0],
    ['Russian', 'ru', asIs, 0],
    ['Thai', 'th', asIs, 0],
    ['Chinese', 'zh', asIs, 0],
  ] as const)(
    '[KNOW-17] %s is found no worse than by plain BM25 or by its words alone, in both kinds of index alike',
    { timeout: LONG },
    async ([, language, asked, promised]) => {
      const most = promised > 0 ? Infinity : 1;
      const gains = (find: (text: string) => Promise<string[]>): Promise<number[]> =>
        gainsOf(find, language, asked, most);
      const plain = new PlainBm25(PART[language].map(({ text }, i) => [String(i), '', text]));
      const reference = await gains(async (text) => plain.find(text, 10));
      const found: number[][] = [];
      for (const search of searches) {
        const words = await gains(by(search, language, 'keyword'));
        const both = await gains(by(search, language));
        expect(mean(both)).toBeGreaterThanOrEqual(promised);
        // A leg that does not know the language is silent: there is nothing to be mistaken in.
        if (language !== 'en') expect(mean(both)).toBeGreaterThanOrEqual(mean(words) - SLACK);
        for (const other of [words, reference]) {
          const { ahead, error } = lead(both, other);
          expect(ahead + error).toBeGreaterThanOrEqual(-SLACK);
        }
        found.push(both);
      }
      const [embedded = [], remote = []] = found;
      const { ahead, error } = lead(embedded, remote);
      expect(Math.abs(ahead) - error).toBeLessThanOrEqual(APART);
    },
  );

  test(
    '[KNOW-17] what stands in the second half of a long text is found as well as what stands in the first',
    { timeout: LONG },
    async () => {
      const [embedded] = searches as [Search];
      // Vectors of short texts alone need more questions than these to be told so exactly: bench asks all of XQuAD.
      for (const [perText, leg] of [
        [2, 'hybrid'],
        [10, 'vectors'],
        [10, 'hybrid'],
      ] as const) {
        const { first, second } = await compareHalves(embedded, PART.en, perText, leg);
        expect(second, `${perText} paragraphs a text, ${leg}`).toBeGreaterThanOrEqual(first - HALVES);
      }
    },
  );
});
