import type { Caller, Role } from '@parley/protocol';
import { expect, test } from 'vitest';

import {
  admit,
  admitReader,
  checkIdScope,
  checkThreadScope,
  isForeign,
  JOURNAL_PREFIX,
  journalId,
  type Located,
  mayRead,
  treeId,
  workspaceTag,
} from './access.ts';
import type { ThreadState } from './state.ts';

const by = (agent_id: string, role: Role = 'worker', workspace_id = 'w'): Caller => ({
  agent_id,
  role,
  workspace_id,
  session_id: 's',
});
const thread = (more: Partial<ThreadState> = {}) =>
  ({ thread_id: 't', workspace_id: 'w', participants: ['alice'], ...more }) as ThreadState;
const code = (word: string) => expect.objectContaining({ code: word }) as Error;

test('the ids of journals and of the tree follow from names, and tell their workspace', () => {
  const ids = [
    journalId('w', 'alice'),
    journalId('w', 'bob'),
    journalId('v', 'alice'),
    treeId('w'),
    treeId('v'),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  // They stand in records for ever.
  expect(journalId('w', 'alice')).toBe('th_0000000000R677FCJ33NFD0PA6g714');
  expect(treeId('w')).toBe('th_0000000000X2JEHKXA4RP8VNY1g714');
  for (const id of ids) expect(id.startsWith(JOURNAL_PREFIX)).toBe(true);
  expect(ids.map((id) => id.endsWith(workspaceTag('w')))).toEqual([true, true, false, true, false]);
  expect(workspaceTag('w')).toMatch(/^[0-9a-z]{4,}$/i);
});

test('an id that names another workspace is refused before anything is looked up', () => {
  const [own, other] = [by('alice'), by('alice', 'operator', 'v')];
  const id = treeId('w');
  const scoped = id.replace('th_', 'art_');
  for (let again = 0; again < 2; again++) {
    expect(() => checkThreadScope(id, own)).not.toThrow();
    expect(() => checkThreadScope(id, other)).toThrow(code('OUT_OF_SCOPE_WORKSPACE'));
    expect(() => checkIdScope(scoped, own)).not.toThrow();
    expect(() => checkIdScope(scoped, other)).toThrow(code('OUT_OF_SCOPE_WORKSPACE'));
  }
  // What tells no workspace is looked up.
  for (const caller of [own, other]) {
    expect(() => checkThreadScope('t', caller)).not.toThrow();
    expect(() => checkIdScope('x', caller)).not.toThrow();
  }
});

test('those of a thread and those who steer come in', () => {
  const located: Located = { thread: thread() };
  for (const caller of [by('alice'), by('boss', 'operator'), by('olga', 'orchestrator')])
    expect(admit(located, caller)).toBe(located.thread);
  expect(() => admit(located, by('bob'))).toThrow(code('FORBIDDEN'));
  expect(() => admit(located, by('alice', 'operator', 'v'))).toThrow(code('OUT_OF_SCOPE_WORKSPACE'));
  expect(() => admit({ thread: undefined, foreign: true }, by('alice'))).toThrow(
    code('OUT_OF_SCOPE_WORKSPACE'),
  );
  expect(() => admit({ thread: undefined, foreign: false }, by('alice'))).toThrow(code('NOT_FOUND'));
});

test('an agent reads its own journal, a side channel is open to its main thread, the tree to all', () => {
  const mayBob = (located: Located) => mayRead(located, by('bob'));
  expect(mayBob({ thread: thread({ journal_of: 'bob' }) })).toBe(true);
  expect(mayBob({ thread: thread({ journal_of: 'alice' }) })).toBe(false);
  expect(mayBob({ thread: thread() })).toBe(false);
  const side = thread({ side_of: 'm', participants: [] });
  expect(mayBob({ thread: side, main: thread({ participants: ['bob'] }) })).toBe(true);
  expect(mayBob({ thread: side, main: thread() })).toBe(false);
  const tree = { thread: thread({ tree: true, participants: [] }) };
  expect(admitReader(tree, by('bob'))).toBe(tree.thread);
  expect(() => admit(tree, by('bob'))).toThrow(code('FORBIDDEN'));
  expect(() => admitReader({ thread: thread() }, by('bob'))).toThrow(code('FORBIDDEN'));
  expect(() => admitReader(tree, by('bob', 'worker', 'v'))).toThrow(code('OUT_OF_SCOPE_WORKSPACE'));
});

test('what is missing belongs elsewhere where the workspace has no thread and the hub has some', () => {
  const all = [true, false].flatMap((own) => [true, false].map((hub) => isForeign(own, hub)));
  expect(all).toEqual([false, false, true, false]);
});
