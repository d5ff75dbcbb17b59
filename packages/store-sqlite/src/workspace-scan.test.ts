import { join } from 'node:path';

import { expect, test } from 'vitest';

import { openReader } from './open-database.ts';
import { DATABASE_FILE } from './open-store.ts';
import { Reader } from './reader.ts';
import { SampleCommands } from './sample-commands.ts';
import { openSample, removeFolder, sampleFolder } from './sample-record.ts';
import { Batches } from './batches.ts';

test('[R4] [R10] a page of the workspace looks through a part of a long log only, and pages still chain', () => {
  const folder = sampleFolder();
  const writer = new Batches(openSample(folder));
  const sample = new SampleCommands();
  writer.run([sample.create(0, ['bob']), sample.create(1, [])]);
  for (let i = 0; i < 24; i++)
    writer.run(Array.from({ length: 500 }, (_, j) => sample.post('alice', 1, `${i} ${j}`)));
  writer.run([sample.post('alice', 0, 'for bob')]);
  const reader = new Reader(openReader(join(folder, DATABASE_FILE)));
  const seen: string[] = [];
  const query = { workspace_id: 'w', participant: 'bob', limit: 200, max_bytes: 1e9 };
  let page = reader.workspace({ ...query, after: 0 });
  let pages = 1;
  for (; page.has_more; pages++) {
    seen.push(...page.rows.map(({ entry }) => entry.body));
    page = reader.workspace({ ...query, after: page.next });
  }
  seen.push(...page.rows.map(({ entry }) => entry.body));
  expect(seen).toEqual(['thread 0', 'for bob']);
  expect(pages).toBe(3);
  expect(page.next).toBe(reader.position('w'));
  writer.close();
  removeFolder(folder);
}, 60_000);
