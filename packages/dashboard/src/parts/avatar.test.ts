import { expect, test, vi } from 'vitest';

vi.stubGlobal('localStorage', { getItem: () => null });

const { signsOf } = await import('./avatar.tsx');

test('no two agents share a sign, however many there are, and each keeps its own', () => {
  const names = Array.from({ length: 400 }, (_, i) => `agent-${i}`).concat(
    'claude',
    'clara',
    'codex-1',
    'codex-2',
  );
  const signs = signsOf(names);
  expect(new Set([...signs.values()].map(({ letters, hue }) => `${letters} ${hue}`)).size).toBe(names.length);
  expect(signsOf(names.toReversed())).toEqual(signs);
  // Who takes part and was never heard of has a sign too, and takes none of an agent.
  const all = signsOf(names, ['claude', 'clarice', 'agent-1000', 'aaa']);
  expect(new Set([...all.values()].map(({ letters, hue }) => `${letters} ${hue}`)).size).toBe(
    names.length + 3,
  );
  for (const [name, sign] of signs) expect(all.get(name)).toEqual(sign);
  for (const { letters } of signs.values()) expect(letters.length).toBeLessThanOrEqual(3);
});
