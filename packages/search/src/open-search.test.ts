import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';

import { createBuiltInEmbedder } from './embedder.ts';
import { INDEX_FILES, openSearch, type Search } from './open-search.ts';
import { page, PAGES, searchContract } from './search-contract.ts';

const LONG = 120_000;
const onFault = (error: unknown): void => {
  throw error;
};
const folder = mkdtempSync(join(tmpdir(), 'parley-search-'));
const embedder = createBuiltInEmbedder(300_000, onFault);
const path = join(folder, INDEX_FILES.documents);
const open = (): Search => openSearch({ folder, kind: 'documents', embedder, onFault });
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
    await search.apply(PAGES, [], 3);
    await search.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(path, 'this is no database at all, and yet it is there'.repeat(100));
    search = open();
    expect(await search.place()).toBeUndefined();
    expect(await search.known('w1')).toEqual([]);
    await search.apply(PAGES, [], 4);
    expect(await search.known('w1')).toHaveLength(3);
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
