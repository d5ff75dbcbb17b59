import { beforeEach, expect, test } from 'vitest';

import { PURGE_AFTER_MS } from './document-records.ts';
import { NOW, type SampleTree, sampleTree } from './sample-tree.ts';

const GONE = NOW + PURGE_AFTER_MS;

let tree: SampleTree;
beforeEach(() => {
  tree = sampleTree();
});
const purge = (document_id: string, now = GONE) => tree.run('purge_document', { document_id }, { now });
const remove = (document_id: string) => tree.run('delete_document', { document_id });
const purged = ({ changes }: ReturnType<typeof purge>) =>
  changes[0]?.entries.at(-1)?.metadata?.['purged'] as string[];
const texts = () => tree.reader.list({ kind: 'content' }).map(({ document_id }) => document_id);

test('a document goes after all that hangs below it, and with it every text it had', () => {
  for (const [id, parent] of [['a'], ['b', 'a'], ['c', 'b'], ['d', 'a'], ['e']] as const)
    tree.create(id, parent);
  const patch = { content: { body: 'other' } };
  tree.run('update_document', { document_id: 'c', patch, update_mask: ['content.body'] });
  remove('a');
  const decision = purge('a');
  expect(decision.result).toEqual({ purged: 4, more: false });
  expect(purged(decision)).toEqual(['c', 'b', 'd', 'a']);
  expect(decision.changes[0]?.entries.at(-1)).toMatchObject({
    type: 'tree.purged',
    body: 'purged 4 documents',
    metadata: { root: 'a' },
  });
  expect(texts()).toEqual(['e']);
  expect(decision.records?.map(({ kind }) => kind)).toEqual(['document', 'document', 'document', 'document']);
  expect(tree.reader.get('document', 'a')).toMatchObject({ purged_at: expect.any(String) as string });
});

test('nothing goes before its time, nor twice, nor of one that is not there', () => {
  tree.create('a');
  const nothing = { changes: [], result: { purged: 0, more: false } };
  expect(purge('a')).toEqual(nothing);
  remove('a');
  expect(purge('a', GONE - 1)).toEqual(nothing);
  expect(purge('nobody')).toEqual(nothing);
  expect(purge('a').result).toEqual({ purged: 1, more: false });
  expect(purge('a')).toEqual(nothing);
});

test('two hundred go at once, the rest with the next command', () => {
  tree.create('n0');
  for (let n = 1; n <= 200; n++) tree.create(`n${n}`, `n${n - 1}`);
  remove('n0');
  const first = purge('n0');
  expect(first.result).toEqual({ purged: 200, more: true });
  expect(purged(first)).toEqual(Array.from({ length: 200 }, (_, i) => `n${200 - i}`));
  const last = purge('n0');
  expect(last.result).toEqual({ purged: 1, more: false });
  expect(purged(last)).toEqual(['n0']);
});
