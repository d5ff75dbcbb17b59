import { afterEach, beforeEach, expect, test } from 'vitest';

import type { IndexedDocument } from './index-words.ts';
import type { Search } from './open-search.ts';

/** A document to be found. */
export function page(
  document_id: string,
  body: string,
  more: Partial<IndexedDocument> = {},
): IndexedDocument {
  const fixed = { workspace_id: 'w1', version: '1', revision: 1, title: '', tags: [] };
  return { ...fixed, document_id, mime_type: 'text/markdown', body, ...more };
}

const LONG = 120_000;

export const PAGES = [
  page('cats', 'Felines sleep most of the day.', { tags: ['animals', 'home'] }),
  page('ship', 'The release goes out on Friday, after the tests of the pipeline are green.', {
    tags: ['work'],
  }),
  page('hanoi', 'Đường phố Hà Nội rất đông vào buổi sáng.'),
];

/** What every index must do, whatever it stands on. `open` opens what is there; each test begins with an empty one. */
export function searchContract(open: () => Search, empty: () => Promise<void>): void {
  let search: Search;
  beforeEach(async () => {
    await empty();
    search = open();
  });
  afterEach(() => search.close());

  async function ask(text: string, more: Partial<Parameters<Search['find']>[0]> = {}): Promise<string[]> {
    const query = { workspace_id: 'w1', tags: [], limit: 5, ...more, text };
    const { passages } = await search.find(query, LONG);
    return passages.map(({ document_id }) => document_id);
  }

  test(
    '[KNOW-17] what is meant is found without its words, and words in any language',
    { timeout: LONG },
    async () => {
      await search.apply(PAGES, [], 7);
      await search.settled();
      expect((await ask('when do pets rest?'))[0]).toBe('cats');
      expect((await ask('how do we deploy a new version?'))[0]).toBe('ship');
      expect(await ask('đường phố')).toEqual(['hanoi']);
      expect(await ask('duong pho ha noi')).toEqual(['hanoi']);
      expect(await ask('xyzzy plugh')).toEqual([]);
      expect(await ask('?!')).toEqual([]);
      expect(await ask('felines', { tags: ['home', 'animals'] })).toEqual(['cats']);
      expect(await ask('felines', { tags: ['home', 'work'] })).toEqual([]);
      expect(await search.place()).toBe(7);
    },
  );

  test(
    '[KNOW-17] [R12] nothing of one workspace is found in another, also under the same name',
    { timeout: LONG },
    async () => {
      const other = page('cats', 'Felines of the other workspace.', { workspace_id: 'w2' });
      await search.apply([...PAGES, other], []);
      await search.settled();
      const query = {
        workspace_id: 'w2',
        tags: [],
        limit: 20,
        text: 'felines on friday, when do pets rest?',
      };
      const { passages, keyword_hits } = await search.find(query, LONG);
      expect(passages.map(({ text }) => text)).toEqual([other.body]);
      expect(keyword_hits).toBe(1);
      expect(await ask('felines', { workspace_id: 'w3' })).toEqual([]);
      expect((await search.workspaces()).toSorted()).toEqual(['w1', 'w2']);
      await search.apply([], [{ workspace_id: 'w2', document_id: 'cats' }]);
      expect(await ask('felines', { workspace_id: 'w2' })).toEqual([]);
      expect((await ask('felines'))[0]).toBe('cats');
    },
  );

  test('[KNOW-17] without time for the vectors the words answer, and say so', { timeout: LONG }, async () => {
    await search.apply(PAGES, []);
    const query = { workspace_id: 'w1', text: 'the felines of the day', tags: [], limit: 5 };
    const found = await search.find(query, LONG, 0);
    expect(found.lacks).toContain('meaning');
    expect(found.passages[0]?.document_id).toBe('cats');
  });

  test('[KNOW-17] a change replaces, what is dropped is gone', { timeout: LONG }, async () => {
    await search.apply([...PAGES, page('secret', 'The word is quetzalcoatl.')], []);
    await search.apply([page('secret', 'Nothing is here about ocelots.', { version: '2', revision: 2 })], []);
    expect(await ask('quetzalcoatl')).toEqual([]);
    const query = { workspace_id: 'w1', text: 'ocelots', tags: [], limit: 1 };
    expect((await search.find(query, LONG)).passages[0]).toMatchObject({
      document_id: 'secret',
      revision: 2,
      passage: 0,
      start: 0,
      headings: [],
      text: 'Nothing is here about ocelots.',
    });
    await search.apply([], [{ workspace_id: 'w1', document_id: 'secret' }]);
    expect(await ask('ocelots')).not.toContain('secret');
    expect((await search.known('w1')).map(({ document_id }) => document_id).toSorted()).toEqual([
      'cats',
      'hanoi',
      'ship',
    ]);
  });

  test(
    '[KNOW-17] only what belongs to the named groups is found; the old goes',
    { timeout: LONG },
    async () => {
      const said = (id: string, group: string, revision: number) =>
        page(id, `Felines, says ${id}.`, { group, revision });
      await search.apply([said('m1', 'a', 1), said('m2', 'b', 2), said('m3', 'a', 3)], []);
      await search.settled();
      expect((await ask('felines', { groups: ['a'] })).toSorted()).toEqual(['m1', 'm3']);
      expect(await ask('felines', { groups: ['c', 'b'] })).toEqual(['m2']);
      expect(await ask('felines', { groups: [] })).toEqual([]);
      await search.dropBefore(3);
      expect(await ask('felines')).toEqual(['m3']);
    },
  );

  test('[KNOW-17] the index outlives a restart', { timeout: LONG }, async () => {
    await search.apply(PAGES, [], 3);
    await search.settled();
    await search.close();
    search = open();
    expect(await search.place()).toBe(3);
    expect((await ask('when do pets rest?'))[0]).toBe('cats');
  });
}
