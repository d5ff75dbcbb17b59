import { expect, test } from 'vitest';

import { claudePrintArguments } from '../claude/claude-print.ts';
import { managedClaudeArguments } from '../claude/managed-claude.ts';
import { codexExecArguments } from '../codex/codex-exec.ts';
import { managedCodexArguments } from '../codex/managed-arguments.ts';

const ID = '019a0000-0000-7000-8000-000000000001';
const BAD = ['--dangerously-bypass-approvals-and-sandbox', '-c', 'a b', '../x', '', `${ID} --yolo`, `-${ID}`];

test('[C-WAKE-11] an id that is no UUID never becomes an argument, and a prompt never is one', () => {
  expect(codexExecArguments({ threadId: ID, args: ['--sandbox', 'read-only'] })).toEqual([
    'exec',
    'resume',
    '--json',
    '--skip-git-repo-check',
    '--sandbox',
    'read-only',
    ID,
    '-',
  ]);
  expect(codexExecArguments({}).at(-1)).toBe('-');
  expect(claudePrintArguments({ resume: ID }).slice(-2)).toEqual(['--resume', ID]);
  expect(claudePrintArguments({ sessionId: ID }).slice(-2)).toEqual(['--session-id', ID]);
  for (const id of BAD) {
    expect(() => codexExecArguments({ threadId: id })).toThrow('no id');
    expect(() => claudePrintArguments({ resume: id })).toThrow('no id');
    expect(() => claudePrintArguments({ sessionId: id })).toThrow('no id');
  }
});

test('a session without a terminal is started word by word; what its program cannot take is refused by name', () => {
  const id = '019a0000-0000-7000-8000-000000000000';
  const plain = {
    args: ['--model', 'x'],
    server: { name: 'parley', command: 'node', args: ['a b'], env: {} },
  };
  const words = managedClaudeArguments({ ...plain, resume: id }, id);
  expect(words).toEqual(
    expect.arrayContaining(['--resume', id, '--model', 'x', '--allowedTools', 'mcp__parley']),
  );
  expect(JSON.parse(words[words.indexOf('--mcp-config') + 1] ?? '')).toMatchObject({
    mcpServers: { parley: { command: 'node', args: ['a b'] } },
  });
  for (const bad of ['--dangerously-skip-permissions', '-c', 'a b', '../x'])
    expect(() => managedClaudeArguments({ args: [], resume: bad }, bad)).toThrow('no id');
  const flags = ['-c', 'a=1', '--sandbox', 'read-only', '-m', 'x', '--ask-for-approval', 'never'];
  expect(managedCodexArguments(flags)).toEqual({
    server: ['--config', 'a=1'],
    thread: { sandbox: 'read-only', model: 'x', approvalPolicy: 'never' },
  });
  for (const bad of [['resume'], ['--no-daemon'], ['--sandbox']])
    expect(() => managedCodexArguments(bad)).toThrow('without a terminal Codex takes --config');
});
