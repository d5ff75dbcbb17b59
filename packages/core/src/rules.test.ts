import { expect, test } from 'vitest';

import { takeTurn } from './rules.ts';
import { callerOf, NOW, posting } from './store-contract/scene.ts';

test.each<[which: string, at: number, error: number | undefined, decidedAt: number]>([
  ['that came later', 1, undefined, 1],
  ['of a clock that was set back', -1, undefined, 0],
  ['that may be as wrong as that', -10, 10, -10],
  ['that cannot be as wrong as that', -11, 10, 0],
])('a command is decided at a moment of its turn %s', (_which, at, error, decidedAt) => {
  const command = posting('t', 'text', callerOf('alice', 'w'));
  takeTurn(command, NOW + at, error);
  expect(command.now - NOW).toBe(decidedAt);
});
