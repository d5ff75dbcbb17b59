import type { Caller } from '@parley/protocol';

import { commandHead } from '../command-head.ts';
import { hubCaller } from '../hub-caller.ts';
import type { CallContext } from '../gate.ts';
import { operation, stamp } from '../operation.ts';
import type { AboutPorts, KnowledgePorts, RecordPorts } from '../ports.ts';
import { isIgnored } from '../results.ts';
import { treeId } from '../threads/access.ts';
import { ORDER_MAX } from './order-keys.ts';
import { requireTreeRight, type TreeRight } from './rights.ts';
import { webUri } from './view.ts';

/** The head of a command to the tree: who may is asked here first, and once more by the rule. */
function head(
  deps: RecordPorts,
  caller: Caller,
  right: TreeRight,
  scope: string,
  key: string | undefined,
  { order, trace }: CallContext,
) {
  requireTreeRight(caller, right);
  return {
    ...stamp(deps, caller, scope, key, undefined, trace),
    thread_id: treeId(caller.workspace_id),
    ...(order === undefined ? {} : { order }),
  };
}

export const createDocument = operation('create_document', {
  authority: 'act',
  async run(deps: RecordPorts & KnowledgePorts & AboutPorts, caller, { idempotency_key, ...input }, context) {
    const start = head(deps, caller, 'create', 'create_document', idempotency_key, context);
    const { agentsCreateUnder: agents_create_under } = deps;
    const { result: made } = await deps.log.append({
      type: 'create_document',
      ...start,
      agents_create_under,
      input: defined(input),
    });
    if (!input.is_human_readable || isIgnored(made)) return made;
    return { ...made, web_uri: webUri(deps, made.id) };
  },
});

export const updateDocument = operation('update_document', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { idempotency_key, ...input }, context) {
    const start = head(deps, caller, 'change', 'update_document', idempotency_key, context);
    return (await deps.log.append({ type: 'update_document', ...start, input: defined(input) })).result;
  },
});

const deleteDocument = operation('delete_document', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { idempotency_key, ...input }, context) {
    const start = head(deps, caller, 'change', 'delete_document', idempotency_key, context);
    return (await deps.log.append({ type: 'delete_document', ...start, input: defined(input) })).result;
  },
});

const restoreDocument = operation('restore_document', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { idempotency_key, ...input }, context) {
    const start = head(deps, caller, 'change', 'restore_document', idempotency_key, context);
    return (await deps.log.append({ type: 'restore_document', ...start, input })).result;
  },
});

export const moveDocument = operation('move_document', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { idempotency_key, ...input }, context) {
    const start = head(deps, caller, 'change', 'move_document', idempotency_key, context);
    const { position, ...rest } = input;
    const asked = position === undefined ? rest : { ...rest, position: defined(position) };
    const { result: moved } = await deps.log.append({ type: 'move_document', ...start, input: asked });
    if (!isIgnored(moved) && moved.order.length > ORDER_MAX) await tidy(deps, caller, moved.id);
    return moved;
  },
});

const revertDocument = operation('revert_document', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { idempotency_key, ...input }, context) {
    const start = head(deps, caller, 'change', 'revert_document', idempotency_key, context);
    return (await deps.log.append({ type: 'revert_document', ...start, input: defined(input) })).result;
  },
});

async function tidy(deps: RecordPorts, { workspace_id }: Caller, document_id: string): Promise<void> {
  await deps.log.append({
    type: 'tidy_order',
    ...commandHead(deps, hubCaller(workspace_id)),
    thread_id: treeId(workspace_id),
    input: { document_id },
  });
}

/** An object without what was left out, for types that tell "absent" from "undefined". */
function defined<T extends object>(input: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  // `fromEntries` forgets which value belongs to which name.
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as never;
}

/** By name: the table of operations takes them from here. */
export const documentOperations = {
  create_document: createDocument,
  update_document: updateDocument,
  delete_document: deleteDocument,
  restore_document: restoreDocument,
  move_document: moveDocument,
  revert_document: revertDocument,
};
