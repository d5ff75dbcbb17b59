import { beforeEach, expect, test } from 'vitest';

import { branchKey } from './document-records.ts';
import { around } from './neighbours.ts';
import { ORDER_MAX } from './order-keys.ts';
import { NOW, type SampleTree, sampleTree } from './sample-tree.ts';

let tree: SampleTree;
beforeEach(() => {
  tree = sampleTree();
  for (const id of ['a', 'b', 'c', 'd']) tree.create(id);
});
const children = (parent = 'root') =>
  tree.reader.list({ kind: 'branch', prefix: `${parent} ` }).map(({ document_id }) => document_id);
const move = (document_id: string, position?: object, new_parent_id = 'root') =>
  tree.run('move_document', { document_id, new_parent_id, ...(position === undefined ? {} : { position }) });
const invalid = expect.objectContaining({ details: { field: 'position.before' } }) as Error;

test('a document stands where it is put: before another, at a place, or last', () => {
  for (const [id, position, order] of [
    ['d', { before: 'B' }, 'adbc'],
    ['d', { before: 'b' }, 'adbc'],
    ['b', { before: 'd' }, 'abdc'],
    ['a', undefined, 'bdca'],
    ['a', undefined, 'bdca'],
    ['b', { ordering: 1 }, 'dbca'],
    ['d', { ordering: 0 }, 'dbca'],
    ['d', { ordering: 2 }, 'bcda'],
    ['a', { ordering: 9 }, 'bcda'],
    ['b', { ordering: 3 }, 'cdab'],
  ] as const) {
    move(id, position);
    expect(children().join(''), `${id} ${JSON.stringify(position)}`).toBe(order);
  }
});

test('one that comes from elsewhere is not counted among those it comes to', () => {
  tree.create('e', 'a');
  tree.create('f', 'a');
  move('d', { ordering: 1 }, 'a');
  expect(children('a')).toEqual(['e', 'd', 'f']);
  const { result, changes } = move('c', undefined, 'a');
  expect(children('a')).toEqual(['e', 'd', 'f', 'c']);
  expect(result).toMatchObject({ id: 'c', revision: 2, parent_id: 'a' });
  expect(tree.reader.get('document', 'c')?.order).toBe('order' in result ? result.order : '');
  expect(changes[0]?.entries.at(-1)).toMatchObject({
    type: 'document.moved',
    body: 'moved c',
    metadata: { changed: ['parent_id', 'order'] },
  });
  const document = changes[0]?.entries.at(-1)?.metadata?.['document'];
  for (const key of ['updated_at', 'updated_by']) expect(document).not.toHaveProperty(key);
  expect(() => move('d', { before: 'b' }, 'a')).toThrow(invalid);
  for (const before of ['a', 'nobody']) expect(() => move('a', { before })).toThrow(invalid);
});

test('one that is put where it stands keeps its key', () => {
  const keys = () => children().map((id) => [id, tree.reader.get('document', id)?.order]);
  const before = keys();
  for (const [id, position] of [
    ['d', undefined],
    ['b', { before: 'c' }],
    ['b', { ordering: 1 }],
    ['a', { ordering: 0 }],
    ['d', { ordering: 9 }],
  ] as const) {
    const { records = [], drops } = move(id, position);
    expect(keys()).toEqual(before);
    expect(records.map(({ kind }) => kind)).toEqual(['document', 'revision']);
    expect(drops).toEqual([]);
  }
});

test('one that comes from elsewhere is put where it is to stand, whatever its key was', () => {
  tree.create('e', 'b');
  tree.create('f', 'b');
  move('a', { ordering: 1 }, 'b');
  expect(children('b')).toEqual(['e', 'a', 'f']);
});

test('those that have gone are passed over where places are counted', () => {
  tree.run('delete_document', { document_id: 'b' });
  move('d', { ordering: 1 });
  expect(children()).toEqual(['a', 'b', 'd', 'c']);
});

test('nothing comes to stand under itself, and it may stay where it is', () => {
  tree.create('e', 'a');
  for (const parent of ['a', 'e'])
    expect(() => move('a', undefined, parent)).toThrow(
      expect.objectContaining({ code: 'CONFLICT' }) as Error,
    );
  move('e', { ordering: 0 }, 'a');
  expect(children('a')).toEqual(['e']);
});

test('one that moves under what is to go goes with it, and keeps its own day where that is earlier', () => {
  const at = (ms: number): string => new Date(NOW + ms).toISOString();
  tree.run('delete_document', { document_id: 'a', delete_at: at(2_000) });
  tree.run('delete_document', { document_id: 'b', delete_at: at(1_000) });
  tree.run('delete_document', { document_id: 'd', delete_at: at(3_000) });
  for (const id of ['b', 'c', 'd']) move(id, undefined, 'a');
  const roots = ['b', 'c', 'd'].map((id) => tree.reader.get('document', id)?.delete_root);
  expect(roots).toEqual(['b', 'a', 'a']);
});

/** Puts siblings under a parent with keys of their own. */
function place(parent_id: string, orders: Record<string, string>): void {
  const value = tree.reader.get('document', 'a')!;
  for (const [document_id, order] of Object.entries(orders)) {
    const base = { workspace_id: 'w', mark: '', owner: 'ed' };
    tree.put(
      { ...base, kind: 'document', key: document_id, value: { ...value, document_id, parent_id, order } },
      {
        ...base,
        kind: 'branch',
        key: branchKey(parent_id, order, document_id),
        value: { document_id, order },
      },
    );
  }
}

test('a hundred on each side are around a document, and the keys beyond them bound it', () => {
  const ids = Array.from({ length: 300 }, (_, at) => `n${String(at).padStart(3, '0')}`);
  place('p', Object.fromEntries(ids.map((id) => [id, id])));
  const near = (at: number) => around(tree.reader, tree.reader.get('document', ids[at]!)!);
  expect(near(150)).toEqual({ left: 'n049', among: ids.slice(50, 251), right: 'n251' });
  expect(near(100)).toEqual({ left: undefined, among: ids.slice(0, 201), right: 'n201' });
  expect(near(199)).toEqual({ left: 'n098', among: ids.slice(99), right: undefined });
});

test('keys are made short from a length on, and not before', () => {
  const long = (length: number): string => `a0${'V'.repeat(length - 2)}`;
  const tidy = (document_id: string) => tree.run('tidy_order', { document_id });
  place('p', { x: 'Zz', y: long(ORDER_MAX), z: 'a2' });
  expect(tidy('y')).toEqual({ changes: [], result: {} });
  expect(tidy('nobody')).toEqual({ changes: [], result: {} });
  place('q', { u: 'Zz', v: long(ORDER_MAX + 1), w: 'a2' });
  const decision = tidy('v');
  const entry = decision.changes[0]?.entries.at(-1);
  const orders = ['u', 'v', 'w'].map((id) => [id, tree.reader.get('document', id)?.order]);
  expect(entry).toMatchObject({
    type: 'tree.ordered',
    body: 'gave 3 documents under q short keys',
    metadata: { parent_id: 'q', orders },
  });
  expect(children('q')).toEqual(['u', 'v', 'w']);
  for (const [, order = ''] of orders) expect(order.length).toBeLessThan(4);
  expect(decision.result).toEqual({});
  expect(decision.drops?.every(({ kind }) => kind === 'branch')).toBe(true);
  // The log of the tree begins with the first change.
  expect(decision.changes[0]?.entries[0]).toMatchObject({
    type: 'thread.created',
    metadata: { tree: true, participants: [] },
  });
});
