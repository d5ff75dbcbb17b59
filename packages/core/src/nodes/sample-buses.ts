import type { Bus } from './bus.ts';

/** Buses of nodes in one process, for tests: what is said is heard a turn later, and can be lost. */
export function createSampleBuses() {
  const listeners = new Map<string, Map<string, ((body: unknown, from: string) => void)[]>>();
  const cut = new Set<string>();
  const shut = new Set<string>();
  let toLose = 0;

  function carry(from: string, to: string | undefined, subject: string, body: unknown): void {
    const text = JSON.stringify(body);
    if (cut.has(from)) return;
    if (toLose > 0 && text.includes('lost')) {
      toLose--;
      return;
    }
    setImmediate(() => {
      for (const [node, bySubject] of listeners)
        if (node !== from && !cut.has(node) && (to === undefined || to === node))
          for (const listener of bySubject.get(subject) ?? []) listener(JSON.parse(text), from);
    });
  }

  return {
    open(node: string): Bus {
      const own = new Map<string, ((body: unknown, from: string) => void)[]>();
      listeners.set(node, own);
      return {
        node,
        publish: (subject, body) => carry(node, undefined, subject, body),
        send: (to, subject, body) => carry(node, to, subject, body),
        subscribe: (subject, listener) => void own.set(subject, [...(own.get(subject) ?? []), listener]),
        onConnected: () => {},
        health: () =>
          shut.has(node)
            ? { connected: false, how: 'nats', reason: 'shut' }
            : { connected: true, how: 'nats' },
        close: async () => void listeners.delete(node),
      };
    },
    /** The next messages that speak of something lost are. */
    lose: (count: number) => void (toLose = count),
    /** A node that knows that it is cut off. */
    shut: (node: string, is: boolean) => void (is ? shut.add(node) : shut.delete(node)),
    cut: (node: string, is: boolean) => void (is ? cut.add(node) : cut.delete(node)),
  };
}
