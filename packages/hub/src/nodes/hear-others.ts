import type {
  AskKeeper,
  AskNews,
  DeliveryQueue,
  DueDelivery,
  MuteKeeper,
  Nodes,
  OwnedJob,
} from '@parley/core';

interface OthersDeps {
  asks: AskKeeper;
  mutes: MuteKeeper;
  deliveryQueue: DeliveryQueue;
  keepers: { asks: OwnedJob; mutes: OwnedJob };
  onFault: (error: unknown) => void;
}

const WAITS = 'waits';
/** So often it is looked for what others have said and nobody has heard. */
const AGAIN_MS = 5_000;

type Wait = { askId: string; by: number };

/** Brings what happens at one node to the one whose job it is: asks that are raised, waited for and settled, mutes, deliveries. */
export function hearOthers(nodes: Nodes, { asks, mutes, deliveryQueue, keepers, onFault }: OthersDeps) {
  const { bus, mirror } = nodes;
  // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
  bus.subscribe('ask', (ask) => asks.heard(ask as AskNews));
  bus.subscribe('mutes', () => {
    if (keepers.mutes.isOwned) mutes.look();
  });
  // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
  bus.subscribe('delivery', (due) => deliveryQueue.heard(due as DueDelivery));

  const own = new Map<number, string>();
  const endsByNode = new Map<string, Map<number, () => void>>();
  let count = 0;
  mirror.add(WAITS, {
    snapshot: () => [...own].map(([by, askId]): Wait => ({ by, askId })),
    apply(node, body) {
      // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
      const { by, askId } = body as Wait;
      const ends = endsByNode.get(node) ?? new Map<number, () => void>();
      endsByNode.set(node, ends);
      ends.get(by)?.();
      ends.delete(by);
      if (askId !== '') ends.set(by, asks.waits(askId));
    },
    forget(node) {
      for (const end of endsByNode.get(node)?.values() ?? []) end();
      endsByNode.delete(node);
    },
  });

  const timer = setInterval(() => {
    void deliveryQueue.lookAgain().catch(onFault);
    void asks.reload().catch(onFault);
    if (keepers.mutes.isOwned) mutes.look();
  }, AGAIN_MS).unref();

  void asks.reload().catch(onFault);
  const sharedAsks: AskKeeper = {
    ...asks,
    waits(askId) {
      const by = ++count;
      const end = asks.waits(askId);
      own.set(by, askId);
      mirror.tell(WAITS, { by, askId } satisfies Wait);
      return () => {
        end();
        own.delete(by);
        mirror.tell(WAITS, { by, askId: '' } satisfies Wait);
      };
    },
  };
  const sharedMutes: MuteKeeper = {
    ...mutes,
    look() {
      if (keepers.mutes.isOwned) mutes.look();
      else bus.publish('mutes', {});
    },
  };
  return { asks: sharedAsks, mutes: sharedMutes, close: () => clearInterval(timer) };
}
