import { expect, test } from 'vitest';

import { createInputReader } from './input-reader.ts';
import { createTyping } from './typing.ts';

const UTF8 = (text: string): string => Buffer.from(text).toString('latin1');

function typed(...chunks: string[]): { hasDraft: boolean; quietMs: number } {
  let time = 0;
  const typing = createTyping(() => time);
  const reader = createInputReader();
  for (const chunk of chunks) for (const piece of reader.take(UTF8(chunk))) typing.note(piece);
  for (const piece of reader.flush()) typing.note(piece);
  time = 1_000;
  return { hasDraft: typing.hasDraft, quietMs: typing.quietMs() };
}

test.each([
  ['nothing', [], false],
  ['a word', ['hello'], true],
  ['a word and Enter', ['hello', '\r'], false],
  ['a word taken back', ['hé', '\u007f\u007f'], false],
  ['a word half taken back', ['hello\u007f'], true],
  ['Ctrl-C', ['hello\u0003'], false],
  ['a new line inside', ['one\u001b\r', 'two'], true],
  ['a backslash before Enter', ['one\\\r'], true],
  ['a paste with line ends', ['\u001b[200~one\rtwo\r\u001b[201~'], true],
  ['a paste and Enter', ['\u001b[200~one\u001b[201~\r'], false],
  ['a line from history', ['\u001b[A'], true],
  ['a line from history, sent', ['\u001bOA', '\r'], false],
  ['a move in an empty line', ['\u001b[C\u001b[H'], false],
  ['a kitty Enter', ['hello', '\u001b[13u'], false],
  ['a kitty Shift-Enter', ['hello', '\u001b[13;2u'], true],
  ['a line that was edited in its middle', ['hello\u0001\u000b'], true],
])('%s', (_name, chunks, hasDraft) => {
  expect(typed(...chunks).hasDraft).toBe(hasDraft);
});

test('what the terminal answers by itself, its focus and its mouse are no typing', () => {
  const answers = [
    '\u001b[12;40R',
    '\u001b[?62;4c',
    '\u001b]11;rgb:0000/0000/0000\u0007',
    '\u001bP1$r0m\u001b\\',
  ];
  const events = [
    '\u001b[I',
    '\u001b[O',
    '\u001b[<35;10;5M',
    '\u001b[M !!',
    '\u001b[?2026;2$y',
    '\u001b[?1u',
  ];
  expect(typed(...answers, ...events)).toEqual({ hasDraft: false, quietMs: Infinity });
  // In any parts.
  const whole = [...answers, ...events].join('');
  expect(typed(...whole.split(''))).toEqual({ hasDraft: false, quietMs: Infinity });
  expect(typed('x').quietMs).toBe(1_000);
});

test('what was typed elsewhere stands at the prompt, and is no key of the person here', () => {
  const typing = createTyping(() => 5);
  typing.noteAfar({ kind: 'key', text: 'go on' });
  expect([typing.hasDraft, typing.quietMs()]).toEqual([true, Infinity]);
  typing.noteAfar({ kind: 'key', text: '\r' });
  expect([typing.hasDraft, typing.quietMs()]).toEqual([false, Infinity]);
});
