import type { PurgeDocument, Rule } from '../commands.ts';
import type { RecordReader } from '../records.ts';
import { readerOf, recordChange } from './change.ts';
import { isForgotten } from './document-records.ts';

/** How many documents one command forgets: others wait for the store meanwhile. */
const AT_ONCE = 200;

/** Forgets a part of what went with a document 90 days ago, the deepest first, the document itself last. */
export const purgeDocument: Rule<PurgeDocument> = {
  needs: ({ thread_id }) => ({ thread: thread_id, records: true }),
  decide(loaded, command) {
    const { now, input } = command;
    const { workspace_id } = command.caller;
    const records = readerOf(loaded);
    const root = records.get('document', input.document_id);
    if (root === undefined || root.purged_at !== undefined || !isForgotten(root, now))
      return { changes: [], result: { purged: 0, more: false } };
    const purged = deepest(records, root.document_id, AT_ONCE);
    const drop = purged.flatMap((id) =>
      records
        .list({ kind: 'content', prefix: `${id} ` })
        .map(({ sha256 }) => ({ kind: 'content', workspace_id, key: `${id} ${sha256}` }) as const),
    );
    const decision = recordChange(loaded, command, {
      type: 'tree.purged',
      body: `purged ${purged.length} documents`,
      metadata: { purged, root: root.document_id },
      drop,
    });
    return { ...decision, result: { purged: purged.length, more: !purged.includes(root.document_id) } };
  },
};

/** Some documents at or below one, each after all that hangs below it. */
function deepest(records: RecordReader, top: string, count: number): string[] {
  const found: string[] = [];
  const open: { id: string; below?: string[] }[] = [{ id: top }];
  for (let at = open.at(-1); at !== undefined && found.length < count; at = open.at(-1)) {
    at.below ??= records
      .list({ kind: 'branch', prefix: `${at.id} `, limit: count })
      .map((one) => one.document_id);
    const next = at.below.shift();
    if (next !== undefined) open.push({ id: next });
    else {
      found.push(at.id);
      open.pop();
    }
  }
  return found;
}
