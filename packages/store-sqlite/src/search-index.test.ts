import { expect, test } from 'vitest';

import { checkRows } from './check-rows.ts';
import { Reader } from './reader.ts';
import { openSample, removeFolder, writeSampleRecord } from './sample-record.ts';
import { SearchIndex } from './search-index.ts';

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
  const before = new Reader(again).search(query);
  expect(before).toMatchObject({ complete: true });
  expect(before.hits.length).toBeGreaterThan(0);
  again.exec("UPDATE followers SET pos = pos + 64 WHERE name = 'search'");
  expect(checkRows(again)).toEqual(['the place of the search index in the log is not as it was written']);
  expect(new Reader(again).search(query).complete).toBe(false);
  const index = new SearchIndex(again);
  for (let i = 0; i < 1_000 && index.step().more; i++);
  expect(checkRows(again)).toEqual([]);
  expect(new Reader(again).search(query)).toEqual(before);
  again.close();
  removeFolder(folder);
});
