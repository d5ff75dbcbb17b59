import { ParleyError } from '@parley/protocol';

import type { Decision, Loaded, MoveDocument, Rule, TidyOrder } from '../commands.ts';
import { changeDocument, readerOf, recordChange } from './change.ts';
import { effective, marked, markOf, ownMark } from './marks.ts';
import { freshOrders } from './place.ts';
import { placeAt } from './places.ts';
import { lineOf, requireDocument, requireParent } from './standing.ts';

/** Moves a document under another parent or among its siblings; no document ever comes to stand under itself. */
export function moveDocument(loaded: Loaded, command: MoveDocument): Decision {
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
  } = marked(before, effective(ownMark(before), markOf(parent)));
  return changeDocument(
    loaded,
    command,
    'document.moved',
    { ...after, parent_id, order, revision: before.revision + 1 },
    ['parent_id', 'order'],
    { result: { parent_id, order } },
  );
}

/** Gives all documents under a parent short keys again; their order stays as it is. */
export const tidyOrder: Rule<TidyOrder> = {
  needs: ({ thread_id }) => ({ thread: thread_id, records: true }),
  decide(loaded, command) {
    const { parent_id } = command.input;
    const siblings = readerOf(loaded).list({ kind: 'branch', prefix: `${parent_id} ` });
    const fresh = freshOrders(siblings.length);
    const orders = siblings.map(({ document_id }, i) => [document_id, fresh[i]]);
    const body = `gave the ${siblings.length} documents under ${parent_id} short keys`;
    const metadata = { parent_id, orders };
    return recordChange(loaded, command, { type: 'tree.ordered', body, metadata });
  },
};
