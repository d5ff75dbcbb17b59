import { standingEntry } from '../agents/journal.ts';
import type { Decision, Loaded, ThreadCommand } from '../commands.ts';
import type { EntryType } from '../entry.ts';
import type { PutRecord, RecordName, RecordReader } from '../records.ts';
import { applyTreeEntry } from './apply.ts';
import type { DocumentRecord } from './document-records.ts';

/** What is new of a document; who changed it and when stands in the entry. */
export type Unsigned = Omit<DocumentRecord, 'updated_at' | 'updated_by'>;

/** What stands in the log of one change, and what is kept or dropped beside what follows from it. */
export interface TreeChange {
  type: EntryType;
  body: string;
  metadata: Record<string, unknown>;
  keep?: PutRecord[];
  drop?: RecordName[];
}

/** The records that the store lets a tree's rule look into. */
export function readerOf({ records }: Loaded): RecordReader {
  if (records === undefined) throw new Error('this rule needs the records');
  return records;
}

/** Puts one change of the tree into its log; the records follow from the entry, as they would in a replay. */
export function recordChange(
  loaded: Loaded,
  command: ThreadCommand,
  change: TreeChange,
): Decision<Record<string, never>> {
  const { type, body, metadata, keep = [], drop = [] } = change;
  const content = { type, kind: 'system', body, metadata } as const;
  const title = 'the tree of documents';
  const reported = standingEntry(loaded.located, command, title, { tree: true }, content);
  const { records, drops } = applyTreeEntry(readerOf(loaded), command.caller.workspace_id, reported.entry);
  return {
    changes: [reported.change],
    records: [...records, ...keep],
    drops: [...drops, ...drop],
    result: {},
  };
}

/** The decision to change one document, with the answer that every change gives. */
export function changeDocument(
  loaded: Loaded,
  command: ThreadCommand,
  type: EntryType,
  document: Unsigned,
  changed: readonly string[],
  more: {
    reason?: string | undefined;
    deleted?: boolean;
    keep?: PutRecord[];
  } = {},
): Decision<{ id: string; revision: number }> {
  const { reason, deleted = false, keep = [] } = more;
  const { document_id: id, revision, metadata } = document;
  const decision = recordChange(loaded, command, {
    type,
    body: `${type.slice('document.'.length)} ${metadata.title}`,
    metadata: {
      document,
      changed,
      ...(reason === undefined ? {} : { reason }),
      ...(deleted ? { deleted } : {}),
    },
    keep,
  });
  return { ...decision, result: { id, revision } };
}
