import { ParleyError } from '@parley/protocol';

import type { Loaded, MoveDocument, Needs, Rule, TidyOrder } from '../commands.ts';
import { changeDocument, readerOf, recordChange } from './change.ts';
import { effective, withDeletion, deletionOf, ownMark } from './deletion.ts';
import { around, lastTwo, placeAt } from './neighbours.ts';
import { ORDER_MAX, ordersBetween } from './order-keys.ts';
import { lineOf, requireDocument, requireParent } from './tree-lookup.ts';

/** What a move looks at: both lines up to the root, and whatever it is to stand next to. */
export function needsMove({ input }: MoveDocument): Pick<Needs, 'gets' | 'lists' | 'lines'> {
  const { document_id, new_parent_id, position: { ordering, before } = {} } = input;
  return {
    gets: before === undefined ? [] : [{ kind: 'document', key: before.toLowerCase() }],
    lists: before === undefined && ordering === undefined ? [lastTwo(new_parent_id)] : [],
    lines: [document_id, new_parent_id],
  };
}

/** Moves a document under another parent or among its siblings; no document ever comes to stand under itself. */
export function moveDocument(loaded: Loaded, command: MoveDocument) {
  const { input, now } = command;
  const { document_id, new_parent_id: parent_id, position = {} } = input;
  const records = readerOf(loaded);
  const before = requireDocument(records, document_id, now);
  const parent = requireParent(records, parent_id, now);
  if (parent_id !== before.parent_id)
    for (const id of lineOf(records, parent_id))
      if (id === document_id)
        throw new ParleyError('CONFLICT', 'a document cannot move under itself or what hangs below it');
  const order = placeAt(records, parent_id, document_id, position, now);
  const {
    updated_at: _at,
    updated_by: _by,
    ...after
  } = withDeletion(before, effective(ownMark(before), deletionOf(parent)));
  const decision = changeDocument(
    loaded,
    command,
    'document.moved',
    { ...after, parent_id, order, revision: before.revision + 1 },
    ['parent_id', 'order'],
  );
  return { ...decision, result: { ...decision.result, parent_id, order } };
}

/** Gives a document whose key has grown long, and those around it, short keys; their order stays as it is. */
export const tidyOrder: Rule<TidyOrder> = {
  needs: ({ thread_id, input }) => ({
    thread: thread_id,
    records: true,
    gets: [{ kind: 'document', key: input.document_id }],
  }),
  decide(loaded, command) {
    const records = readerOf(loaded);
    const document = records.get('document', command.input.document_id);
    // Of many moves into one gap each asks for it, and the first has seen to all.
    if (document === undefined || document.order.length <= ORDER_MAX) return { changes: [], result: {} };
    const { parent_id } = document;
    const { left, among, right } = around(records, document);
    const fresh = ordersBetween(left, right, among.length);
    const orders = among.map((id, i) => [id, fresh[i]]);
    const body = `gave ${among.length} documents under ${parent_id} short keys`;
    const metadata = { parent_id, orders };
    return recordChange(loaded, command, { type: 'tree.ordered', body, metadata });
  },
};
