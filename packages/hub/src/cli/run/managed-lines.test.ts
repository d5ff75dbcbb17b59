import { expect, test } from 'vitest';

import { newsLines } from './managed-lines.ts';

test('a text keeps its lines, under one word for what it is', () => {
  expect(newsLines({ event: 'turn_ended', message: 'Two things:\n\n- one\n- two\n' })).toEqual([
    'done     Two things:',
    '',
    '         - one',
    '         - two',
  ]);
});

test('an ask shows its command whole, where it would run, and how it is answered', () => {
  const ask = {
    event: 'ask_open',
    message: 'to see',
    command: 'make all &&\n  make test',
    cwd: '/w',
  } as const;
  expect(newsLines(ask)).toEqual([
    'asks     to see',
    '           make all &&',
    '             make test',
    '         in /w',
    '         answer it in the dashboard, or with: parley ask ls',
  ]);
});

test('what the question of a program names already is not said twice', () => {
  const ask = {
    event: 'ask_open',
    message: 'Allow Codex to run `make all &&\n  make test` in `/w`?',
    command: 'make all &&\n  make test',
    cwd: '/w',
  } as const;
  expect(newsLines(ask)).toEqual([
    'asks     Allow Codex to run `make all &&',
    '           make test` in `/w`?',
    '         answer it in the dashboard, or with: parley ask ls',
  ]);
});

test('what others wrote moves no cursor, and shows no secret', () => {
  const [line = ''] = newsLines({
    event: 'ask_open',
    message: `\u001b[2Jx ghp_${'a'.repeat(36)}`,
    command: '\u001b[1Arm -rf /',
  });
  expect(line).not.toContain('\u001b');
  expect(line).not.toContain('ghp_aaaa');
});
