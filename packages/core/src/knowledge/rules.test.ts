import { beforeEach, describe, expect, test } from 'vitest';

import { readerOf } from './change.ts';
import { placesUnder } from './deletion.ts';
import { PURGE_AFTER_MS, revisionKey } from './document-records.ts';
import { lastTwo } from './neighbours.ts';
import { NOW, type SampleTree, sampleTree } from './sample-tree.ts';

const LATER = new Date(NOW + 60_000).toISOString();
const EARLIER = new Date(NOW - 60_000).toISOString();
const at = (moment: number): string => new Date(moment).toISOString();
const written = (document_id: string, parent_id = 'root', more: object = {}) => ({
  document_id,
  parent_id,
  content: { mime_type: 'text/markdown' as const, body: 'text' },
  metadata: { title: document_id },
  is_human_readable: true,
  ...more,
});

let tree: SampleTree;
beforeEach(() => {
  tree = sampleTree();
  tree.create('a');
  tree.create('b', 'a');
});
const kept = (id: string) => tree.reader.get('document', id);
/** What a decision writes into the log. */
const told = ({ changes }: ReturnType<SampleTree['run']>) => changes[0]?.entries.at(-1);
const kinds = ({ records = [] }: ReturnType<SampleTree['run']>) => records.map(({ kind }) => kind);
const refused = (code: string, message = '', details?: object) =>
  expect.objectContaining({
    code,
    message: expect.stringContaining(message) as string,
    ...(details === undefined ? {} : { details }),
  }) as Error;

test('each rule names beforehand all that it looks at', () => {
  const doc = (key: string) => ({ kind: 'document', key });
  const base = { thread: 't', records: true };
  expect(tree.needs('create_document', written('d', 'a'))).toEqual({
    ...base,
    gets: [doc('d')],
    lists: [lastTwo('a')],
    lines: ['a'],
  });
  const order = { context_id: 'c', seq: 1 };
  const patch = { document_id: 'a', patch: {}, update_mask: [] };
  expect(tree.needs('update_document', patch)).toEqual({ ...base, gets: [doc('a')] });
  expect(tree.needs('update_document', patch, { order })).toEqual({
    ...base,
    gets: [{ kind: 'seq', key: '["ed","c"]' }, doc('a')],
  });
  for (const type of ['delete_document', 'restore_document'] as const)
    expect(tree.needs(type, { document_id: 'a' })).toEqual({
      ...base,
      gets: [],
      lines: ['a'],
      lists: [placesUnder('a')],
    });
  expect(tree.needs('revert_document', { document_id: 'a', revision: 2 })).toEqual({
    ...base,
    gets: [doc('a'), { kind: 'revision', key: revisionKey('a', 2) }],
  });
  const move = { document_id: 'b', new_parent_id: 'a' };
  const lines = ['b', 'a'];
  expect(tree.needs('move_document', move)).toEqual({ ...base, gets: [], lists: [lastTwo('a')], lines });
  for (const position of [{ ordering: 1 }, { ordering: 0 }])
    expect(tree.needs('move_document', { ...move, position })).toEqual({
      ...base,
      gets: [],
      lists: [],
      lines,
    });
  expect(tree.needs('move_document', { ...move, position: { before: 'C' } })).toEqual({
    ...base,
    gets: [doc('c')],
    lists: [],
    lines,
  });
  expect(tree.needs('tidy_order', { document_id: 'a' })).toEqual({ ...base, gets: [doc('a')] });
  expect(tree.needs('purge_document', { document_id: 'a' })).toEqual(base);
});

test('a rule of the tree that is handed no records says so', () => {
  expect(() => readerOf({} as never)).toThrow('this rule needs the records');
});

describe('a new document', () => {
  test('is told, kept with its text, and signed by who made it', () => {
    const decision = tree.run('create_document', written('c', 'a'));
    expect(decision.result).toEqual({ id: 'c', revision: 1 });
    expect(kinds(decision)).toEqual(['document', 'branch', 'name', 'revision', 'content']);
    const entry = told(decision);
    expect(entry).toMatchObject({ type: 'document.created', kind: 'system', body: 'created c' });
    expect(Object.keys(entry?.metadata ?? {})).toEqual(['document', 'changed']);
    expect(entry?.metadata).toMatchObject({ changed: ['content', 'metadata'] });
    expect(entry?.metadata?.['document']).not.toHaveProperty('updated_at');
    expect(entry?.metadata?.['document']).not.toHaveProperty('updated_by');
    expect(kept('c')).toMatchObject({ parent_id: 'a', created_by: 'ed', updated_by: 'ed', bytes: 4 });
    expect(kept('c')?.created_at).toBe(at(NOW));
    expect(kept('c')).not.toHaveProperty('delete_at');
  });

  test('may be older than now, and not younger', () => {
    tree.run('create_document', written('old', 'root', { created_at: EARLIER }));
    tree.run('create_document', written('young', 'root', { created_at: LATER }));
    expect([kept('old')?.created_at, kept('young')?.created_at]).toEqual([EARLIER, at(NOW)]);
  });

  test('has an id that was never taken', () => {
    const details = { document_id: 'b' };
    const again = (now = NOW) => tree.run('create_document', written('b'), { now });
    expect(again).toThrow(refused('CONFLICT', 'is there already', details));
    tree.run('delete_document', { document_id: 'b', delete_at: LATER });
    expect(again).toThrow(refused('CONFLICT', 'belongs to a deleted document', details));
    const gone = Date.parse(LATER) + PURGE_AFTER_MS;
    tree.run('purge_document', { document_id: 'b' }, { now: gone });
    expect(() => again(gone)).toThrow(refused('CONFLICT', 'belongs to a deleted document', details));
  });

  test('of a worker stands where the settings allow, and the refusal says where that is', () => {
    const make = (parent: string, ...agents_create_under: string[]) =>
      tree.run('create_document', written('c', parent), { role: 'worker', agents_create_under });
    expect(() => make('a')).toThrow(refused('FORBIDDEN', 'may not create documents here'));
    expect(() => make('a', 'x', 'y')).toThrow(refused('FORBIDDEN', 'only under x, y'));
    expect(() => make('root', '*', 'x')).toThrow(refused('FORBIDDEN', 'not at the top'));
    expect(() => make('root', 'x')).toThrow(refused('FORBIDDEN', 'only under x'));
    expect(make('b', 'x', 'a').result).toMatchObject({ id: 'c' });
    for (const [places, parent, id] of [
      [['*'], 'a', 'd'],
      [['root'], 'root', 'e'],
    ] as const) {
      const more = { role: 'worker', agents_create_under: [...places] } as const;
      expect(tree.run('create_document', written(id, parent), more).result).toMatchObject({ id });
    }
    const other = { role: 'operator', agents_create_under: [] } as const;
    expect(tree.run('create_document', written('f'), other).result).toMatchObject({ id: 'f' });
  });
});

describe('a change', () => {
  const patch = (body: string, more: object = {}) =>
    tree.run('update_document', {
      document_id: 'a',
      patch: { content: { body } },
      update_mask: ['content.body'],
      ...more,
    });

  test('keeps a text once, and tells what its mask named', () => {
    const first = patch('other');
    expect(first.result).toEqual({ id: 'a', revision: 2 });
    expect(kinds(first)).toEqual(['document', 'revision', 'content']);
    expect(told(first)).toMatchObject({
      type: 'document.updated',
      body: 'updated a',
      metadata: { changed: ['content.body'] },
    });
    expect(kinds(patch('other'))).toEqual(['document', 'revision']);
    expect(kept('a')).toMatchObject({ revision: 3, bytes: 5 });
  });

  test('is refused where others came before, or where the text is lost', () => {
    expect(() => patch('x', { last_known_revision: 2 })).toThrow(refused('CONFLICT', 'at revision 1'));
    const lost = kept('a')!;
    tree.put({
      kind: 'document',
      workspace_id: 'w',
      key: 'a',
      mark: 'live',
      owner: 'ed',
      value: { ...lost, sha256: 'lost' },
    });
    expect(() => patch('x')).toThrow(refused('INTERNAL', 'the text of document a is missing'));
  });

  test('to what it was is told with the revision it goes back to', () => {
    patch('other');
    const back = tree.run('revert_document', { document_id: 'a', revision: 1 });
    expect(back.result).toEqual({ id: 'a', revision: 3 });
    expect(kinds(back)).toEqual(['document', 'revision']);
    expect(told(back)).toMatchObject({
      type: 'document.reverted',
      body: 'reverted a',
      metadata: { changed: ['content', 'metadata', 'is_human_readable'], reason: 'to revision 1' },
    });
    expect(kept('a')).toMatchObject({ bytes: 4, mime_type: 'text/markdown', metadata: { title: 'a' } });
    expect(() => tree.run('revert_document', { document_id: 'a', revision: 9 })).toThrow(
      refused('NOT_FOUND', 'no revision 9; it is at 3'),
    );
    const old = tree.reader.get('revision', revisionKey('a', 1))!;
    tree.put({
      kind: 'revision',
      workspace_id: 'w',
      key: revisionKey('a', 1),
      mark: '',
      owner: 'ed',
      value: { ...old, sha256: 'lost' },
    });
    expect(() => tree.run('revert_document', { document_id: 'a', revision: 1 })).toThrow(
      refused('INTERNAL', 'is missing'),
    );
  });
});

describe('a deletion', () => {
  const remove = (document_id: string, more: object = {}) =>
    tree.run('delete_document', { document_id, ...more });

  test('holds at once, or from its moment on, and never from before now', () => {
    const later = remove('b', { delete_at: LATER, reason: 'why' });
    expect(later.result).toEqual({
      id: 'b',
      revision: 2,
      deleted: false,
      delete_at: LATER,
      purge_at: at(Date.parse(LATER) + PURGE_AFTER_MS),
    });
    expect(told(later)?.metadata).toMatchObject({ changed: ['delete_at'], reason: 'why' });
    expect(told(later)?.metadata).not.toHaveProperty('deleted');
    expect(kept('b')).toMatchObject({ delete_reason: 'why', deleted_by: 'ed', delete_root: 'b' });
    const now = remove('a', { delete_at: EARLIER });
    expect(now.result).toMatchObject({
      deleted: true,
      delete_at: at(NOW),
      purge_at: at(NOW + PURGE_AFTER_MS),
    });
    expect(told(now)).toMatchObject({ type: 'document.deleted', metadata: { deleted: true } });
    expect(told(now)?.metadata).not.toHaveProperty('reason');
    expect(kept('a')).not.toHaveProperty('delete_reason');
  });

  test('of what is above comes first where it is earlier', () => {
    remove('a', { delete_at: LATER });
    const muchLater = at(NOW + 600_000);
    expect(remove('b', { delete_at: muchLater }).result).toMatchObject({ delete_at: LATER, deleted: false });
    expect(kept('b')).toMatchObject({ delete_root: 'a', delete_at: LATER });
  });

  test('can be taken back until it is forgotten, by the document that it was said of', () => {
    const restore = (document_id: string, now = NOW) =>
      tree.run('restore_document', { document_id }, { now });
    expect(() => restore('nobody')).toThrow(refused('NOT_FOUND', 'nobody to restore'));
    expect(() => restore('a')).toThrow(refused('CONFLICT', 'is not deleted'));
    remove('a');
    expect(() => restore('b')).toThrow(refused('CONFLICT', 'it went with a', { document_id: 'a' }));
    const back = restore('a', NOW + PURGE_AFTER_MS - 1);
    expect(back.result).toEqual({ id: 'a', revision: 3 });
    expect(told(back)).toMatchObject({ type: 'document.restored', metadata: { changed: ['delete_at'] } });
    expect(kept('b')).not.toHaveProperty('delete_at');
    remove('a');
    expect(() => restore('a', NOW + PURGE_AFTER_MS)).toThrow(refused('NOT_FOUND', ''));
    tree.put({
      kind: 'document',
      workspace_id: 'w',
      key: 'p',
      mark: 'purged',
      owner: 'ed',
      value: { ...kept('a')!, document_id: 'p', delete_root: 'p', purged_at: at(NOW) },
    });
    expect(() => restore('p')).toThrow(refused('NOT_FOUND', ''));
  });
});

test('a number of its context is noted with what it orders', () => {
  const order = { context_id: 'c', seq: 3 };
  expect(kinds(tree.run('create_document', written('c'), { order })).at(-1)).toBe('seq');
  const ignored = tree.run('delete_document', { document_id: 'c' }, { order: { ...order, seq: 2 } });
  expect(ignored).toEqual({ changes: [], result: { ignored: true, last_seq: 3 } });
  expect(kept('c')).not.toHaveProperty('delete_at');
});
