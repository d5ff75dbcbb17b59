import { expect, test } from 'vitest';

import { checkSearchIndex } from './check-search-index.ts';
import { Batches } from './batches.ts';
import { SampleCommands } from './sample-commands.ts';
import { openSample, removeFolder, sampleFolder, writeSampleRecord } from './sample-record.ts';
import { SearchIndex } from './search-index.ts';
import { Tallies } from './tallies.ts';
import { WordSearch } from './word-search.ts';

test('[R11] an index that lost its place is told of, owned up to, and made again from the log', () => {
  const { folder, db } = writeSampleRecord(30);
  db.close();
  const again = openSample(folder);
  const query = {
    workspace_id: 'w',
    participant: undefined,
    thread_id: undefined,
    text: 'quoted',
    limit: 10,
  };
  const before = new WordSearch(again).search(query);
  expect(before).toMatchObject({ lacks: [] });
  expect(before.hits.length).toBeGreaterThan(0);
  again.exec("UPDATE followers SET pos = pos + 64 WHERE name = 'search'");
  expect(checkSearchIndex(again, true)).toBe('the index of words does not know its place in the log');
  expect(new WordSearch(again).search(query).lacks).toEqual(['changes']);
  const index = new SearchIndex(again, new Tallies(again));
  for (let i = 0; i < 1_000 && index.step().more; i++);
  expect(checkSearchIndex(again, true)).toBeUndefined();
  expect(new WordSearch(again).search(query)).toEqual(before);
  again.close();
  removeFolder(folder);
});

test('a message of no words, or of a very long one, is not missed in the index', () => {
  const folder = sampleFolder();
  const db = openSample(folder);
  const writer = new Batches(db);
  const sample = new SampleCommands();
  const long = `${'x'.repeat(999)}yz `;
  writer.run([
    sample.create(0, []),
    ...['', '?!', long, `a ${long}`].map((body) => sample.post('alice', 0, body)),
  ]);
  while (writer.idle() !== undefined);
  expect(checkSearchIndex(db, true)).toBeUndefined();
  writer.close();
  removeFolder(folder);
});
