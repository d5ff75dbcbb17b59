import { hash } from 'node:crypto';

import { type Caller, canonicalJson, type OutputOf, ParleyError, type ParsedInputOf } from '@parley/protocol';

import { requireDone } from '../envelope/order.ts';
import type { CallContext } from '../gate.ts';
import { operation } from '../operation.ts';
import type { AboutPorts, KnowledgePorts, QuotaPorts, RecordPorts } from '../ports.ts';
import { isGone, type DocumentRecord } from './document-records.ts';
import { createDocument, moveDocument, updateDocument } from './operations.ts';
import { requireTreeRight } from './rights.ts';
import { someDocuments } from './view.ts';

type Wanted = ParsedInputOf<'import_documents'>['documents'][number];
type Result = OutputOf<'import_documents'>['results'][number];

export const importDocuments = operation('import_documents', {
  authority: 'act',
  async run(deps: RecordPorts & KnowledgePorts & AboutPorts & QuotaPorts, caller, { documents }, context) {
    requireTreeRight(caller, 'create');
    const ids = documents.map(({ document_id }) => document_id);
    const now = deps.clock.now();
    const found = await someDocuments(deps, caller.workspace_id, ids);
    const known = new Map(
      found
        .filter((one) => one.purged_at === undefined && !isGone(one, now))
        .map((one) => [one.document_id, one]),
    );
    let over: ParleyError | undefined;
    let counted = 1;
    // All are begun at once, in their order: a parent is there before its children, and one fsync is for many.
    const results = documents.map(async (wanted): Promise<Result> => {
      const { document_id } = wanted;
      const change = changeTo(wanted, known.get(document_id));
      if (change.is === 'unchanged') return { document_id, outcome: 'unchanged', revision: change.revision };
      try {
        // The first was counted at the gate. After one that is too many none is taken: order and parents must hold.
        if (counted++ > 1) over ??= overQuota(deps, caller);
        if (over !== undefined) throw over;
        return { document_id, ...(await bring(deps, caller, wanted, change, context)) };
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        const { code, message, details } = error;
        const wait = details?.['retry_after_ms'];
        const retry = typeof wait === 'number' ? { retry_after_ms: wait } : {};
        return { document_id, outcome: 'refused', error: { code, message, ...retry } };
      }
    });
    return { results: await Promise.all(results) };
  },
});

function overQuota({ quotas }: QuotaPorts, caller: Caller): ParleyError | undefined {
  try {
    quotas.spend(caller, 'write');
    return undefined;
  } catch (error) {
    if (error instanceof ParleyError) return error;
    throw error;
  }
}

type Change =
  | { is: 'new' }
  | { is: 'unchanged'; revision: number }
  | { is: 'other'; moved: boolean; written: boolean; dropped: string[] };

/** What is to be done to a document. */
function changeTo(wanted: Wanted, known: DocumentRecord | undefined): Change {
  const { parent_id, content, metadata, is_human_readable } = wanted;
  if (known === undefined) return { is: 'new' };
  const moved = known.parent_id !== parent_id;
  const written =
    known.sha256 !== hash('sha256', content.body, 'hex') ||
    known.mime_type !== content.mime_type ||
    known.is_human_readable !== is_human_readable ||
    canonicalJson(known.metadata) !== canonicalJson(metadata);
  if (!moved && !written) return { is: 'unchanged', revision: known.revision };
  const dropped = Object.keys(known.metadata).filter((name) => !Object.hasOwn(metadata, name));
  return { is: 'other', moved, written, dropped };
}

/** Brings one document to what is wanted of it. */
async function bring(
  deps: RecordPorts & KnowledgePorts & AboutPorts,
  caller: Caller,
  wanted: Wanted,
  change: Exclude<Change, { is: 'unchanged' }>,
  context: CallContext,
): Promise<Pick<Result, 'outcome' | 'revision'>> {
  const { document_id, parent_id: new_parent_id, content, metadata, is_human_readable } = wanted;
  if (change.is === 'new') {
    const { revision } = requireDone(await createDocument.run(deps, caller, wanted, context));
    return { outcome: 'created', revision };
  }
  let revision = 0;
  if (change.moved)
    ({ revision } = requireDone(
      await moveDocument.run(deps, caller, { document_id, new_parent_id }, context),
    ));
  if (change.written) {
    const without = Object.fromEntries(change.dropped.map((name) => [name, null]));
    const patch = { content, metadata: { ...metadata, ...without }, is_human_readable };
    const update_mask = ['content', 'metadata', 'is_human_readable'];
    const input = { document_id, patch, update_mask };
    ({ revision } = requireDone(await updateDocument.run(deps, caller, input, context)));
  }
  return { outcome: 'updated', revision };
}
