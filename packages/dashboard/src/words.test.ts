import type { AgentView } from '@parley/protocol';
import { expect, test, vi } from 'vitest';

vi.stubGlobal('localStorage', { getItem: () => null });

const { byName, byUrgency, plainWords } = await import('./words.ts');

test('numbers inside names count by their value', () => {
  expect(['agent-10', 'agent-9', 'Agent-1'].toSorted(byName)).toEqual(['Agent-1', 'agent-9', 'agent-10']);
});

test('who concerns a person most comes first, and of those who has waited longest', () => {
  const agent = (agent_id: string, state: AgentView['state'], since: string) =>
    ({ agent_id, state, since }) as AgentView;
  const list = [
    agent('w2', 'working', '1'),
    agent('off', 'offline', '0'),
    agent('stuck', 'stuck', '0'),
    agent('late', 'needs_you', '5'),
    agent('early', 'needs_you', '4'),
    agent('bad', 'error', '9'),
    agent('w10', 'working', '0'),
  ];
  const names = list.toSorted(byUrgency).map(({ agent_id }) => agent_id);
  expect(names).toEqual(['early', 'late', 'bad', 'stuck', 'w2', 'w10', 'off']);
});

test.each([
  ['**bold** and `code`', 'bold and code'],
  ['# Title\n\n- one\n- [x] two', 'Title one two'],
  ['| a | b | | :--- | ----: | | 1 | 2 |', 'a b 1 2'],
  ['- [x] write - [ ] ship ```ts const a', 'write ship const a'],
  ['[a link](https://x.test) ![p](artifact:art_1)', 'a link p'],
  ['snake_case_name and 2 * 3 * 4', 'snake_case_name and 2 * 3 * 4'],
  ['| a | b |\n|---|--:|\n| 1 | 2 |', 'a b 1 2'],
])('%s reads without its marks', (text, plain) => {
  expect(plainWords(text)).toBe(plain);
});
