import type { DocumentAction } from '@parley/protocol';

import { type Entry, factsOf } from '../entry.ts';
import type { PutRecord, RecordName, RecordReader } from '../records.ts';
import {
  branchKey,
  type DocumentRecord,
  type RevisionRecord,
  namedKey,
  revisionKey,
} from './document-records.ts';
import { namesOf } from './links.ts';
import { deletionOf, sameMark, spread } from './deletion.ts';

/** What an entry of the tree's log tells. */
interface TreeFacts {
  document: DocumentRecord;
  changed: string[];
  reason?: string;
  /** Of a re-keying: the siblings and their new keys. */
  orders?: [id: string, order: string][];
  /** Of a purge: those that are gone for good. */
  purged?: string[];
}

/** What an entry does to the records. */
export interface RecordChanges {
  records: PutRecord[];
  drops: RecordName[];
}

/** True for entries that change the tree. */
export function isTreeEntry({ type }: Entry): boolean {
  return type.startsWith('document.') || type.startsWith('tree.');
}

/** What one entry of the tree's log does to the records beside it; replaying the log makes them anew. */
export function applyTreeEntry(records: RecordReader, workspace_id: string, entry: Entry): RecordChanges {
  const change: RecordChanges = { records: [], drops: [] };
  const reported = factsOf<TreeFacts>(entry);
  if (entry.type === 'tree.ordered') applyOrders(records, workspace_id, reported, change);
  else if (entry.type === 'tree.purged') applyPurge(records, workspace_id, reported, entry, change);
  else applyChange(records, workspace_id, reported, entry, change);
  return change;
}

function applyChange(
  records: RecordReader,
  workspace_id: string,
  reported: TreeFacts,
  entry: Entry,
  change: RecordChanges,
): void {
  const before = records.get('document', reported.document.document_id);
  const after = { ...reported.document, updated_at: entry.created_at, updated_by: entry.sender_agent_id };
  put(workspace_id, before, after, change);
  const value = revisionOf(entry, reported, after);
  const key = revisionKey(after.document_id, after.revision);
  change.records.push({ kind: 'revision', workspace_id, key, mark: value.action, owner: value.by, value });
  if (before === undefined || sameMark(deletionOf(before), deletionOf(after))) return;
  for (const below of spread(records, after)) put(workspace_id, below.before, below.after, change);
}

function applyOrders(
  records: RecordReader,
  workspace_id: string,
  { orders = [] }: TreeFacts,
  change: RecordChanges,
): void {
  for (const [id, order] of orders) {
    const before = records.get('document', id);
    if (before !== undefined) put(workspace_id, before, { ...before, order }, change);
  }
}

function applyPurge(
  records: RecordReader,
  workspace_id: string,
  { purged = [] }: TreeFacts,
  entry: Entry,
  change: RecordChanges,
): void {
  for (const id of purged) {
    const before = records.get('document', id);
    if (before === undefined) continue;
    const { created_at, created_by, parent_id, order, revision, mime_type } = before;
    const value: DocumentRecord = {
      workspace_id,
      document_id: id,
      parent_id,
      order,
      revision,
      mime_type,
      created_at,
      created_by,
      metadata: { title: '' },
      bytes: 0,
      sha256: '',
      is_human_readable: false,
      links: [],
      former: [],
      updated_at: entry.created_at,
      updated_by: entry.sender_agent_id,
      purged_at: entry.created_at,
    };
    change.records.push({
      kind: 'document',
      workspace_id,
      key: id,
      mark: 'purged',
      owner: created_by,
      value,
    });
    change.drops.push({ kind: 'branch', workspace_id, key: branchKey(parent_id, order, id) });
    for (const name of heldNames(before).keys())
      change.drops.push({ kind: 'name', workspace_id, key: namedKey(name, id) });
    for (const link of before.links)
      change.drops.push({ kind: 'link', workspace_id, key: namedKey(link, id) });
    for (let n = 1; n <= revision; n++)
      change.drops.push({ kind: 'revision', workspace_id, key: revisionKey(id, n) });
  }
}

/** A document with all that is found by it: its place, its names, its links. */
function put(
  workspace_id: string,
  before: DocumentRecord | undefined,
  after: DocumentRecord,
  { records, drops }: RecordChanges,
): void {
  const { document_id: id, created_by: owner, delete_at } = after;
  const state = delete_at === undefined ? 'live' : after.delete_root === id ? 'deleted' : 'with';
  records.push({ kind: 'document', workspace_id, key: id, mark: state, owner, value: after });
  const place = branchKey(after.parent_id, after.order, id);
  const old = before && branchKey(before.parent_id, before.order, id);
  if (old !== undefined && old !== place) drops.push({ kind: 'branch', workspace_id, key: old });
  if (old !== place || before?.delete_at !== delete_at) {
    const { order } = after;
    const value = { document_id: id, order, ...(delete_at === undefined ? {} : { delete_at }) };
    records.push({ kind: 'branch', workspace_id, key: place, mark: '', owner, value });
  }
  const held = before === undefined ? new Map<string, string>() : heldNames(before);
  const names = heldNames(after);
  for (const [name, mark] of names) {
    if (held.get(name) === mark) continue;
    const value = { name, document_id: id, current: mark === 'current' };
    records.push({ kind: 'name', workspace_id, key: namedKey(name, id), mark, owner, value });
  }
  for (const name of held.keys())
    if (!names.has(name)) drops.push({ kind: 'name', workspace_id, key: namedKey(name, id) });
  const links = before?.links ?? [];
  for (const name of after.links)
    if (!links.includes(name)) {
      const value = { name, from: id };
      records.push({ kind: 'link', workspace_id, key: namedKey(name, id), mark: '', owner, value });
    }
  for (const name of links)
    if (!after.links.includes(name)) drops.push({ kind: 'link', workspace_id, key: namedKey(name, id) });
}

/** The names that lead to a document: those it has, and those it has had. */
function heldNames({ metadata, former }: DocumentRecord): Map<string, string> {
  return new Map([
    ...former.map((name): [string, string] => [name, 'former']),
    ...namesOf(metadata).map((name): [string, string] => [name, 'current']),
  ]);
}

function revisionOf(entry: Entry, { changed, reason }: TreeFacts, after: DocumentRecord): RevisionRecord {
  const { document_id, revision, parent_id, metadata, is_human_readable, mime_type, bytes, sha256 } = after;
  return {
    document_id,
    revision,
    // Only entries of documents come here, and each is named for its action.
    action: entry.type.slice('document.'.length) as DocumentAction,
    at: entry.created_at,
    by: entry.sender_agent_id,
    seq: entry.seq,
    changed,
    parent_id,
    metadata,
    is_human_readable,
    mime_type,
    bytes,
    sha256,
    ...(reason === undefined ? {} : { reason }),
  };
}
