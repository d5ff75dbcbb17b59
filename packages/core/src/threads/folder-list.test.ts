import type { Caller, OutputOf } from '@parley/protocol';
import { expect, test } from 'vitest';

import { openSampleHub } from '../sample-hub.ts';
import { openMemoryStore } from '../store-memory.ts';

const who = (agent_id: string): Caller => ({
  agent_id,
  workspace_id: 'w',
  role: 'worker',
  session_id: `${agent_id}-1`,
});

test('[R10] the threads of a folder are found however many agents there are', async () => {
  const { call } = openSampleHub(openMemoryStore(), { now: Date.parse('2030-01-01T00:00:00Z') });
  for (let n = 0; n < 5_010; n++)
    await call(who(`agent-${String(n).padStart(5, '0')}`), 'update_agent_status', {
      status: 'online',
      metadata: { cwd: n === 5_009 ? '/home/kim/app/src' : '/elsewhere' },
    });
  const { thread_id } = (await call(who('agent-05009'), 'create_thread', { title: 'here' })) as {
    thread_id: string;
  };
  await call(who('agent-00001'), 'create_thread', { title: 'there', participants: ['agent-05009'] });
  const chief: Caller = { ...who('chief'), role: 'operator' };
  const { threads } = (await call(chief, 'list_threads', {
    folder: '/home/kim/app',
  })) as OutputOf<'list_threads'>;
  expect(threads.map(({ title }) => title).toSorted()).toEqual(['here', 'there']);
  expect(threads.map((one) => one.thread_id)).toContain(thread_id);
}, 60_000);
