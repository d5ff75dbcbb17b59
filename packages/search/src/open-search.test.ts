import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import type { IndexedDocument } from './index-words.ts';
import { INDEX_FILE, openSearch, type Search } from './open-search.ts';

let folder: string;
let search: Search;
const open = (): Search =>
  openSearch({
    folder,
    onFault: (error) => {
      throw error;
    },
  });
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'parley-search-'));
  search = open();
});
afterEach(async () => {
  await search.close();
  rmSync(folder, { recursive: true });
});

const page = (document_id: string, body: string, more: Partial<IndexedDocument> = {}): IndexedDocument => ({
  workspace_id: 'w1',
  document_id,
  version: '1',
  revision: 1,
  title: '',
  tags: [],
  mime_type: 'text/markdown',
  body,
  ...more,
});

const LONG = 120_000;

async function ask(text: string, more: { tags?: string[]; workspace_id?: string } = {}): Promise<string[]> {
  const query = { workspace_id: 'w1', tags: [], limit: 5, ...more, text };
  const { passages } = await search.find(query, LONG);
  return passages.map(({ document_id }) => document_id);
}

const PAGES = [
  page('cats', 'Felines sleep most of the day.', { tags: ['animals', 'home'] }),
  page('ship', 'The release goes out on Friday, after the tests of the pipeline are green.', {
    tags: ['work'],
  }),
  page('hanoi', 'Đường phố Hà Nội rất đông vào buổi sáng.'),
];

test(
  '[KNOW-17] what is meant is found without its words, and words are found in any language',
  { timeout: LONG },
  async () => {
    await search.apply(PAGES, [], 7);
    await search.settled();
    expect((await ask('when do pets rest?'))[0]).toBe('cats');
    expect((await ask('how do we deploy a new version?'))[0]).toBe('ship');
    expect(await ask('đường phố')).toEqual(['hanoi']);
    expect(await ask('duong pho ha noi')).toEqual(['hanoi']);
    expect(await ask('xyzzy plugh')).toEqual([]);
    expect(await ask('felines', { tags: ['home', 'animals'] })).toEqual(['cats']);
    expect(await ask('felines', { tags: ['home', 'work'] })).toEqual([]);
    expect(await ask('felines', { workspace_id: 'w2' })).toEqual([]);
    expect(await search.place()).toBe(7);
  },
);

test('[KNOW-17] without time for the vectors the words answer, and say so', { timeout: LONG }, async () => {
  await search.apply(PAGES, []);
  const found = await search.find(
    { workspace_id: 'w1', text: 'the felines of the day', tags: [], limit: 5 },
    0,
  );
  expect(found.lacks).toContain('meaning');
  expect(found.passages[0]?.document_id).toBe('cats');
});

test(
  '[KNOW-17] a change replaces, what is dropped is gone, and forgetting leaves no word in the file',
  { timeout: LONG },
  async () => {
    await search.apply([...PAGES, page('secret', 'The word is quetzalcoatl.')], []);
    await search.apply([page('secret', 'Nothing is here about ocelots.', { version: '2', revision: 2 })], []);
    expect(await ask('quetzalcoatl')).toEqual([]);
    expect((await ask('ocelots'))[0]).toBe('secret');
    await search.apply([], [{ workspace_id: 'w1', document_id: 'secret' }]);
    expect(await ask('ocelots')).not.toContain('secret');
    await search.forget('w1');
    await search.close();
    const file = readFileSync(join(folder, INDEX_FILE));
    expect([file.includes('quetzalcoatl'), file.includes('quetz'), file.includes('ocelot')]).toEqual([
      false,
      false,
      false,
    ]);
    expect(file.includes('feline') || file.includes('Feline')).toBe(true);
  },
);

test('[KNOW-17] the index outlives a restart; a broken one is made anew', { timeout: LONG }, async () => {
  await search.apply(PAGES, [], 3);
  await search.settled();
  await search.close();
  const path = join(folder, INDEX_FILE);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  search = open();
  expect(await search.place()).toBe(3);
  expect((await ask('when do pets rest?'))[0]).toBe('cats');
  await search.close();
  writeFileSync(path, 'this is no database at all, and yet it is there'.repeat(100));
  search = open();
  expect(await search.place()).toBeUndefined();
  expect(await search.known('w1')).toEqual([]);
  await search.apply(PAGES, [], 4);
  expect(await search.known('w1')).toHaveLength(3);
});

test('[KNOW-17] the sentences that answer come with their places', { timeout: LONG }, async () => {
  const texts = ['The hub keeps a log. Its port is 8620 by default. Cats sleep.', 'Ports are numbers.'];
  const [best] = await search.sentences('which port is the default?', texts, 3);
  expect(best).toBeDefined();
  expect(texts[best?.of ?? 9]?.slice(best?.start, best?.end)).toBe('Its port is 8620 by default.');
});
