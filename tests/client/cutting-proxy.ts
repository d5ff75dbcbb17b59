import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface CuttingProxy {
  url: string;
  /** How many answers were swallowed. */
  cuts: number;
  close(): void;
}

/** Carries every request to the hub, and cuts the connection before the answer of those that `cutNext` picks. */
export async function openCuttingProxy(target: string, cutNext: () => boolean): Promise<CuttingProxy> {
  const { hostname, port, host } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => {});
    }
    // The hub answers only to its own name.
    const addressed = (chunk: Buffer): string =>
      chunk.toString('latin1').replace(/^host: .*$/im, `host: ${host}`);
    client.on('data', (chunk: Buffer) => upstream.write(addressed(chunk), 'latin1'));
    upstream.on('data', (chunk) => {
      if (!cutNext()) {
        client.write(chunk);
        return;
      }
      proxy.cuts++;
      client.destroy();
      upstream.destroy();
    });
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: CuttingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: 0,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
  return proxy;
}
