import type { AgentView } from '@parley/protocol';
import { expect, test, vi } from 'vitest';

vi.stubGlobal('localStorage', { getItem: () => null });

const { byName, byUrgency } = await import('./words.ts');

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
