import { Writable } from 'node:stream';

import { expect, test } from 'vitest';

import { writeIfRead } from './logger.ts';

test('a log that nobody reads is bounded', () => {
  const heard: string[] = [];
  // It never says that it is done.
  const stream = new Writable({ write: (line: Buffer) => void heard.push(line.toString()) });
  const write = writeIfRead(stream);
  for (let i = 0; i < 5_000; i++) write(`${'x'.repeat(999)}\n`);
  expect(heard).toHaveLength(1);
  expect(stream.writableLength).toBeGreaterThan(1_000_000);
  expect(stream.writableLength).toBeLessThan(1_100_000);
});
