import type { Caller } from '@parley/protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { openMemoryStore } from '../store-memory.ts';
import { createOffers } from './offers.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const clock = { now: () => NOW, monotonic: () => 0, trusted: () => NOW };
const chance = { bytes: () => new Uint8Array(16), below: () => 0 };
const caller: Caller = { agent_id: 'bob', workspace_id: 'w', role: 'worker', session_id: 's' };
const open = (store = openMemoryStore()) => {
  const offers = createOffers(store, clock, chance, (error) => {
    throw error;
  });
  return { store, offers };
};

test('an offer is known at once and after a restart, one row per thread, agent and way', async () => {
  const { store, offers } = open();
  for (let seq = 1; seq <= 9; seq++) offers.note(caller, 't', seq, 'sse');
  offers.note(caller, 't', 4, 'read', 1);
  offers.note(caller, 't2', 4, 'read', 1);
  offers.note({ ...caller, workspace_id: 'elsewhere' }, 't', 4, 'read', 1);
  const at = new Date(NOW).toISOString();
  const known = [
    { thread_id: 't', agent_id: 'bob', how: 'read', first: 1, seq: 4, at },
    { thread_id: 't', agent_id: 'bob', how: 'sse', first: 1, seq: 9, at },
  ];
  const byWay = async (offersOf: typeof offers) =>
    (await offersOf.of('w', 't')).toSorted((a, b) => (a.how < b.how ? -1 : 1));
  expect(await byWay(offers)).toEqual(known);
  await offers.flush();
  expect(await byWay(offers)).toEqual(known);
  const { offers: again } = open(store);
  expect(await byWay(again)).toEqual(known);
  expect(await again.reached('w', 't', 'bob')).toBe(9);
  expect(await again.reached('w', 't', 'bo')).toBe(0);
  again.note(caller, 't', 2, 'sse', 1);
  await again.flush();
  expect(await byWay(again)).toEqual(known);
});

test('what another node handed out counts before it has written it, joined with what is known here, and for that workspace alone', async () => {
  const { offers } = open();
  offers.note(caller, 't', 3, 'read', 1);
  const at = new Date(NOW).toISOString();
  const run = { thread_id: 't', agent_id: 'bob', how: 'read', at };
  offers.heard('w', { ...run, first: 4, seq: 6 });
  expect(await offers.reached('w', 't', 'bob')).toBe(6);
  expect(await offers.of('w', 't')).toEqual([{ ...run, first: 1, seq: 6 }]);
  expect(await offers.reached('elsewhere', 't', 'bob')).toBe(0);
  expect(await offers.reached('w', 't', 'bo')).toBe(0);
});

test('a notice that a thread has grown is not the reading of it', async () => {
  const { offers } = open();
  offers.note(caller, 't', 7, 'mcp', 1);
  expect(await offers.reached('w', 't', 'bob')).toBe(0);
  expect(await offers.of('w', 't', 'bob')).toHaveLength(1);
});

test('whatever is handed out in whatever order, nothing else is claimed, and the latest is not forgotten', async () => {
  const run = fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 0, max: 8 }));
  const step = fc.oneof(run, fc.constantFrom('flush' as const, 'restart' as const));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const { store, offers: first } = open();
      let offers = first;
      const given = new Set<number>();
      for (const one of steps) {
        if (one === 'flush') await offers.flush();
        else if (one === 'restart') {
          await offers.flush();
          ({ offers } = open(store));
        } else {
          const [from, more] = one;
          for (let seq = from; seq <= from + more; seq++) given.add(seq);
          offers.note(caller, 't', from + more, 'read', from);
        }
      }
      const [offer, ...others] = await offers.of('w', 't');
      expect(others).toEqual([]);
      expect(offer?.seq ?? 0).toBe(Math.max(0, ...given));
      for (let seq = offer?.first ?? 1; seq <= (offer?.seq ?? 0); seq++) expect(given).toContain(seq);
    }),
  );
});

test('more than one batch is written', async () => {
  const { store, offers } = open();
  for (let i = 0; i < 1_201; i++) offers.note({ ...caller, agent_id: `agent${i}` }, 't', 1, 'ws');
  await offers.flush();
  expect(await store.records({ kind: 'offer', workspace_id: 'w', limit: 5_000 })).toHaveLength(1_201);
});
