import type { Caller } from '@parley/protocol';
import { expect, onTestFinished, test, vi } from 'vitest';

import { createHub } from '../hub.ts';
import { createMirror } from '../nodes/mirror.ts';
import { createNodeCalls } from '../nodes/node-calls.ts';
import { createSampleBuses } from '../nodes/sample-buses.ts';
import { openSampleHub } from '../sample-hub.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { LiveUpdate } from './live-update.ts';
import { createLive } from './live.ts';

const START = Date.parse('2030-01-01T00:00:00Z');
const boss: Caller = { agent_id: 'boss', workspace_id: 'w', role: 'operator', session_id: 's' };
const agent: Caller = { agent_id: 'lost', workspace_id: 'w', role: 'worker', session_id: 'lost' };
const onFault = (error: unknown): void => {
  throw error;
};

test('[LIVE-4] who has connected at another node, and is not known here yet, is asked how it is', async () => {
  const store = openMemoryStore();
  const buses = createSampleBuses();
  const [here, there] = ['here', 'there'].map((node) => {
    const { deps } = openSampleHub(store, { now: START });
    const bus = buses.open(node);
    const clock = { monotonic: () => performance.now() };
    // What is missed is made up for with the next beat.
    const mirror = createMirror({ bus, clock, onFault, beatMs: 500 });
    const calls = createNodeCalls({ bus, mirror, onFault });
    onTestFinished(() => {
      calls.close();
      mirror.close();
    });
    const live = createLive({
      ...deps,
      newId: () => crypto.randomUUID(),
      commandTimeoutMs: 20_000,
      maxConcurrent: 2,
      context: () => ({ request_id: 'r', signal: new AbortController().signal }),
      nodes: { bus, mirror, calls },
      onFault,
    });
    live.open(createHub({ ...deps, links: live.links }, () => {}));
    return { live, mirror };
  });
  if (here === undefined || there === undefined) throw new Error('two nodes');
  await expect.poll(() => [here.mirror.nodes(), there.mirror.nodes()]).toEqual([['there'], ['here']]);

  const sent: LiveUpdate[] = [];
  // What tells of the connection is lost on its way.
  buses.lose(1);
  there.live.join({
    caller: agent,
    how: 'test',
    since: START,
    registered: false,
    listening: true,
    full: false,
    send: (update) => sent.push(update),
    offer: (update) => sent.push(update),
    confirm: (received) => received(),
    replaced: () => {},
    deliver: () => true,
    fellBehind: () => {},
    dropped: () => {},
    drained: () => Promise.resolve(true),
  });
  await new Promise((resolve) => setImmediate(resolve));
  void here.live.status(boss, 'how', 'lost');
  await vi.waitFor(() => expect(sent.map(({ type }) => type)).toContain('status_request'), 2_000);
  here.live.close();
  there.live.close();
});
