import { ParleyError } from '@parley/protocol';

import type {
  CreateDocument,
  DeleteDocument,
  Order,
  RestoreDocument,
  RevertDocument,
  Rule,
  ThreadCommand,
  UpdateDocument,
} from '../commands.ts';
import { checkOrder } from '../envelope/order.ts';
import { changeDocument, readerOf } from './change.ts';
import { contentKey, isForgotten, type KeptDocument, PURGE_AFTER_MS, revisionKey } from './kept.ts';
import { effective, marked, markOf, ownMark } from './marks.ts';
import { mergeUnderMask } from './merge-patch.ts';
import { moveDocument, tidyOrder } from './move-rule.ts';
import { lastPlace } from './places.ts';
import { purgeDocument } from './purge-rule.ts';
import { requireTreeRight, type TreeRight } from './rights.ts';
import { checkRevision, lineOf, requireDocument, requireParent } from './standing.ts';
import { checkWritten, contentRecord, derived, textMissing } from './written.ts';

type Ordered = ThreadCommand & { order?: Order };

/** A rule of the tree: who may, in which order, and then what. */
function treeRule<C extends Ordered>(right: TreeRight, decide: Rule<C>['decide']): Rule<C> {
  return {
    needs: ({ thread_id }) => ({ thread: thread_id, records: true }),
    decide(loaded, command) {
      requireTreeRight(command.caller, right);
      const { ignored, note } = checkOrder(readerOf(loaded), command);
      if (ignored !== undefined) return { changes: [], result: ignored };
      const decision = decide(loaded, command);
      return { ...decision, records: [...(decision.records ?? []), ...note] };
    },
  };
}

const createDocument = treeRule<CreateDocument>('create', (loaded, command) => {
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
  const written = checkWritten({ ...input });
  const at = new Date(created_at === undefined ? now : Math.min(now, Date.parse(created_at))).toISOString();
  const document = marked(
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
    markOf(parent),
  );
  return changeDocument(loaded, command, 'document.created', unsigned(document), ['content', 'metadata'], {
    keep: [contentRecord(caller.workspace_id, document, content.body)],
  });
});

const updateDocument = treeRule<UpdateDocument>('change', (loaded, command) => {
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
  const written = checkWritten(patched);
  const document = { ...before, ...derived(written, before), revision: before.revision + 1 };
  return changeDocument(loaded, command, 'document.updated', unsigned(document), input.update_mask, {
    keep:
      document.sha256 === before.sha256
        ? []
        : [contentRecord(caller.workspace_id, document, written.content.body)],
  });
});

const deleteDocument = treeRule<DeleteDocument>('change', (loaded, command) => {
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
  const after = marked(before, effective(own, markOf(records.get('document', parent_id))));
  const gone_at = after.delete_at ?? delete_at;
  return changeDocument(
    loaded,
    command,
    'document.deleted',
    unsigned({ ...after, revision: revision + 1 }),
    ['delete_at'],
    {
      reason: input.reason,
      result: {
        deleted: Date.parse(gone_at) <= now,
        delete_at: gone_at,
        purge_at: new Date(Date.parse(gone_at) + PURGE_AFTER_MS).toISOString(),
      },
    },
  );
});

const restoreDocument = treeRule<RestoreDocument>('change', (loaded, command) => {
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
  const after = marked({ ...before, revision: before.revision + 1 }, markOf(parent));
  return changeDocument(loaded, command, 'document.restored', unsigned(after), ['delete_at']);
});

const revertDocument = treeRule<RevertDocument>('change', (loaded, command) => {
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
  move_document: treeRule('change', moveDocument),
  revert_document: revertDocument,
  tidy_order: tidyOrder,
  purge_document: purgeDocument,
};

function checkAgentPlace(
  records: ReturnType<typeof readerOf>,
  parent: string,
  places: readonly string[],
): void {
  if (places.includes('root')) return;
  for (const id of lineOf(records, parent)) if (places.includes(id)) return;
  throw new ParleyError(
    'FORBIDDEN',
    places.length === 0
      ? 'a worker may not create documents here; ask an orchestrator or an operator'
      : `a worker may create documents only under ${places.join(', ')}`,
  );
}

function unsigned(document: KeptDocument) {
  const { updated_at: _at, updated_by: _by, ...rest } = document;
  return rest;
}
