import { expect, test } from 'vitest';

import { type KeyFile, revokeToken } from './key-file.ts';

const DAY = 86_400_000;
const NOW = Date.parse('2030-01-01T00:00:00Z');

test('a revocation under a wrong clock forgets none that was made before', () => {
  const file: KeyFile = { keys: [], revoked: [] };
  revokeToken(file, 'first', NOW);
  revokeToken(file, 'second', NOW + 400 * DAY);
  expect(file.revoked.map(({ jti }) => jti)).toEqual(['first', 'second']);
  for (let i = 0; i < 2_000; i++) revokeToken(file, `many ${i}`, NOW + 400 * DAY);
  expect(file.revoked.some(({ jti }) => jti === 'first')).toBe(false);
});
