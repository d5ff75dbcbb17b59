import { expect, test } from 'vitest';

import { commandHead } from '../command-head.ts';
import { hubCaller } from '../hub-caller.ts';
import { openSampleHub } from '../sample-hub.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { Notice } from './notice.ts';
import { createOutbox } from './outbox.ts';

const NOW = Date.parse('2030-01-01T12:00:00Z');

/** What is due tomorrow, to a channel that does not answer until then. */
function dueTomorrow(n: number): Notice {
  return {
    notice_id: `n${n}`,
    workspace_id: 'w',
    channel_id: 'c',
    key: `k${String(n).padStart(6, '0')}`,
    kind: 'ask',
    title: 't',
    body: 'b',
    path: '/',
    tag: 't',
    urgency: 'normal',
    subject: {},
    created_at: new Date(NOW).toISOString(),
    due_at: new Date(NOW + 86_400_000).toISOString(),
    tries: 1,
    state: 'due',
  };
}

test('[R10] however many notices wait, the outbox starts and takes up more', async () => {
  const store = openMemoryStore();
  const { deps } = openSampleHub(store, { now: NOW });
  const most = 130_000;
  const notices = Array.from({ length: most }, (_, n) => dueTomorrow(n));
  await store.transact({
    type: 'make_notices',
    ...commandHead(deps, hubCaller('w')),
    notices,
    input: {},
  });
  const closing = new AbortController();
  const onFault = (error: unknown): never => {
    throw error as Error;
  };
  const outbox = createOutbox(
    { ...deps, settings: { retryMs: 1_000, giveUpMs: 60_000 }, onFault },
    closing.signal,
  );
  await outbox.start();
  await outbox.add([dueTomorrow(most)]);
  const last = { kind: 'notice', workspace_id: 'w', descending: true, limit: 1 } as const;
  expect(await store.records(last)).toEqual([dueTomorrow(most)]);
  closing.abort();
  await outbox.close();
}, 60_000);
