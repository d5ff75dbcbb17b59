import { expect, test } from 'vitest';

import { keyBytes, pasteBytes, textBytes } from './key-bytes.ts';

const plain = { ctrlKey: false, altKey: false, shiftKey: false };
const press = (key: string, held: Partial<typeof plain> = {}, appCursor = false): string | undefined =>
  keyBytes({ key, ...plain, ...held }, appCursor);

test('keys send what a terminal sends, with what is held and by the mode of the program', () => {
  expect(press('ArrowUp')).toBe('\u001b[A');
  expect(press('ArrowUp', {}, true)).toBe('\u001bOA');
  expect(press('ArrowLeft', { ctrlKey: true }, true)).toBe('\u001b[1;5D');
  expect(press('Delete')).toBe('\u001b[3~');
  expect(press('F1')).toBe('\u001bOP');
  expect(press('F5', { shiftKey: true })).toBe('\u001b[15;2~');
  expect(press('Enter')).toBe('\r');
  expect(press('Enter', { shiftKey: true })).toBe('\n');
  expect(press('Tab', { shiftKey: true })).toBe('\u001b[Z');
  expect(press('Escape')).toBe('\u001b');
  expect(press('Backspace')).toBe('\u007f');
  expect(press('c', { ctrlKey: true })).toBe('\u0003');
  expect(press('[', { ctrlKey: true })).toBe('\u001b');
  expect(press(' ', { ctrlKey: true })).toBe('\u0000');
  expect(press('b', { altKey: true })).toBe('\u001bb');
});

test('a plain character comes as text, and a key that sends nothing sends nothing', () => {
  expect([press('a'), press('é'), press('Shift'), press('Dead'), press('Process')]).toEqual(
    Array.from({ length: 5 }, () => undefined),
  );
});

test('what is pasted cannot end its markers nor steer the terminal', () => {
  expect(pasteBytes('one\r\ntwo\n', true)).toBe('\u001b[200~one\rtwo\r\u001b[201~');
  expect(pasteBytes('a\u001b[201~\u0003b\u009b201~', true)).toBe('\u001b[200~a[201~b201~\u001b[201~');
  expect(pasteBytes('tab\there', false)).toBe('tab\there');
  expect(textBytes('x\u001b]52;c;aGk=\u0007')).toBe('x]52;c;aGk=');
});
