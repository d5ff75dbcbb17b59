import { expect, test } from 'vitest';

import { claudePrintArguments } from '../claude/claude-print.ts';
import { codexExecArguments } from '../codex/codex-exec.ts';

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
