import { ParleyError, TREE_ROOT } from '@parley/protocol';

import type {
  CreateDocument,
  Decision,
  DeleteDocument,
  Loaded,
  Needs,
  Order,
  RestoreDocument,
  RevertDocument,
  ThreadCommand,
  UpdateDocument,
} from '../commands.ts';
import { checkOrder, orderNeeds } from '../envelope/order.ts';
import type { Ignored } from '../results.ts';
import { changeDocument, readerOf } from './change.ts';
import {
  contentKey,
  isForgotten,
  type DocumentRecord,
  PURGE_AFTER_MS,
  revisionKey,
} from './document-records.ts';
import { effective, withDeletion, deletionOf, ownMark, placesUnder } from './deletion.ts';
import { mergeUnderMask } from './merge-patch.ts';
import { moveDocument, needsMove, tidyOrder } from './move-rule.ts';
import { lastPlace, lastTwo } from './neighbours.ts';
import { purgeDocument } from './purge-rule.ts';
import { requireTreeRight, type TreeRight } from './rights.ts';
import { checkRevision, lineOf, requireDocument, requireParent } from './tree-lookup.ts';
import { checkDocument, contentRecord, derived, textMissing } from './check-document.ts';

type Ordered = ThreadCommand & { order?: Order };

/** A rule of the tree: who may, in which order, and then what. */
function treeRule<C extends Ordered, R extends Record<string, unknown>>(
  right: TreeRight,
  walks: (command: C) => Pick<Needs, 'gets' | 'lists' | 'lines'>,
  decide: (loaded: Loaded, command: C) => Decision<R>,
) {
  return {
    needs(command: C): Needs {
      const { gets = [], ...rest } = walks(command);
      const all = [...orderNeeds(command), ...gets];
      return { thread: command.thread_id, records: true, ...rest, gets: all };
    },
    decide(loaded: Loaded, command: C): Decision<R | Ignored> {
      requireTreeRight(command.caller, right);
      const { ignored, note } = checkOrder(readerOf(loaded), command);
      if (ignored !== undefined) return { changes: [], result: ignored };
      const decision = decide(loaded, command);
      return { ...decision, records: [...(decision.records ?? []), ...note] };
    },
  };
}

const needsNew = ({ input: { document_id, parent_id } }: CreateDocument) => ({
  gets: [{ kind: 'document', key: document_id } as const],
  lists: [lastTwo(parent_id)],
  lines: [parent_id],
});

const needsDocument = ({ input }: UpdateDocument) => ({
  gets: [{ kind: 'document', key: input.document_id } as const],
});

const needsRevision = ({ input: { document_id, revision } }: RevertDocument) => ({
  gets: [
    { kind: 'document', key: document_id } as const,
    { kind: 'revision', key: revisionKey(document_id, revision) } as const,
  ],
});

/** With what hangs below it too: all of that goes, or comes back, with it. */
const needsTree = ({ input }: DeleteDocument | RestoreDocument) => ({
  lines: [input.document_id],
  lists: [placesUnder(input.document_id)],
});

const createDocument = treeRule('create', needsNew, (loaded, command: CreateDocument) => {
  const { caller, input, now } = command;
  const { document_id, parent_id, content, created_at } = input;
  const records = readerOf(loaded);
  const parent = requireParent(records, parent_id, now);
  if (caller.role === 'worker') checkAgentPlace(records, parent_id, command.agents_create_under);
  const known = records.get('document', document_id);
  if (known !== undefined)
    throw new ParleyError(
      'CONFLICT',
      known.delete_at === undefined && known.purged_at === undefined
        ? `a document ${document_id} is there already`
        : `the id ${document_id} belongs to a deleted document; choose another`,
      { document_id },
    );
  const written = checkDocument({ ...input });
  const at = new Date(created_at === undefined ? now : Math.min(now, Date.parse(created_at))).toISOString();
  const document = withDeletion(
    {
      workspace_id: caller.workspace_id,
      document_id,
      parent_id,
      order: lastPlace(records, parent_id),
      revision: 1,
      ...derived(written),
      created_at: at,
      created_by: caller.agent_id,
      updated_at: at,
      updated_by: caller.agent_id,
    },
    deletionOf(parent),
  );
  return changeDocument(loaded, command, 'document.created', unsigned(document), ['content', 'metadata'], {
    keep: [contentRecord(caller.workspace_id, document, content.body)],
  });
});

const updateDocument = treeRule('change', needsDocument, (loaded, command: UpdateDocument) => {
  const { caller, input, now } = command;
  const records = readerOf(loaded);
  const before = requireDocument(records, input.document_id, now);
  checkRevision(before, input.last_known_revision);
  const kept = records.get('content', contentKey(before.document_id, before.sha256));
  if (kept === undefined) throw textMissing(before.document_id);
  const { mime_type, metadata, is_human_readable } = before;
  const patched = mergeUnderMask(
    { content: { mime_type, body: kept.body }, metadata, is_human_readable },
    input.patch,
    input.update_mask,
  );
  const written = checkDocument(patched);
  const document = { ...before, ...derived(written, before), revision: before.revision + 1 };
  return changeDocument(loaded, command, 'document.updated', unsigned(document), input.update_mask, {
    keep:
      document.sha256 === before.sha256
        ? []
        : [contentRecord(caller.workspace_id, document, written.content.body)],
  });
});

const deleteDocument = treeRule('change', needsTree, (loaded, command: DeleteDocument) => {
  const { caller, input, now } = command;
  const records = readerOf(loaded);
  const before = requireDocument(records, input.document_id, now);
  const asked = input.delete_at === undefined ? now : Math.max(now, Date.parse(input.delete_at));
  const delete_at = new Date(asked).toISOString();
  const { document_id, parent_id, revision } = before;
  const own = {
    delete_at,
    deleted_by: caller.agent_id,
    delete_root: document_id,
    ...(input.reason === undefined ? {} : { delete_reason: input.reason }),
  };
  const after = withDeletion(before, effective(own, deletionOf(records.get('document', parent_id))));
  const gone_at = after.delete_at ?? delete_at;
  const deleted = Date.parse(gone_at) <= now;
  const decision = changeDocument(
    loaded,
    command,
    'document.deleted',
    unsigned({ ...after, revision: revision + 1 }),
    ['delete_at'],
    { reason: input.reason, deleted },
  );
  const purge_at = new Date(Date.parse(gone_at) + PURGE_AFTER_MS).toISOString();
  return { ...decision, result: { ...decision.result, deleted, delete_at: gone_at, purge_at } };
});

const restoreDocument = treeRule('change', needsTree, (loaded, command: RestoreDocument) => {
  const { input, now } = command;
  const records = readerOf(loaded);
  const before = records.get('document', input.document_id);
  if (before === undefined || before.purged_at !== undefined || isForgotten(before, now))
    throw new ParleyError('NOT_FOUND', `there is no document ${input.document_id} to restore`);
  if (before.delete_at === undefined)
    throw new ParleyError('CONFLICT', 'the document is not deleted, nor is it to be');
  if (ownMark(before) === undefined)
    throw new ParleyError('CONFLICT', `it went with ${before.delete_root ?? ''}: restore that one`, {
      document_id: before.delete_root,
    });
  const parent = requireParent(records, before.parent_id, now);
  const after = withDeletion({ ...before, revision: before.revision + 1 }, deletionOf(parent));
  return changeDocument(loaded, command, 'document.restored', unsigned(after), ['delete_at']);
});

const revertDocument = treeRule('change', needsRevision, (loaded, command: RevertDocument) => {
  const { input, now } = command;
  const records = readerOf(loaded);
  const before = requireDocument(records, input.document_id, now);
  checkRevision(before, input.last_known_revision);
  const old = records.get('revision', revisionKey(before.document_id, input.revision));
  if (old === undefined)
    throw new ParleyError(
      'NOT_FOUND',
      `the document has no revision ${input.revision}; it is at ${before.revision}`,
    );
  const kept = records.get('content', contentKey(before.document_id, old.sha256));
  if (kept === undefined) throw textMissing(before.document_id);
  const { metadata, is_human_readable, mime_type } = old;
  const written = { content: { mime_type, body: kept.body }, metadata, is_human_readable };
  const document = { ...before, ...derived(written, before), revision: before.revision + 1 };
  return changeDocument(
    loaded,
    command,
    'document.reverted',
    unsigned(document),
    ['content', 'metadata', 'is_human_readable'],
    { reason: `to revision ${input.revision}` },
  );
});

export const treeRules = {
  create_document: createDocument,
  update_document: updateDocument,
  delete_document: deleteDocument,
  restore_document: restoreDocument,
  move_document: treeRule('change', needsMove, moveDocument),
  revert_document: revertDocument,
  tidy_order: tidyOrder,
  purge_document: purgeDocument,
};

function checkAgentPlace(
  records: ReturnType<typeof readerOf>,
  parent: string,
  places: readonly string[],
): void {
  if (places.includes(TREE_ROOT) || (places.includes('*') && parent !== TREE_ROOT)) return;
  for (const id of lineOf(records, parent)) if (places.includes(id)) return;
  const named = places.filter((place) => place !== '*');
  throw new ParleyError(
    'FORBIDDEN',
    places.length === 0
      ? 'a worker may not create documents here; ask an orchestrator or an operator'
      : named.length === places.length
        ? `a worker may create documents only under ${named.join(', ')}`
        : 'a worker may create documents under others, not at the top: name a parent_id, or ask an orchestrator',
  );
}

function unsigned(document: DocumentRecord) {
  const { updated_at: _at, updated_by: _by, ...rest } = document;
  return rest;
}
