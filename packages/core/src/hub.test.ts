import { type Caller, type OperationName, ParleyError } from '@parley/protocol';
import { expect, test } from 'vitest';

import type { CallRecord } from './gate.ts';
import { createHub } from './hub.ts';
import type { Ports } from './ports.ts';
import { createQuotas } from './quota.ts';
import { openSampleHub } from './sample-hub.ts';
import { openMemoryStore } from './store-memory.ts';

const ann: Caller = { agent_id: 'ann', workspace_id: 'w', role: 'operator', session_id: 's' };
const signal = new AbortController().signal;

/** A gate of which the test sees what is recorded, with so many places and searches for a caller. */
function openGate(limits: { open?: number; searches?: number } = {}) {
  const { deps } = openSampleHub(openMemoryStore(), { now: Date.parse('2030-01-01T00:00:00Z') });
  const plenty = { per_minute: 1e9, burst: 1e9 };
  const search = { per_minute: 1, burst: limits.searches ?? 1e9 };
  const { open = 1e9 } = limits;
  const quotas = createQuotas({ message: plenty, write: plenty, search, open }, deps.clock);
  const calls: CallRecord[] = [];
  const ports: Ports = { ...deps, quotas };
  const hub = createHub(ports, (call) => calls.push(call), { checkAnswers: true });
  const recorded = () =>
    calls.map(({ operation, later, error }) => [operation, later, error?.code ?? 'done'] as const);
  const read = (name: OperationName, input: object, key: string, seq: number) =>
    hub.call(ann, name, input, {
      request_id: 'r',
      signal,
      read_key: key,
      order: { context_id: 'c', seq },
    });
  return { hub, ports, recorded, read };
}

test('what is accepted for later is looked at, recorded and has a place like any other call', async () => {
  const { hub, recorded } = openGate({ open: 1 });
  const context = { request_id: 'r', signal };
  const taken: string[] = [];
  const accept = (name: OperationName, input: object, how = () => Promise.resolve({ delivery_id: 'd' })) =>
    hub.acceptForLater(ann, name, input, context, () => {
      taken.push(name);
      return how();
    });
  const thread = { title: 't', idempotency_key: 'k' };
  expect(await accept('create_thread', thread)).toEqual({ delivery_id: 'd' });
  expect(await accept('create_thread', { ...thread, odd: 1 })).toMatchObject({
    warnings: [expect.stringContaining('odd')],
  });
  await expect(accept('create_thread', { title: 7 })).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
  await expect(
    accept('create_thread', thread, () => Promise.reject(new ParleyError('RATE_LIMITED', 'full'))),
  ).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  let accepted: (said: { delivery_id: string }) => void = () => {};
  const first = accept('rename_thread', { thread_id: 'x', title: 't' }, () => {
    return new Promise((resolve) => (accepted = resolve));
  });
  await expect(accept('create_thread', thread)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  accepted({ delivery_id: 'e' });
  await first;
  expect(taken).toEqual(['create_thread', 'create_thread', 'create_thread', 'rename_thread']);
  expect(recorded()).toEqual([
    ['create_thread', true, 'done'],
    ['create_thread', true, 'done'],
    ['create_thread', true, 'VALIDATION_ERROR'],
    ['create_thread', true, 'RATE_LIMITED'],
    ['create_thread', true, 'RATE_LIMITED'],
    ['rename_thread', true, 'done'],
  ]);
});

test('a read under a key answers as it did, and each time it is recorded and counted', async () => {
  const { hub, recorded, read } = openGate({ searches: 2 });
  const before = await read('list_threads', {}, 'k', 1);
  await hub.call(ann, 'create_thread', { title: 't', idempotency_key: 'k' }, { request_id: 'r', signal });
  expect(await read('list_threads', {}, 'k', 2)).toEqual(before);
  expect(await read('list_threads', {}, 'other', 3)).not.toEqual(before);
  await expect(read('list_threads', { limit: 1 }, 'k', 4)).rejects.toMatchObject({
    code: 'IDEMPOTENCY_CONFLICT',
  });
  expect(await read('list_threads', {}, 'late', 1)).toEqual({ ignored: true, last_seq: 3 });
  await expect(read('list_threads', { limit: 'all' }, 'odd', 9)).rejects.toMatchObject({
    code: 'VALIDATION_ERROR',
  });
  // What was refused for its form has not used up its number.
  expect(await read('list_threads', {}, 'next', 5)).not.toHaveProperty('ignored');
  const found = { query: 'words' };
  for (let i = 0; i < 2; i++) await read('search_messages', found, 'search', 6);
  await expect(read('search_messages', found, 'search', 6)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  expect(recorded()).toEqual([
    ['list_threads', false, 'done'],
    ['create_thread', false, 'done'],
    ['list_threads', false, 'done'],
    ['list_threads', false, 'done'],
    ['list_threads', false, 'IDEMPOTENCY_CONFLICT'],
    ['list_threads', false, 'done'],
    ['list_threads', false, 'VALIDATION_ERROR'],
    ['list_threads', false, 'done'],
    ['search_messages', false, 'done'],
    ['search_messages', false, 'done'],
    ['search_messages', false, 'RATE_LIMITED'],
  ]);
});
