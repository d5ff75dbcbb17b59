import { hkdfSync } from 'node:crypto';

import type { DueDelivery, DueSignal, DueStream } from '@parley/core';
import { errorText, ParleyError } from '@parley/protocol';
import {
  AckPolicy,
  type ConsumerMessages,
  DiscardPolicy,
  jetstream,
  jetstreamManager,
  type JsMsg,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';

import { natsOptions } from './nats-wire.ts';
import { seal, unseal } from './sealed.ts';

export interface DueStreamOptions {
  url: string;
  space: string;
  /** The name of this node. */
  node: string;
  /** What only the nodes of this hub know. */
  secret: string;
  /** Why the queue does without the stream, told once until it is there again. */
  onShut: (reason: string) => void;
  onOpen: () => void;
}

/** What nobody says a word of for so long is brought again: its node may be dead. */
const ACK_WAIT_MS = 6_000;
/** After so many times the stream gives up; the delivery still stands in the store, and its owner looks for such. */
const MAX_DELIVER = 1_000;
/** A word that nobody wanted for so long is of no use: the store knows. */
const MAX_AGE_MS = 86_400_000;
const MAX_WORDS = 1_000_000;
const REQUEST_MS = 1_000;
const RETRY_MS = 1_000;
const CONSUMER = 'queue';
const nanos = (ms: number): number => ms * 1_000_000;

/** Due deliveries over a JetStream: a work queue in its files, one durable consumer for whichever node has the job. */
export function openNatsDueStream(options: DueStreamOptions): DueStream {
  const { url, space, node, secret, onShut, onOpen } = options;
  const key = Buffer.from(hkdfSync('sha256', secret, 'parley', 'the stream of due deliveries', 32));
  const name = `PARLEY_${space}`;
  const subject = `parley.${space}.due`;
  const closing = new AbortController();
  const inHand = new Set<JsMsg>();
  let connection: NatsConnection | undefined;
  let isReady = false;
  let isTold = false;
  let take: ((signal: DueSignal) => void) | undefined;
  let messages: ConsumerMessages | undefined;

  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());

  function shut(error: unknown): void {
    isReady = false;
    if (!isTold && !closing.signal.aborted) onShut(`JetStream: ${errorText(error)}`);
    isTold = true;
    // Whoever follows goes round again, and makes it anew where it is gone.
    messages?.stop();
  }

  /** Makes stream and consumer where they are not there: a server may have lost them. */
  async function prepare(): Promise<void> {
    connection ??= await connect(natsOptions(url, `${node} queue`));
    const manager = await jetstreamManager(connection, { timeout: REQUEST_MS });
    const config = {
      subjects: [subject],
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
      discard: DiscardPolicy.Old,
      max_age: nanos(MAX_AGE_MS),
      max_msgs: MAX_WORDS,
    };
    await manager.streams.info(name).catch(() => manager.streams.add({ name, ...config }));
    await manager.consumers.info(name, CONSUMER).catch(() =>
      manager.consumers.add(name, {
        durable_name: CONSUMER,
        ack_policy: AckPolicy.Explicit,
        ack_wait: nanos(ACK_WAIT_MS),
        max_deliver: MAX_DELIVER,
        // Whose turn it is among those that wait is for the owner to say.
        max_ack_pending: -1,
      }),
    );
    isReady = true;
    if (isTold) onOpen();
    isTold = false;
  }

  function bring(message: JsMsg): void {
    const plain = unseal(key, Buffer.from(message.data));
    // Nobody of this hub has said that.
    if (plain === undefined || take === undefined)
      return plain === undefined ? message.term() : message.nak();
    inHand.add(message);
    const end = (): boolean => inHand.delete(message);
    take({
      // The seal was right, so a node of this hub has written it.
      due: JSON.parse(plain.toString()) as DueDelivery,
      done: () => void (end() && message.ack()),
      again: (afterMs) => void (end() && message.nak(Math.max(0, Math.round(afterMs)))),
      busy: () => void (inHand.has(message) && message.working()),
    });
  }

  async function follow(own: NatsConnection): Promise<void> {
    const consumer = await jetstream(own, { timeout: REQUEST_MS }).consumers.get(name, CONSUMER);
    messages = await consumer.consume({ max_messages: 256, expires: 5_000, abort_on_missing_resource: true });
    for await (const message of messages) bring(message);
  }

  /** For as long as it is open: the stream is there, and is followed while somebody wants what it brings. */
  async function run(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        if (!isReady) await prepare();
        if (take !== undefined && connection !== undefined) await follow(connection);
      } catch (error) {
        shut(error);
      }
      await pause();
    }
  }

  function stop(): void {
    take = undefined;
    messages?.stop();
    messages = undefined;
    for (const message of inHand) message.nak();
    inHand.clear();
  }

  void run();
  return {
    async publish(due) {
      if (!isReady || connection === undefined || connection.isClosed())
        throw new ParleyError('UNAVAILABLE', 'the stream of due deliveries is not there');
      try {
        const words = seal(key, Buffer.from(JSON.stringify(due)));
        await jetstream(connection, { timeout: REQUEST_MS }).publish(subject, words);
      } catch (error) {
        shut(error);
        throw error;
      }
    },
    start(listener) {
      take = listener;
    },
    stop,
    async close() {
      stop();
      closing.abort();
      await connection?.flush().catch(() => {});
      await connection?.close();
    },
  };
}
