import type { Clock } from '../clock.ts';
import type { Bus } from './bus.ts';

/** Something that each node knows of itself and the others keep a copy of. */
export interface MirrorPart {
  /** All there is to know here, as the updates that would tell it. */
  snapshot(): unknown[];
  /** Another node has told something. */
  apply(node: string, update: unknown): void;
  /** Nothing that this node has told counts any more: it is gone, or will tell everything anew. */
  forget(node: string): void;
}

/** What the nodes tell of themselves: each has a copy of what the others know, some milliseconds old. */
export interface Mirror {
  /** The other nodes that are there. */
  nodes(): string[];
  /** From now on this is mirrored too: the others are told of it, and asked for theirs. */
  add(name: string, part: MirrorPart): void;
  /** Tells the other nodes; `update` is what `snapshot` would give of it. */
  tell(name: string, update: unknown): void;
  /** The others know what was told so far, or did not say so within a moment. */
  settled(): Promise<void>;
  /** Hears of nodes that are gone. */
  onGone(listener: (node: string) => void): void;
  close(): void;
}

export interface MirrorDeps {
  bus: Bus;
  clock: Pick<Clock, 'monotonic'>;
  onFault: (error: unknown) => void;
  beatMs?: number;
  silentMs?: number;
}

/** Each node is heard of so often, and one that is not for so long is gone. */
const BEAT_MS = 1_000;
const SILENT_MS = 5_000;
/** What was lost is asked for again so often. */
const ASK_MS = 300;
/** So long whoever must not be overtaken by its own words waits for the others to have heard them. */
const SETTLE_MS = 250;
/** So many updates go in one message. */
const MOST = 500;

const UPDATES = 'mirror.updates';
const STATE = 'mirror.state';
const HELLO = 'mirror.hello';
const BYE = 'mirror.bye';
const HEARD = 'mirror.heard';

interface MirroredUpdate {
  part: string;
  update: unknown;
}
interface Updates {
  /** The number of the last update after these. */
  last: number;
  updates: MirroredUpdate[];
  /** Somebody waits for the word that they were heard. */
  ask?: true;
}
interface State extends Updates {
  first: boolean;
  more: boolean;
}

interface Peer {
  /** Up to which update everything is known; undefined until its whole state was heard. */
  last: number | undefined;
  /** Up to which update of this node it says to know everything. */
  knows: number;
  heardAt: number;
  askedAt: number;
}

/**
 * Updates are numbered; whoever misses one asks for everything anew. A beat a second tells the number reached, so that a
 * last one that was lost is missed too.
 */
export function createMirror(deps: MirrorDeps): Mirror {
  const { bus, clock, onFault, beatMs = BEAT_MS, silentMs = SILENT_MS } = deps;
  const parts = new Map<string, MirrorPart>();
  const peers = new Map<string, Peer>();
  const onGone: ((node: string) => void)[] = [];
  let waiting: MirroredUpdate[] = [];
  let last = 0;
  let isPlanned = false;
  const settling = new Set<() => void>();

  function tell(part: string, update: unknown): void {
    waiting.push({ part, update });
    if (isPlanned) return;
    isPlanned = true;
    setImmediate(flush);
  }

  function flush(): void {
    isPlanned = false;
    while (waiting.length > 0) {
      const updates = waiting.splice(0, MOST);
      last += updates.length;
      bus.publish(UPDATES, { last, updates } satisfies Updates);
    }
  }

  function settled(): Promise<void> {
    flush();
    const wanted = last;
    const isKnown = (): boolean => [...peers.values()].every(({ knows }) => knows >= wanted);
    if (isKnown() || !bus.health().connected) return Promise.resolve();
    bus.publish(UPDATES, { last, updates: [], ask: true } satisfies Updates);
    return new Promise((resolve) => {
      const look = (): void => void (isKnown() && end());
      const timer = setTimeout(end, SETTLE_MS);
      settling.add(look);
      function end(): void {
        clearTimeout(timer);
        settling.delete(look);
        resolve();
      }
    });
  }

  function beat(): void {
    flush();
    bus.publish(UPDATES, { last, updates: [] } satisfies Updates);
    const now = clock.monotonic();
    for (const [node, { heardAt }] of peers) if (now - heardAt > silentMs) lose(node);
  }

  function lose(node: string): void {
    peers.delete(node);
    for (const part of parts.values()) guard(() => part.forget(node));
    for (const listener of onGone) guard(() => listener(node));
    for (const look of settling) look();
  }

  function guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      onFault(error);
    }
  }

  function heard(node: string): Peer {
    const peer = peers.get(node) ?? { last: undefined, knows: 0, heardAt: 0, askedAt: -Infinity };
    peers.set(node, peer);
    peer.heardAt = clock.monotonic();
    return peer;
  }

  function ask(node: string, peer: Peer): void {
    const now = clock.monotonic();
    if (now - peer.askedAt < ASK_MS) return;
    peer.askedAt = now;
    bus.send(node, HELLO, {});
  }

  function apply(node: string, updates: readonly MirroredUpdate[]): void {
    for (const { part, update } of updates) guard(() => parts.get(part)?.apply(node, update));
  }

  function answerHello(node: string): void {
    flush();
    const all: MirroredUpdate[] = [...parts].flatMap(([name, part]) =>
      part.snapshot().map((update) => ({ part: name, update })),
    );
    for (let at = 0; at === 0 || at < all.length; at += MOST) {
      const updates = all.slice(at, at + MOST);
      bus.send(node, STATE, { last, updates, first: at === 0, more: at + MOST < all.length } satisfies State);
    }
  }

  bus.subscribe(UPDATES, (body, from) => {
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    const { last: reached, updates, ask: isAsked } = body as Updates;
    const peer = heard(from);
    if (peer.last === undefined || peer.last !== reached - updates.length) {
      // What was told before is in the state that was heard already.
      if (peer.last === undefined || peer.last < reached) ask(from, peer);
      return;
    }
    peer.last = reached;
    apply(from, updates);
    if (isAsked === true) bus.send(from, HEARD, reached);
  });
  bus.subscribe(HEARD, (body, from) => {
    const peer = heard(from);
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    peer.knows = Math.max(peer.knows, body as number);
    for (const look of settling) look();
  });
  bus.subscribe(STATE, (body, from) => {
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    const { last: reached, updates, first, more } = body as State;
    const peer = heard(from);
    if (first) {
      peer.last = undefined;
      for (const part of parts.values()) guard(() => part.forget(from));
    }
    apply(from, updates);
    if (!more) peer.last = reached;
  });
  bus.subscribe(HELLO, (_body, from) => {
    const peer = heard(from);
    answerHello(from);
    if (peer.last === undefined) ask(from, peer);
  });
  bus.subscribe(BYE, (_body, from) => {
    if (peers.has(from)) lose(from);
  });
  bus.onConnected(() => bus.publish(HELLO, {}));

  const timer = setInterval(beat, beatMs).unref();
  return {
    nodes: () => [...peers.keys()],
    add(name, part) {
      parts.set(name, part);
      for (const update of part.snapshot()) tell(name, update);
      // What they told of it before went by.
      for (const [node, peer] of peers) {
        peer.last = undefined;
        ask(node, peer);
      }
    },
    tell,
    settled,
    onGone: (listener) => void onGone.push(listener),
    close() {
      clearInterval(timer);
      flush();
      bus.publish(BYE, {});
    },
  };
}
