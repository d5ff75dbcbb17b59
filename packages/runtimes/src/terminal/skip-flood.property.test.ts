import xterm from '@xterm/headless';
import { array, assert, asyncProperty, constantFrom, oneof } from 'fast-check';
import { expect, test } from 'vitest';

import { createFloodFilter } from './skip-flood.ts';

const ROWS = 6;
const colours = [
  '\u001b[31m',
  '\u001b[0m',
  '\u001b[m',
  '\u001b[1;44m',
  '\u001b[0;32m',
  '\u001b[38:2::1:2:3m',
];
const line = array(constantFrom('a', 'Ä', '漢', '\t', ' ', '§', ...colours), { maxLength: 30 }).map(
  (chars) => `${chars.join('')}\r\n`,
);
const flood = array(line, { minLength: ROWS, maxLength: 10 * ROWS }).map((lines) => lines.join(''));
const controls = ['\n', '\r', '\b', '\u0007', 'no end of line', '\u000e', '\u000f', '\u009b3m'];
const sequences = ['\u001b[31m', '\u001b]0;a title', '\u0007', '\u001b\\', '\u001b', '[2J', '\u001b[3;2H'];
const regions = [
  '\u001b[2;4r',
  '\u001b[r',
  '\u001b[1;6r',
  '\u001b[?1049h',
  '\u001b[?1049l',
  '\u001bc',
  '\u001b[6;1H',
];
const halves = [
  '\u001b[',
  '3',
  '1m',
  '2;4',
  'r',
  '\u001b]',
  '\u001b(',
  '\u0018',
  '\u009d',
  '\u001b[>4;2m',
  '\u001b_',
];
const odd = constantFrom(
  ...controls,
  ...sequences,
  ...regions,
  ...halves,
  '\u001b(0',
  '\u001bPq a text',
  'x'.repeat(300),
);
const anything = array(oneof({ weight: 2, arbitrary: flood }, { weight: 1, arbitrary: odd }), {
  maxLength: 8,
});

/** What stands on a terminal after the output came in these parts. */
async function drawn(parts: Buffer[]): Promise<unknown> {
  const terminal = new xterm.Terminal({
    cols: 20,
    rows: ROWS,
    scrollback: 0,
    allowProposedApi: true,
    logLevel: 'off',
  });
  for (const part of parts) await new Promise<void>((resolve) => terminal.write(part, resolve));
  const { active } = terminal.buffer;
  const lines = Array.from({ length: ROWS }, (_, y) => active.getLine(active.baseY + y));
  const cells = lines.map((row) =>
    Array.from({ length: 20 }, (_, x) => {
      const cell = row?.getCell(x);
      return [cell?.getChars(), cell?.getFgColor(), cell?.getBgColor(), cell?.isBold()].join(' ');
    }),
  );
  return [lines.map((row) => row?.translateToString()), cells, active.type, active.cursorX, active.cursorY];
}

test('a screen that skips a flood of lines shows the same as one that draws them all', async () => {
  let skipped = 0;
  await assert(
    asyncProperty(array(anything, { maxLength: 3 }), async (batches) => {
      const outputs = batches.map((batch) => Buffer.from(batch.join('')));
      const filter = createFloodFilter();
      const parts = outputs.flatMap((output) => filter.parts(output, ROWS));
      skipped += Buffer.concat(outputs).length - Buffer.concat(parts).length;
      // What comes next must look the same too.
      const next = Buffer.from('\u0007\u0018next');
      expect(await drawn([...parts, next])).toEqual(await drawn([...outputs, next]));
    }),
    { numRuns: 150 },
  );
  expect(skipped).toBeGreaterThan(5_000);
});
