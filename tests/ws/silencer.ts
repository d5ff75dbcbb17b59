import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Silencer {
  url: string;
  /** From now on nothing passes in either direction, and nobody is told. */
  silence(): void;
  close(): void;
}

/** A wire that can be cut without a sound: to both ends the other is just silent. */
export async function openSilencer(target: string): Promise<Silencer> {
  const { hostname, port, host } = new URL(target);
  const sockets = new Set<Socket>();
  let silent = false;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let first = true;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    client.on('data', (chunk: Buffer) => {
      if (silent) return;
      // The hub answers only to its own name.
      const text = first ? chunk.toString('latin1').replace(/^host: .*$/im, `host: ${host}`) : undefined;
      first = false;
      upstream.write(text === undefined ? chunk : Buffer.from(text, 'latin1'));
    });
    upstream.on('data', (chunk) => silent || client.write(chunk));
    client.on('close', () => silent || upstream.destroy());
    upstream.on('close', () => silent || client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    silence() {
      silent = true;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
