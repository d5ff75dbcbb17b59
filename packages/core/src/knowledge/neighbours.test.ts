import { expect, test } from 'vitest';

import type { RecordReader } from '../records.ts';
import { openMemoryStore } from '../store-memory.ts';
import { treeScene } from '../store-contract/tree-scene.ts';
import { NOW } from '../store-contract/scene.ts';
import { placeAt } from './neighbours.ts';

test('[KNOW-16] a place among very many siblings is found by its neighbours alone', async () => {
  const store = openMemoryStore();
  const scene = treeScene(store, 'w');
  for (let n = 1; n <= 1_000; n++) await scene.create(n);
  const branches = await store.records({ kind: 'branch', workspace_id: 'w', limit: 2_000 });
  const documents = await store.records({ kind: 'document', workspace_id: 'w', limit: 2_000 });
  let read = 0;
  const records: RecordReader = {
    get: (kind, key) => {
      read += 1;
      return (kind === 'document' ? documents.find((one) => one.document_id === key) : undefined) as never;
    },
    list: ({ offset = 0, limit = Number.POSITIVE_INFINITY, past, descending = false }) => {
      const keyed = branches.map((one) => [`root ${one.order} ${one.document_id}`, one] as const);
      const inOrder = descending ? keyed.toReversed() : keyed;
      const found = inOrder
        .filter(([key]) => past === undefined || (descending ? key < past : key > past))
        .slice(offset, offset + limit);
      read += found.length;
      return found.map(([, one]) => one as never);
    },
  };
  const self = branches[10]?.document_id ?? '';
  for (const [position, left] of [
    [{ ordering: 500 }, 500],
    [{ ordering: 0 }, undefined],
    [{ before: branches[700]?.document_id ?? '' }, 699],
    [{}, 999],
  ] as const) {
    read = 0;
    const order = placeAt(records, 'root', self, position, NOW);
    if (left !== undefined) expect(order > (branches[left]?.order ?? '~')).toBe(true);
    expect(order < (branches[left === undefined ? 0 : left + 1]?.order ?? '~')).toBe(true);
    expect(read).toBeLessThan(10);
  }
});
