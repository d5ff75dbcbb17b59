import { createMirror, createNodeCalls, type Bus } from '@parley/core';
import { openBus, openNatsWire, openPostgresWire } from '@parley/bus';
import { ParleyError } from '@parley/protocol';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { type NatsServer, startNats } from '../harness/start-nats.ts';
import { type PostgresServer, startPostgres } from '../harness/start-postgres.ts';
import { describeWith } from '../tools/describe-with.ts';

const onFault = (error: unknown): void => {
  throw error;
};

describeWith(['postgres', 'nats-server'], 'the bus between nodes', () => {
  let postgres: PostgresServer;
  let nats: NatsServer;
  beforeAll(async () => {
    [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
  }, 60_000);
  afterAll(async () => {
    await Promise.all([postgres.close(), nats.kill()]);
  });

  const wires = {
    nats: (space: string) => openNatsWire({ url: nats.url, space }),
    postgres: (space: string) => openPostgresWire({ url: postgres.url, space }),
  };

  function open(how: keyof typeof wires, space: string, node: string, secret = 'shared') {
    const news: string[] = [];
    const bus = openBus({
      node,
      secret,
      open: wires[how](space),
      onShut: (reason) => news.push(reason),
      onOpen: () => news.push('open'),
      onFault,
    });
    onTestFinished(() => bus.close());
    return { bus, news };
  }

  function listen(bus: Bus, subject: string): unknown[] {
    const heard: unknown[] = [];
    bus.subscribe(subject, (body, from) => heard.push([from, body]));
    return heard;
  }

  async function connected(...buses: Bus[]): Promise<void> {
    for (const bus of buses) await expect.poll(() => bus.health().connected, { timeout: 10_000 }).toBe(true);
  }

  describe.each(['nats', 'postgres'] as const)('over %s', (how) => {
    const server = () => (how === 'nats' ? nats : postgres);

    test('what one publishes all others hear in order, what it sends one alone, and nobody itself', async () => {
      const { bus: a } = open(how, 'one', 'a');
      const { bus: b } = open(how, 'one', 'b');
      const { bus: c } = open(how, 'one', 'c');
      await connected(a, b, c);
      const [own, other, third] = [a, b, c].map((bus) => listen(bus, 'word'));
      for (let i = 0; i < 200; i++) a.publish('word', i);
      a.send('c', 'word', 'for c');
      await expect.poll(() => third?.length).toBe(201);
      await expect.poll(() => other?.length).toBe(200);
      expect(other).toEqual(Array.from({ length: 200 }, (_, i) => ['a', i]));
      expect(own).toEqual([]);
    });

    test('what is longer than one message comes whole', async () => {
      const { bus: a } = open(how, 'long', 'a');
      const { bus: b } = open(how, 'long', 'b');
      await connected(a, b);
      const heard = listen(b, 'long');
      const text = 'Ünïcode '.repeat(400_000);
      a.publish('long', { text });
      a.publish('long', 'after it');
      await expect.poll(() => heard.length, { timeout: 10_000 }).toBe(2);
      expect(heard[0]).toEqual(['a', { text }]);
    });

    test('[R12] whoever does not know the secret of the hub is not heard, and hears nothing', async () => {
      const { bus: a } = open(how, 'wall', 'a');
      const { bus: b } = open(how, 'wall', 'b');
      const { bus: stranger } = open(how, 'wall', 'c', 'another');
      await connected(a, b, stranger);
      const [heard, overheard] = [listen(b, 'word'), listen(stranger, 'word')];
      stranger.publish('word', 'forged');
      stranger.send('b', 'word', 'forged');
      a.publish('word', 'true');
      await expect.poll(() => heard).toEqual([['a', 'true']]);
      expect(overheard).toEqual([]);
    });

    test('a server that goes away is told of once, and the bus heals by itself', async () => {
      const { bus: a, news } = open(how, 'heal', 'a');
      const { bus: b } = open(how, 'heal', 'b');
      await connected(a, b);
      const heard = listen(b, 'word');
      await server().kill();
      await expect.poll(() => a.health().connected, { timeout: 15_000 }).toBe(false);
      a.publish('word', 'into the void');
      await server().start();
      await connected(a, b);
      expect(news.filter((one) => one !== 'open')).toHaveLength(1);
      expect(news.filter((one) => one === 'open')).toHaveLength(2);
      a.publish('word', 'again');
      await expect.poll(() => heard).toEqual([['a', 'again']]);
    }, 40_000);

    test('a server that is away at the start is no reason to wait: the bus opens when it comes', async () => {
      await server().kill();
      const { bus: a, news } = open(how, 'late', 'a');
      await expect.poll(() => news.length, { timeout: 10_000 }).toBe(1);
      expect(a.health()).toMatchObject({ connected: false, how });
      await server().start();
      await connected(a);
    }, 40_000);

    test('questions are answered, refused, given up and cancelled', async () => {
      const [a, b] = ['a', 'b'].map((node) => open(how, 'calls', node).bus) as [Bus, Bus];
      const [atA, atB] = [a, b].map((bus) => {
        const mirror = createMirror({ bus, clock: performanceClock, onFault, beatMs: 100 });
        const calls = createNodeCalls({ bus, mirror, onFault });
        onTestFinished(() => mirror.close());
        return { mirror, calls };
      }) as [Node, Node];
      let cancelled = 0;
      atB.calls.answer('double', (body) => (body as number) * 2);
      atB.calls.answer('no', () => {
        throw new ParleyError('FORBIDDEN', 'not you', { why: 'x' });
      });
      atB.calls.answer('never', async (_body, { signal }) => {
        signal.addEventListener('abort', () => cancelled++);
        await new Promise(() => {});
      });
      await connected(a, b);
      await expect.poll(() => atA.mirror.nodes()).toEqual(['b']);
      expect(await atA.calls.ask('b', 'double', 21)).toBe(42);
      await expect(atA.calls.ask('b', 'no', {})).rejects.toMatchObject({
        code: 'FORBIDDEN',
        details: { why: 'x' },
      });
      await expect(atA.calls.ask('b', 'never', {}, { timeoutMs: 100 })).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      });
      const ending = new AbortController();
      const asked = atA.calls.ask('b', 'never', {}, { signal: ending.signal, timeoutMs: 20_000 });
      setTimeout(() => ending.abort(), 50);
      await expect(asked).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await expect.poll(() => cancelled).toBe(1);
      expect(await atA.calls.askAll('double', 4)).toEqual([{ node: 'b', answer: 8 }]);
      const pending = atA.calls.ask('b', 'never', {}, { timeoutMs: 20_000 });
      atB.mirror.close();
      await expect(pending).rejects.toThrow('the node is gone');
    });
  });
});

type Node = { mirror: ReturnType<typeof createMirror>; calls: ReturnType<typeof createNodeCalls> };
const performanceClock = { monotonic: () => performance.now() };
