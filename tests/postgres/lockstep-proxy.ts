import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands between a hub and its database and lets both speak in turns, so that round trips can be counted. */
export interface LockstepProxy {
  port: number;
  /** How many times the hub has waited for the database since this was asked last. */
  take(): number;
  close(): Promise<void>;
}

/** What goes on by itself, whoever calls, is let through uncounted. */
const UPKEEP = /pg_is_in_recovery/;
/** When nothing more has come for so many turns of the loop, all that was to be sent is here. */
const QUIET_TURNS = 40;
const [SYNC, QUERY, READY] = ['S', 'Q', 'Z'].map((letter) => letter.charCodeAt(0));
/** The first message of a connection has no letter, only its length. */
const FIRST = -1;

/** Cuts a stream into the messages of PostgreSQL's protocol. */
function createCutter(hasFirst: boolean) {
  let rest = Buffer.alloc(0);
  let isFirst = hasFirst;
  return (chunk: Buffer): { type: number; bytes: Buffer }[] => {
    rest = Buffer.concat([rest, chunk]);
    const found: { type: number; bytes: Buffer }[] = [];
    for (;;) {
      const head = isFirst ? 0 : 1;
      if (rest.length < head + 4) return found;
      const length = head + rest.readUInt32BE(head);
      if (rest.length < length) return found;
      found.push({ type: isFirst ? FIRST : (rest[0] ?? 0), bytes: rest.subarray(0, length) });
      rest = rest.subarray(length);
      isFirst = false;
    }
  };
}

interface Way {
  client: Socket;
  upstream: Socket;
  isOpen: boolean;
  asked: Buffer[];
  answered: Buffer[];
}

/**
 * Opens a proxy to a port of this machine. What the hub sends is held until it has no more to send, then goes out
 * together: one round trip, over however many connections. The answers are held until all are there. So the count is
 * that of the longest chain of questions which wait for each other, whatever the speed of the machine.
 */
export async function openLockstepProxy(target: number): Promise<LockstepProxy> {
  const ways = new Set<Way>();
  let rounds = 0;
  let outstanding = 0;
  let news = 0;
  let isWaiting = false;

  function sendWhenQuiet(): void {
    news++;
    if (isWaiting) return;
    isWaiting = true;
    let seen = news;
    let quiet = 0;
    const look = (): void => {
      quiet = news === seen ? quiet + 1 : 0;
      seen = news;
      if (quiet < QUIET_TURNS) return void setImmediate(look);
      isWaiting = false;
      if (outstanding === 0) send();
    };
    setImmediate(look);
  }

  function send(): void {
    const speaking = [...ways].filter(({ asked }) => asked.length > 0);
    if (speaking.length === 0) return;
    if (!speaking.every(({ asked }) => UPKEEP.test(Buffer.concat(asked).toString('latin1')))) rounds++;
    for (const way of speaking) {
      const { upstream, asked } = way;
      outstanding += asked.filter((one) => one[0] === SYNC || one[0] === QUERY).length;
      upstream.write(Buffer.concat(asked));
      way.asked = [];
    }
  }

  function answer(): void {
    for (const way of ways) {
      if (way.answered.length > 0) way.client.write(Buffer.concat(way.answered));
      way.answered = [];
    }
  }

  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    const way: Way = { client, upstream, isOpen: false, asked: [], answered: [] };
    ways.add(way);
    const [fromClient, fromServer] = [createCutter(true), createCutter(false)];
    client.on('data', (chunk: Buffer) => {
      for (const { bytes } of fromClient(chunk))
        if (way.isOpen) way.asked.push(bytes);
        else upstream.write(bytes);
      if (way.asked.length > 0) sendWhenQuiet();
    });
    upstream.on('data', (chunk: Buffer) => {
      for (const { type, bytes } of fromServer(chunk)) {
        if (!way.isOpen) {
          client.write(bytes);
          way.isOpen = type === READY;
          continue;
        }
        way.answered.push(bytes);
        if (type === READY) outstanding--;
      }
      if (outstanding > 0) return;
      answer();
      sendWhenQuiet();
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.setNoDelay();
      one.on('error', () => {});
      one.on('close', () => {
        ways.delete(way);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    take() {
      const count = rounds;
      rounds = 0;
      return count;
    },
    close: () =>
      new Promise((resolve) => {
        for (const { client, upstream } of ways) for (const one of [client, upstream]) one.destroy();
        server.close(() => resolve());
      }),
  };
}
