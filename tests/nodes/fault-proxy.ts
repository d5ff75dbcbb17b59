import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands between a hub and a server, and breaks what is between them. */
export interface FaultProxy {
  port: number;
  /** Nothing goes through, and nobody is told, until it is healed. */
  cut(is: boolean): void;
  /** Ends the next connection right after this word was sent to the server. */
  cutAfter(word: string): void;
  /** Ends every connection that asks for anything in which none of these words stands, until it is called without any. */
  onlyAbout(...words: string[]): void;
  /** How often it was cut after a word. */
  readonly cuts: number;
  close(): void;
}

/** Opens a proxy on loopback. */
export async function openFaultProxy(target: number): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  let isCut = false;
  let word: Buffer | undefined;
  let about: Buffer[] = [];
  let cuts = 0;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    const both = [client, upstream];
    for (const socket of both) {
      sockets.add(socket);
      socket.setNoDelay();
      if (isCut) socket.pause();
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        for (const one of both) one.destroy();
      });
    }
    client.on('data', (chunk: Buffer) => {
      if (about.length > 0 && isQuestion(chunk) && !about.some((one) => chunk.includes(one))) {
        client.destroy();
        return;
      }
      upstream.write(chunk);
      if (word === undefined || !chunk.includes(word)) return;
      word = undefined;
      cuts++;
      // It has arrived there; its answer will not arrive here.
      client.destroy();
      setTimeout(() => upstream.destroy(), 50);
    });
    upstream.on('data', (chunk: Buffer) => client.write(chunk));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    cut(is) {
      isCut = is;
      for (const socket of sockets)
        if (is) socket.pause();
        else socket.resume();
    },
    onlyAbout: (...words) => void (about = words.map((one) => Buffer.from(one))),
    cutAfter: (text) => void (word = Buffer.from(text)),
    get cuts() {
      return cuts;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** A statement of PostgreSQL's protocol, prepared or plain; what opens and closes a connection is none. */
function isQuestion(chunk: Buffer): boolean {
  return chunk[0] === 0x50 || chunk[0] === 0x51;
}
