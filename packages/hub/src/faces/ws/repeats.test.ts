import type { Caller, LiveMessage } from '@parley/protocol';
import { expect, test } from 'vitest';

import { createRepeats, type RepeatNodes, type Repeats } from './repeats.ts';

const CALLER: Caller = { workspace_id: 'w', agent_id: 'a', session_id: 's', role: 'worker' };
const MESSAGE: LiveMessage<'error'> = {
  id: '8d7f1d0c-6c0e-4b57-9a54-3f0f0d7f2a11',
  type: 'error',
  source: 'a',
  target: 'b',
  timestamp: '2030-01-01T00:00:00.000Z',
  payload: { code: 'TASK_TIMEOUT', message: 'once', recoverable: true },
};

type Handler = Parameters<RepeatNodes['calls']['answer']>[1];

/** Nodes between which every word takes as long as chance will have it. */
function world(names: string[], random: () => number) {
  const handlers = new Map<string, Map<string, Handler>>();
  const pending: (() => void)[] = [];
  const later = (): Promise<void> => new Promise((resolve) => pending.push(resolve));
  const callsOf = (own: string): RepeatNodes['calls'] => {
    const ask = async (node: string, subject: string, body: unknown): Promise<unknown> => {
      await later();
      const about = { from: own, signal: new AbortController().signal };
      const answer = await handlers.get(node)?.get(subject)?.(body, about);
      await later();
      return answer;
    };
    return {
      ask,
      askAll: (subject, body) =>
        Promise.all(
          names
            .filter((node) => node !== own && handlers.has(node))
            .map(async (node) => ({ node, answer: await ask(node, subject, body) })),
        ),
      answer: (subject, handler) => void handlers.get(own)?.set(subject, handler),
    };
  };
  const nodes = names.map((own): [string, Repeats] => {
    handlers.set(own, new Map());
    return [own, createRepeats({ own, calls: callsOf(own) })];
  });
  return {
    nodes,
    later,
    callsOf,
    lose: (node: string) => handlers.delete(node),
    /** Lets one thing after the other happen until nothing is left to happen. */
    run: async (): Promise<void> => {
      for (;;) {
        await new Promise(setImmediate);
        const [next] = pending.splice(Math.floor(random() * pending.length), 1);
        if (next === undefined) return;
        next();
      }
    },
  };
}

/** Chance that is the same each time (mulberry32). */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What becomes of a message that is told to all nodes, in whatever order things go; the first `fails` acts fail. */
async function tellAll(seed: number, fails = 0) {
  const { nodes, later, lose, callsOf, run } = world(['n1', 'n2', 'n3', 'n4'], chance(seed));
  const acts: string[] = [];
  const ended: string[] = [];
  for (const [name, repeats] of nodes)
    void later()
      .then(() =>
        repeats.once(CALLER, MESSAGE, async () => {
          acts.push(name);
          const isBad = acts.length <= fails;
          await later();
          if (isBad) throw new Error('refused');
        }),
      )
      .then(
        () => ended.push('done'),
        () => ended.push('refused'),
      );
  await run();
  return { acts, ended: ended.toSorted(), lose, callsOf, run };
}

test('[LIVE-7] [LIVE-8] what is told to several nodes in the same moment happens once, in whatever order they hear of each other', async () => {
  for (let seed = 1; seed <= 400; seed++) {
    const { acts, ended, lose, callsOf, run } = await tellAll(seed);
    expect(acts, `seed ${seed}`).toHaveLength(1);
    expect(ended, `seed ${seed}`).toEqual(['done', 'done', 'done', 'done']);
    // Those that had left it to another know that it is done, also when that one is gone.
    lose(acts[0] ?? '');
    const own = { own: 'n5', calls: callsOf('n5') };
    void createRepeats(own).once(CALLER, MESSAGE, async () => void acts.push('again'));
    await run();
    expect(acts, `seed ${seed}`).toHaveLength(1);
  }
});

test('[LIVE-7] [LIVE-8] what was refused at one node is tried at one of those that wait, and at no other', async () => {
  for (let seed = 1; seed <= 200; seed++) {
    const { acts, ended } = await tellAll(seed, 1);
    expect(acts, `seed ${seed}`).toHaveLength(2);
    expect(ended, `seed ${seed}`).toEqual(['done', 'done', 'done', 'refused']);
  }
});

test('[LIVE-7] [LIVE-8] another message under the same id is refused wherever it comes', async () => {
  const { nodes, run } = world(['n1', 'n2'], chance(1));
  const acts: string[] = [];
  const refused: unknown[] = [];
  const tell = async (node: number, target: string): Promise<void> => {
    void (async () =>
      nodes[node]?.[1].once(CALLER, { ...MESSAGE, target }, async () => void acts.push(target)))().catch(
      (error: unknown) => refused.push(error),
    );
    await run();
  };
  await tell(0, 'b');
  await tell(1, 'c');
  await tell(0, 'c');
  expect(refused).toEqual(Array(2).fill(expect.objectContaining({ code: 'INVALID_COMMAND' })));
  await tell(1, 'b');
  expect([acts, refused.length]).toEqual([['b'], 2]);
});
