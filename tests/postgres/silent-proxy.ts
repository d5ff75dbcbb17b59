import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Stands between a hub and its database, and can swallow every byte without closing anything, as a cut link does. */
export interface SilentProxy {
  port: number;
  silence(isSilent: boolean): void;
  close(): Promise<void>;
}

/** Opens a proxy to a port of this machine; it falls silent by itself once a client has sent so many bytes. */
export async function openSilentProxy(target: number, most = Infinity): Promise<SilentProxy> {
  let isSilent = false;
  let sent = 0;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => {
        if (from === client && (sent += chunk.length) > most) isSilent = true;
        if (!isSilent) to.write(chunk);
      });
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        if (!isSilent) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    silence(now) {
      isSilent = now;
      // What was swallowed never comes: those connections are of no use any more.
      if (!now) for (const socket of sockets) socket.destroy();
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
