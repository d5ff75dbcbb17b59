import { errorText } from '@parley/protocol';
import { Client } from 'pg';

import type { OpenWire } from './wire.ts';

export interface PostgresWireOptions {
  /** Where the database is: `postgres://…`. */
  url: string;
  /** Nodes of one hub share it. */
  space: string;
}

/** A notification holds 8,000 bytes of text; in base64 three bytes are four letters. */
const MAX_BYTES = 5_900;
const RETRY_MS = 500;
const CONNECT_MS = 5_000;
/** So many wait to be sent; what comes then is lost. */
const MOST_WAITING = 20_000;
const BATCH = 500;
/** A connection that was cut without a word is found out by this. */
const QUERY_MS = 5_000;
const LOOK_MS = 2_000;

/** LISTEN and NOTIFY: a channel for all nodes, and one for each. */
export function openPostgresWire({ url, space }: PostgresWireOptions): OpenWire {
  return (node, events) => {
    const all = `parley_${space}`;
    const one = (name: string): string => `parley_${space}_${name}`;
    let client: Client | undefined;
    const closing = new AbortController();
    let isTold = false;
    let waiting: { channel: string; text: string }[] = [];
    let sending: Promise<void> | undefined;

    function shut(reason: string): void {
      if (!isTold && !closing.signal.aborted) events.onShut(reason);
      isTold = true;
    }

    /** From one connection to its end; throws when it cannot be made. */
    async function connected(): Promise<void> {
      const own = new Client({
        connectionString: url,
        application_name: `parley bus ${node}`,
        connectionTimeoutMillis: CONNECT_MS,
        query_timeout: QUERY_MS,
        keepAlive: true,
      });
      const ended = new Promise<Error>((resolve) => {
        own.on('error', resolve);
        own.on('end', () => resolve(new Error('the connection was closed')));
      });
      own.on('notification', ({ payload = '' }) => events.onBytes(Buffer.from(payload, 'base64')));
      const look = setInterval(() => {
        own.query('SELECT 1').catch(() => void own.end().catch(() => {}));
      }, LOOK_MS).unref();
      try {
        await own.connect();
        await own.query(`LISTEN "${all}"; LISTEN "${one(node)}"`);
        client = own;
        isTold = false;
        events.onOpen();
        throw await ended;
      } finally {
        client = undefined;
        waiting = [];
        clearInterval(look);
        own.end().catch(() => {});
      }
    }

    async function begin(): Promise<void> {
      while (!closing.signal.aborted) {
        await connected().catch((error: unknown) => shut(`PostgreSQL: ${errorText(error)}`));
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    }

    /** What waits goes out in one statement; what comes meanwhile in the next. */
    async function flush(): Promise<void> {
      await Promise.resolve();
      while (waiting.length > 0) {
        const batch = waiting.splice(0, BATCH);
        const values = [batch.map(({ channel }) => channel), batch.map(({ text }) => text)];
        await client
          ?.query('SELECT pg_notify(u.c, u.t) FROM unnest($1::text[], $2::text[]) AS u (c, t)', values)
          .catch(() => {});
      }
      sending = undefined;
    }

    void begin();
    return {
      how: 'postgres',
      maxBytes: MAX_BYTES,
      send(to, bytes) {
        if (client === undefined || waiting.length >= MOST_WAITING) return;
        waiting.push({ channel: to === undefined ? all : one(to), text: bytes.toString('base64') });
        sending ??= flush();
      },
      async close() {
        await sending;
        closing.abort();
        await client?.end().catch(() => {});
      },
    };
  };
}
