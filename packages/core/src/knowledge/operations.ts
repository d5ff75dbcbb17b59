import { type Caller, ENTRY_SALT_BOUND, type OutputOf } from '@parley/protocol';

import type { Command } from '../commands.ts';
import { hubCaller } from '../hub-caller.ts';
import { type CallContext, type Deps, operation, stamp } from '../operation.ts';
import { treeId } from '../threads/access.ts';
import { ORDER_MAX } from './place.ts';
import { requireTreeRight, type TreeRight } from './rights.ts';
import { webUri } from './view.ts';

type Changed = { id: string; revision: number };

/** The head of a command to the tree: who may is asked here first, and once more by the rule. */
function head(
  deps: Deps,
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

async function write(deps: Deps, command: Command): Promise<Changed> {
  return (await deps.log.append(command)).result as unknown as Changed;
}

export const createDocument = operation('create_document', {
  authority: 'act',
  async run(deps, caller, { idempotency_key, ...input }, context) {
    const start = head(deps, caller, 'create', 'create_document', idempotency_key, context);
    const { agentsCreateUnder: agents_create_under } = deps;
    const made = await write(deps, {
      type: 'create_document',
      ...start,
      agents_create_under,
      input: defined(input),
    });
    // An ignored one has no id.
    if (!input.is_human_readable || (made.id as string | undefined) === undefined) return made;
    return { ...made, web_uri: webUri(deps, made.id) };
  },
});

export const updateDocument = operation('update_document', {
  authority: 'act',
  async run(deps, caller, { idempotency_key, ...input }, context) {
    const start = head(deps, caller, 'change', 'update_document', idempotency_key, context);
    return write(deps, { type: 'update_document', ...start, input: defined(input) });
  },
});

export const deleteDocument = operation('delete_document', {
  authority: 'act',
  async run(deps, caller, { idempotency_key, ...input }, context) {
    const start = head(deps, caller, 'change', 'delete_document', idempotency_key, context);
    const deleted = await write(deps, { type: 'delete_document', ...start, input: defined(input) });
    return deleted as OutputOf<'delete_document'>;
  },
});

export const restoreDocument = operation('restore_document', {
  authority: 'act',
  async run(deps, caller, { idempotency_key, ...input }, context) {
    const start = head(deps, caller, 'change', 'restore_document', idempotency_key, context);
    return write(deps, { type: 'restore_document', ...start, input });
  },
});

export const moveDocument = operation('move_document', {
  authority: 'act',
  async run(deps, caller, { idempotency_key, ...input }, context) {
    const start = head(deps, caller, 'change', 'move_document', idempotency_key, context);
    const { position, ...rest } = input;
    const asked = position === undefined ? rest : { ...rest, position: defined(position) };
    const moved = (await write(deps, {
      type: 'move_document',
      ...start,
      input: asked,
    })) as OutputOf<'move_document'>;
    // An ignored one has no order.
    if (((moved.order as string | undefined) ?? '').length > ORDER_MAX)
      await tidy(deps, caller, moved.parent_id);
    return moved;
  },
});

export const revertDocument = operation('revert_document', {
  authority: 'act',
  async run(deps, caller, { idempotency_key, ...input }, context) {
    const start = head(deps, caller, 'change', 'revert_document', idempotency_key, context);
    return write(deps, { type: 'revert_document', ...start, input: defined(input) });
  },
});

async function tidy(deps: Deps, { workspace_id }: Caller, parent_id: string): Promise<void> {
  await deps.log.append({
    type: 'tidy_order',
    caller: hubCaller(workspace_id),
    now: deps.clock.now(),
    salt: deps.chance.below(ENTRY_SALT_BOUND),
    thread_id: treeId(workspace_id),
    input: { parent_id },
  });
}

/** An object without what was left out, for types that tell "absent" from "undefined". */
function defined<T extends object>(input: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as never;
}
