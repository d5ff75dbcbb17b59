import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteModule } from '@parley/sqlite';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';

import { createModelEmbedder } from './embedder.ts';
import { checkIndex } from './open-index.ts';
import { INDEX_FILES, openSearch, type Search } from './open-search.ts';
import { noModel, page, PAGES, searchContract } from './search-contract.ts';

const LONG = 120_000;
const onFault = (error: unknown): void => {
  throw error;
};
const folder = mkdtempSync(join(tmpdir(), 'parley-search-'));
const embedder = createModelEmbedder(300_000, onFault);
const path = join(folder, INDEX_FILES.documents);
const open = (model?: 'none'): Search =>
  openSearch({
    folder,
    kind: 'documents',
    embedder: model === 'none' ? noModel(embedder) : embedder,
    onFault,
  });
const empty = async (): Promise<void> => {
  for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
};
afterAll(async () => {
  await embedder.close();
  rmSync(folder, { recursive: true });
});

describe('the embedded index', () => {
  searchContract(open, empty);
});

describe('the file of the index', () => {
  let search: Search;
  beforeEach(async () => {
    await empty();
    search = open();
  });
  afterEach(() => search.close());

  test('[KNOW-17] forgetting leaves no word in the file', { timeout: LONG }, async () => {
    await search.apply([...PAGES, page('secret', 'The word is quetzalcoatl.')], []);
    await search.apply([page('secret', 'Nothing is here about ocelots.', { version: '2', revision: 2 })], []);
    await search.apply([], [{ workspace_id: 'w1', document_id: 'secret' }]);
    await search.forget('w1');
    await search.close();
    const file = readFileSync(path);
    expect([file.includes('quetzalcoatl'), file.includes('quetz'), file.includes('ocelot')]).toEqual([
      false,
      false,
      false,
    ]);
    expect(file.includes('feline') || file.includes('Feline')).toBe(true);
  });

  test('[KNOW-17] nobody else may read it; a broken one is made anew', { timeout: LONG }, async () => {
    await search.apply(PAGES, [], { workspace_id: 'w1', pos: 3 });
    await search.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(path, 'this is no database at all, and yet it is there'.repeat(100));
    search = open();
    expect(await search.place('w1')).toBeUndefined();
    expect(await search.known('w1')).toEqual([]);
    await search.apply(PAGES, [], { workspace_id: 'w1', pos: 4 });
    expect(await search.known('w1')).toHaveLength(3);
  });

  /** Does something to the file behind the back of whoever has it open. */
  function damage(sql: string): void {
    const db = new (sqliteModule().DatabaseSync)(path);
    db.enableDefensive(false);
    db.exec(sql);
    db.close();
  }

  test.each([
    ['words are gone', 'DELETE FROM words_1'],
    ['words are empty', "UPDATE words_1_data SET block = x'00' WHERE id = 10"],
    ['words are zeroed', 'UPDATE words_1_data SET block = zeroblob(length(block)) WHERE id > 10'],
    ['table of words is gone', 'DROP TABLE words_1'],
  ])(
    '[KNOW-17] [R11] an open index whose %s answers nobody until it is filled again',
    { timeout: LONG },
    async (_what, sql) => {
      await search.close();
      const news: string[] = [];
      const onNews = (text: string): void => void news.push(text);
      search = openSearch({ folder, kind: 'documents', embedder, onFault, onNews });
      const query = { workspace_id: 'w1', text: 'felines', tags: [], limit: 5, leg: 'keyword' } as const;
      await search.apply(PAGES, [], { workspace_id: 'w1', pos: 3 });
      expect((await search.find(query, LONG)).passages).toHaveLength(1);
      await search.settled();
      damage(sql);
      for (let tries = 1; tries <= 2; tries++)
        await expect(search.find(query, LONG)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      expect(news).toHaveLength(1);
      expect(await search.place('w1')).toBeUndefined();
      await search.apply(PAGES, [], { workspace_id: 'w1', pos: 3 });
      expect((await search.find(query, LONG)).passages).toHaveLength(1);
    },
  );

  test('[KNOW-17] [R11] lost words are missed in every script', { timeout: LONG }, async () => {
    const texts = [
      '北京是中国的首都',
      'ประเทศไทยมีเมืองหลวง',
      'Москва столица России',
      'दिल्ली भारत की राजधानी है',
      'القاهرة عاصمة مصر',
      '서울은 수도이다',
    ];
    for (const text of texts) {
      await search.apply([page('one', text)], [], { workspace_id: 'w1', pos: 1 });
      await search.close();
      expect(checkIndex(path)).toBeUndefined();
      damage("UPDATE words_1_data SET block = x'00' WHERE id = 10");
      expect(checkIndex(path), text).toBe('passages are not found by their words');
      await empty();
      search = open();
    }
  });

  test.each([
    ['its documents are gone', 'DELETE FROM documents'],
    ['a document is another', "UPDATE documents SET version = 'x' WHERE id = 1"],
    ['passages are gone', 'DELETE FROM passages WHERE id = 1'],
    ['the names of its workspaces are gone', 'DELETE FROM workspaces'],
    ['its words are gone', 'DELETE FROM words_1'],
    ['its words are empty', "UPDATE words_1_data SET block = x'00' WHERE id = 10"],
  ])(
    'an index of which %s is thrown away and made anew, and says so',
    { timeout: LONG },
    async (_what, sql) => {
      await search.apply(PAGES, [], { workspace_id: 'w1', pos: 3 });
      await search.close();
      expect(checkIndex(path)).toBeUndefined();
      damage(sql);
      expect(checkIndex(path)).toBeDefined();
      const news: string[] = [];
      search = openSearch({
        folder,
        kind: 'documents',
        embedder,
        onFault,
        onNews: (text) => news.push(text),
      });
      expect(await search.place('w1')).toBeUndefined();
      expect(news).toHaveLength(1);
      await search.apply(PAGES, [], { workspace_id: 'w1', pos: 3 });
      await search.close();
      expect(checkIndex(path)).toBeUndefined();
      search = open();
      expect(await search.place('w1')).toBe(3);
    },
  );

  test('no more searches wait than can be answered soon', { timeout: LONG }, async () => {
    await search.apply(PAGES, [], { workspace_id: 'w1', pos: 3 });
    const query = { workspace_id: 'w1', text: 'felines', tags: [], limit: 5, leg: 'keyword' } as const;
    const outcomes = await Promise.allSettled(Array.from({ length: 60 }, () => search.find(query, LONG)));
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    expect(refused).toHaveLength(28);
    expect(refused[0]).toMatchObject({ code: 'UNAVAILABLE', details: { retry_after_ms: 500 } });
  });

  test(
    '[KNOW-17] of a text in Markdown sentences answer, not headings, marks or rows',
    { timeout: LONG },
    async () => {
      const text =
        '## Why one log\n\n| why | log |\n\n- one log survives a crash\n\n> 2. the log is read once';
      const found = await search.sentences('why one log?', [text], 5);
      expect(found.map(({ start, end }) => text.slice(start, end))).toEqual([
        'one log survives a crash',
        'the log is read once',
      ]);
    },
  );

  test('[KNOW-17] the sentences that answer come with their places', { timeout: LONG }, async () => {
    const texts = ['The hub keeps a log. Its port is 8620 by default. Cats sleep.', 'Ports are numbers.'];
    const [best] = await search.sentences('which port is the default?', texts, 3);
    expect(best).toBeDefined();
    expect(texts[best?.of ?? 9]?.slice(best?.start, best?.end)).toBe('Its port is 8620 by default.');
  });
});
