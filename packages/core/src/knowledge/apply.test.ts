import { expect, test } from 'vitest';

import type { Entry } from '../entry.ts';
import type { RecordReader } from '../records.ts';
import { applyTreeEntry, isTreeEntry } from './apply.ts';
import type { DocumentRecord } from './document-records.ts';

const document = (change: Partial<DocumentRecord> = {}): DocumentRecord => ({
  workspace_id: 'w',
  document_id: 'd',
  parent_id: 'root',
  order: 'a0',
  revision: 1,
  metadata: { title: 'Plan' },
  is_human_readable: true,
  mime_type: 'text/markdown',
  bytes: 4,
  sha256: 's',
  links: [],
  former: [],
  created_at: 'then',
  created_by: 'alice',
  updated_at: 'then',
  updated_by: 'alice',
  ...change,
});

const entryOf = (type: Entry['type'], metadata: object): Entry =>
  ({ type, seq: 5, created_at: 'now', sender_agent_id: 'bob', metadata }) as unknown as Entry;

/** What an entry does where these documents stand, in short: what is put, with its mark, and what goes. */
function changesOf(entry: Entry, ...documents: DocumentRecord[]) {
  const records: RecordReader = {
    get: (kind, key) =>
      (kind === 'document' ? documents.find((one) => one.document_id === key) : undefined) as never,
    list: ({ prefix = '' }) =>
      documents.filter((one) => `${one.parent_id} ` === prefix).map((one) => one as never),
  };
  const changes = applyTreeEntry(records, 'w', entry);
  for (const { workspace_id } of [...changes.records, ...changes.drops]) expect(workspace_id).toBe('w');
  return {
    ...changes,
    puts: changes.records.map(({ kind, key, mark, owner }) => `${kind} ${key} (${mark}) ${owner}`),
    gone: changes.drops.map(({ kind, key }) => `${kind} ${key}`),
  };
}
const changed = (after: DocumentRecord, more: object = {}) =>
  entryOf('document.updated', { document: after, changed: ['metadata'], ...more });
const FIRST = 'revision d 0000000000000001 (updated) bob';
const SECOND = 'revision d 0000000000000002 (updated) bob';

test('a document that is new is put with its place, its names, its links and its revision', () => {
  const metadata = { title: 'Plan', source: 'notes/old plan.md' };
  const after = document({ metadata, links: ['goal'], former: ['draft', 'plan'] });
  const { puts, gone, records } = changesOf(changed(after, { reason: 'why' }));
  expect(puts).toEqual([
    'document d (live) alice',
    'branch root a0 d () alice',
    'name draft\nd (former) alice',
    'name plan\nd (current) alice',
    'name old plan\nd (current) alice',
    'link goal\nd () alice',
    FIRST,
  ]);
  expect(gone).toEqual([]);
  const values = records.map(({ value }) => value);
  expect(values).toEqual([
    { ...after, updated_at: 'now', updated_by: 'bob' },
    { document_id: 'd', order: 'a0' },
    { name: 'draft', document_id: 'd', current: false },
    { name: 'plan', document_id: 'd', current: true },
    { name: 'old plan', document_id: 'd', current: true },
    { name: 'goal', from: 'd' },
    {
      document_id: 'd',
      revision: 1,
      action: 'updated',
      at: 'now',
      by: 'bob',
      seq: 5,
      changed: ['metadata'],
      parent_id: 'root',
      metadata,
      is_human_readable: true,
      mime_type: 'text/markdown',
      bytes: 4,
      sha256: 's',
      reason: 'why',
    },
  ]);
  expect(changesOf(changed(after)).records.at(-1)?.value).not.toHaveProperty('reason');
});

test('of what was there only what differs is put or goes', () => {
  const before = document({ links: ['goal', 'kept'], former: ['draft', 'older'] });
  expect(changesOf(changed({ ...before, revision: 2 }), before)).toMatchObject({
    puts: ['document d (live) alice', SECOND],
    gone: [],
  });
  const after = {
    ...before,
    revision: 2,
    metadata: { title: 'Draft' },
    former: ['plan'],
    links: ['kept', 'new'],
  };
  expect(changesOf(changed(after), before)).toMatchObject({
    puts: [
      'document d (live) alice',
      'name plan\nd (former) alice',
      'name draft\nd (current) alice',
      'link new\nd () alice',
      SECOND,
    ],
    gone: ['name older\nd', 'link goal\nd'],
  });
});

test('a place goes when another takes its stead, by its parent or by its order', () => {
  const before = document();
  for (const [change, place] of [
    [{ parent_id: 'p' }, 'p a0 d'],
    [{ order: 'a1' }, 'root a1 d'],
  ] as const)
    expect(changesOf(changed({ ...before, ...change }), before)).toMatchObject({
      puts: ['document d (live) alice', `branch ${place} () alice`, FIRST],
      gone: ['branch root a0 d'],
    });
});

test('a deletion stands on the place too, and spreads to what hangs below', () => {
  const mark = { delete_at: '2030-01-01T00:00:00.000Z', deleted_by: 'bob', delete_root: 'd' };
  const [top, child] = [document(), document({ document_id: 'c', parent_id: 'd' })];
  const gone = { ...top, ...mark };
  const deleted = changesOf(changed(gone), top, child);
  expect(deleted.puts).toEqual([
    'document d (deleted) alice',
    'branch root a0 d () alice',
    FIRST,
    'document c (with) alice',
    'branch d a0 c () alice',
  ]);
  expect(deleted.gone).toEqual([]);
  expect(deleted.records[1]?.value).toEqual({ document_id: 'd', order: 'a0', delete_at: mark.delete_at });
  expect(deleted.records[3]?.value).toEqual({ ...child, ...mark });
  // Nothing of that changes with the words of one that is to go.
  const renamed = changesOf(changed({ ...gone, sha256: 't' }), gone, child);
  expect(renamed.puts).toEqual(['document d (deleted) alice', FIRST]);
  // One that was not there has nobody below it.
  expect(changesOf(changed(gone), child).puts).not.toContain('document c (with) alice');
});

test('new keys are given to those that are still there', () => {
  const orders = [
    ['d', 'b0'],
    ['nobody', 'b1'],
  ];
  const { puts, gone, records } = changesOf(entryOf('tree.ordered', { orders }), document());
  expect(puts).toEqual(['document d (live) alice', 'branch root b0 d () alice']);
  expect(gone).toEqual(['branch root a0 d']);
  expect(records[0]?.value).toEqual(document({ order: 'b0' }));
  expect(changesOf(entryOf('tree.ordered', {}), document())).toMatchObject({ puts: [], gone: [] });
});

test('of what is purged the id stays taken, and nothing of what was written', () => {
  const before = document({
    revision: 2,
    links: ['goal'],
    former: ['draft'],
    delete_at: 'then',
    delete_root: 'd',
  });
  const purge = entryOf('tree.purged', { purged: ['nobody', 'd'] });
  const { puts, gone, records } = changesOf(purge, before);
  expect(puts).toEqual(['document d (purged) alice']);
  expect(records[0]?.value).toEqual({
    workspace_id: 'w',
    document_id: 'd',
    parent_id: 'root',
    order: 'a0',
    revision: 2,
    mime_type: 'text/markdown',
    created_at: 'then',
    created_by: 'alice',
    metadata: { title: '' },
    bytes: 0,
    sha256: '',
    is_human_readable: false,
    links: [],
    former: [],
    updated_at: 'now',
    updated_by: 'bob',
    purged_at: 'now',
  });
  expect(gone).toEqual([
    'branch root a0 d',
    'name draft\nd',
    'name plan\nd',
    'link goal\nd',
    'revision d 0000000000000001',
    'revision d 0000000000000002',
  ]);
  expect(changesOf(entryOf('tree.purged', {}), before)).toMatchObject({ puts: [], gone: [] });
});

test('entries of documents and of the tree change it, no others', () => {
  const types = ['document.created', 'tree.purged', 'message', 'thread.created'] as const;
  expect(types.map((type) => isTreeEntry({ type } as Entry))).toEqual([true, true, false, false]);
});
