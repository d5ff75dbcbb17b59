import { afterEach, beforeEach, expect, test } from 'vitest';

import type { Embedder } from './embedder.ts';
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

/** A model that is not there: what is asked for by its words alone needs no vectors. */
export function noModel({ model }: Embedder): Embedder {
  return {
    model,
    fault: 'no model is wanted here',
    embed: () => Promise.resolve(undefined),
    ask: () => Promise.resolve(undefined),
    close: () => Promise.resolve(),
  };
}

/** What every index must do, whatever it stands on. `open` opens what is there; each test begins with an empty one. */
export function searchContract(open: (model?: 'none') => Search, empty: () => Promise<void>): void {
  let search: Search;
  beforeEach(async () => {
    await empty();
    search = open();
  });
  afterEach(() => search.close());

  async function byWordsAlone(): Promise<void> {
    await search.close();
    search = open('none');
  }

  async function ask(text: string, more: Partial<Parameters<Search['find']>[0]> = {}): Promise<string[]> {
    const query = { workspace_id: 'w1', tags: [], limit: 5, ...more, text };
    const { passages } = await search.find(query, LONG);
    return passages.map(({ document_id }) => document_id);
  }

  test(
    '[KNOW-17] what is meant is found without its words, and words in any language',
    { timeout: LONG },
    async () => {
      await search.apply(PAGES, [], { workspace_id: 'w1', pos: 7 });
      await search.settled();
      expect((await ask('when do pets rest?'))[0]).toBe('cats');
      expect((await ask('how do we deploy a new version?'))[0]).toBe('ship');
      expect(await ask('đường phố')).toEqual(['hanoi']);
      expect(await ask('duong pho ha noi')).toEqual(['hanoi']);
      expect(await ask('xyzzy plugh')).toEqual([]);
      expect(await ask('?!')).toEqual([]);
      expect(await ask('felines', { tags: ['home', 'animals'] })).toEqual(['cats']);
      expect(await ask('felines', { tags: ['home', 'work'] })).toEqual([]);
      expect(await search.place('w1')).toBe(7);
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

  test(
    '[KNOW-17] how rare a word is counts within its workspace, however many passages others have',
    { timeout: LONG },
    async () => {
      await byWordsAlone();
      const here = Array.from({ length: 5 }, (_, i) =>
        page(`d${i}`, `Minutes of the board meeting, part ${i}.`),
      );
      const there = Array.from({ length: 100 }, (_, i) =>
        page(`o${i}`, `Something else ${i}.`, { workspace_id: 'w2' }),
      );
      await search.apply([...here, page('budget', 'Our budget.'), ...there], []);
      expect((await ask('minutes of the board meeting: budget', { leg: 'keyword' }))[0]).toBe('budget');
    },
  );

  test(
    '[KNOW-17] how rare a word is does not change with how often a text was written',
    { timeout: LONG },
    async () => {
      await byWordsAlone();
      const pages = Array.from({ length: 5 }, (_, i) =>
        page(`d${i}`, `Minutes of the board meeting, part ${i}.`),
      );
      await search.apply([...pages, page('budget', 'Our budget.')], []);
      for (let version = 2; version <= 20; version++)
        await search.apply(
          pages.map((one) => ({ ...one, version: String(version), revision: version })),
          [],
        );
      expect((await ask('minutes of the board meeting: budget', { leg: 'keyword' }))[0]).toBe('budget');
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
    '[KNOW-17] a word of Hindi or Thai is one word, whatever signs stand in it',
    { timeout: LONG },
    async () => {
      await byWordsAlone();
      await search.apply(
        [
          page('book', 'किताब मेज़ पर है।'),
          page('tower', 'कुतुब मीनार दिल्ली में है।'),
          page('cat', 'แมวนอนบนโต๊ะ'),
          page('new', 'ใหม่'),
        ],
        [],
      );
      expect(await ask('किताब')).toEqual(['book']);
      expect(await ask('कुतुब')).toEqual(['tower']);
      expect(await ask('แมว')).toEqual(['cat']);
    },
  );

  test(
    '[KNOW-17] names in code are found by their words, their parts and as a whole',
    { timeout: LONG },
    async () => {
      await byWordsAlone();
      const decoys = Array.from({ length: 12 }, (_, i) =>
        page(`d${i}`, `Version ${i}.2 of the config of user ${i} is not a file.`),
      );
      await search.apply(
        [
          ...decoys,
          page('parse', 'export function parseConfigFile(path: string): Config;'),
          page('snake', 'def get_user_name(user_id): return names[user_id]'),
          page('path', 'The wall is in src/faces/guard.test.ts, see there.'),
          page('code', 'It fails with ERR_MODULE_NOT_FOUND or TS2345.'),
          page('version', 'Pinned to v1.16.3, the last without a script.'),
        ],
        [],
      );
      const first = async (text: string): Promise<string | undefined> =>
        (await ask(text, { leg: 'keyword' }))[0];
      expect(await first('where do we parse a config file?')).toBe('parse');
      expect(await first('parseConfigFile')).toBe('parse');
      expect(await first('parse_config_file')).toBe('parse');
      expect(await first('getUserName')).toBe('snake');
      expect(await first('guard.test.ts')).toBe('path');
      expect(await first('ERR_MODULE_NOT_FOUND')).toBe('code');
      expect(await first('error 2345')).toBe('code');
      expect(await first('1.16.3')).toBe('version');
      expect(await first('version 1.16')).toBe('version');
    },
  );

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
      await search.dropBefore('w1', 3);
      expect(await ask('felines')).toEqual(['m3']);
    },
  );

  test(
    '[KNOW-16] [KNOW-17] another number leaves the passages and their vectors alone; what is not there is told',
    { timeout: LONG },
    async () => {
      await search.apply(PAGES, []);
      await search.settled();
      const other = (document_id: string, was: string, workspace_id = 'w1') => ({
        workspace_id,
        document_id,
        was,
        version: '2',
        revision: 2,
      });
      const reported = await search.renumber([
        other('cats', '1'),
        other('ship', '7'),
        other('none', '1'),
        other('cats', '1', 'w9'),
      ]);
      expect(reported).toEqual(['ship', 'none', 'cats']);
      const query = { workspace_id: 'w1', tags: ['home'], limit: 5, text: 'when do pets rest?' };
      const { passages, pending } = await search.find(query, LONG);
      expect(pending).toBe(0);
      expect(passages.map(({ document_id, revision }) => [document_id, revision])).toEqual([['cats', 2]]);
      expect(await search.known('w1')).toContainEqual({ document_id: 'cats', version: '2' });
      await search.close();
      search = open();
      expect(await ask('felines')).toEqual(['cats']);
    },
  );

  test('[KNOW-17] the index outlives a restart', { timeout: LONG }, async () => {
    await search.apply(PAGES, [], { workspace_id: 'w1', pos: 3 });
    await search.settled();
    await search.close();
    search = open();
    expect(await search.place('w1')).toBe(3);
    expect((await ask('when do pets rest?'))[0]).toBe('cats');
  });
}
