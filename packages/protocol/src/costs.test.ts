import { expect, test } from 'vitest';

import { costOf } from './contract.ts';
import { CONTRACTS } from './contracts.ts';

const named = (cost: string | undefined): string[] =>
  Object.values(CONTRACTS).flatMap((contract) => (costOf(contract) === cost ? [contract.name] : []));

test('what changes something or searches is counted, and what only looks is not', () => {
  expect(named('search').toSorted()).toEqual(['query_knowledge', 'search_messages', 'summarize_thread']);
  expect(named('message').toSorted()).toEqual([
    'ask_human',
    'assign_task',
    'create_document',
    'delete_document',
    'move_document',
    'post_message',
    'promote_thread',
    'put_artifact',
    'raise_ask',
    'report_event',
    'report_result',
    'restore_document',
    'revert_document',
    'test_channel',
    'trigger_participant',
    'update_document',
  ]);
  for (const { name, annotations, ...rest } of Object.values(CONTRACTS)) {
    const cost = costOf({ name, annotations, ...rest });
    if (!annotations.readOnlyHint) expect([name, cost]).toEqual([name, cost ?? 'a cost']);
    else expect([name, ['search', undefined].includes(cost)]).toEqual([name, true]);
  }
});
