import { errorText } from '@parley/protocol';
import { connect, type NatsConnection } from '@nats-io/transport-node';

import type { OpenWire } from './wire.ts';

export interface NatsOptions {
  /** Where the servers are: `nats://…`, several with commas between. */
  url: string;
  /** Nodes of one hub share it; others on the same server have another. */
  space: string;
}

const RETRY_MS = 1_000;
const CONNECT_MS = 2_000;
/** A server that says nothing for three of these is gone. */
const PING_MS = 2_000;
/** What every NATS server takes unless it was told to take less. */
const MAX_BYTES = 1_000_000;

/** NATS core: a subject for all nodes, and one for each. */
export function openNatsWire({ url, space }: NatsOptions): OpenWire {
  return (node, events) => {
    let connection: NatsConnection | undefined;
    let isShut = false;
    const closing = new AbortController();
    const all = `parley.${space}.all`;
    const one = (name: string): string => `parley.${space}.node.${name}`;

    function shut(reason: string): void {
      if (!isShut) events.onShut(reason);
      isShut = true;
    }

    function open(): void {
      isShut = false;
      events.onOpen();
    }

    async function begin(): Promise<void> {
      while (!closing.signal.aborted) {
        try {
          connection = await connect(natsOptions(url, node));
          break;
        } catch (error) {
          shut(`NATS: ${errorText(error)}`);
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
        }
      }
      if (connection === undefined) return;
      if (closing.signal.aborted) return connection.close();
      for (const subject of [all, one(node)])
        connection.subscribe(subject, {
          callback: (error, message) => {
            if (error === null) events.onBytes(Buffer.from(message.data));
          },
        });
      open();
      await follow(connection, shut, open);
    }

    const running = begin();
    return {
      how: 'nats',
      get maxBytes() {
        return Math.min(MAX_BYTES, connection?.info?.max_payload ?? MAX_BYTES);
      },
      send(to, bytes) {
        if (isShut || connection === undefined || connection.isClosed()) return;
        connection.publish(to === undefined ? all : one(to), bytes);
      },
      async close() {
        closing.abort();
        await connection?.flush().catch(() => {});
        await connection?.close();
        await (connection === undefined ? undefined : running);
      },
    };
  };
}

async function follow(
  connection: NatsConnection,
  shut: (reason: string) => void,
  open: () => void,
): Promise<void> {
  for await (const { type } of connection.status()) {
    if (type === 'disconnect') shut('NATS: the connection was lost');
    if (type === 'reconnect') open();
  }
}

/** How every connection to NATS is made: it comes back by itself, and one that is silent is given up. */
export function natsOptions(url: string, node: string) {
  return {
    servers: url.split(',').map((one) => one.trim()),
    name: `parley ${node}`,
    timeout: CONNECT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 100,
    pingInterval: PING_MS,
    maxPingOut: 2,
    noEcho: true,
    ignoreClusterUpdates: true,
  };
}
