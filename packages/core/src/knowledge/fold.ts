import type { Entry } from '../entry.ts';
import type { PutRecord, RecordKind, RecordReader } from '../records.ts';
import { applyTreeEntry, isTreeEntry } from './apply.ts';

/** The kinds of records that follow from the log of a tree. */
export const TREE_KINDS = ['document', 'branch', 'revision', 'name', 'link'] as const satisfies RecordKind[];

/** The records of one workspace's tree, made anew from its log. */
export interface TreeFold {
  see(entry: Entry): void;
  records(): Iterable<PutRecord>;
}

/** Replays a tree by the same code that its rules use. */
export function createTreeFold(workspace_id: string): TreeFold {
  /** By kind and by the first word of the key, so that what hangs under one document is found without a search. */
  const groups = new Map<string, Map<string, PutRecord>>();

  const groupOf = (kind: RecordKind, key: string): Map<string, PutRecord> => {
    const name = `${kind} ${key.split(/[ \n]/, 1)[0] ?? ''}`;
    const group = groups.get(name) ?? new Map<string, PutRecord>();
    groups.set(name, group);
    return group;
  };

  // What is put under a kind is of that kind; a map of all kinds does not say so.
  const reader: RecordReader = {
    // As is said above.
    get: (kind, key) => groupOf(kind, key).get(key)?.value as never,
    list: ({ kind, prefix = '' }) =>
      [...groupOf(kind, prefix).entries()]
        .filter(([key]) => key.startsWith(prefix))
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        // As above.
        .map(([, record]) => record.value as never),
  };

  return {
    see(entry) {
      if (!isTreeEntry(entry)) return;
      const { records, drops } = applyTreeEntry(reader, workspace_id, entry);
      for (const record of records) groupOf(record.kind, record.key).set(record.key, record);
      for (const { kind, key } of drops) groupOf(kind, key).delete(key);
    },
    *records() {
      for (const group of groups.values()) yield* group.values();
    },
  };
}
