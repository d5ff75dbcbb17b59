/** Carries each connection, byte by byte, to the next node that listens, from the address that it came from. */
import { connect, createServer } from 'node:net';
import { parentPort } from 'node:worker_threads';

const serversById = new Map();

parentPort.on('message', ({ id, port, addresses }) => {
  if (addresses === undefined) {
    serversById.get(id)?.close();
    serversById.delete(id);
    return;
  }
  let turn = 0;
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    // Until a node is found, whoever goes away is let go.
    client.on('error', () => client.destroy());
    carry(client, server.address()?.port ?? port, addresses, turn++, addresses.length);
  });
  serversById.set(id, server);
  server.once('error', (error) => parentPort.postMessage({ id, error: error.message }));
  server.listen(port, '127.0.0.1', 4_096, () => parentPort.postMessage({ id, port: server.address().port }));
});

function carry(client, port, addresses, turn, left) {
  if (left === 0 || client.destroyed) {
    client.destroy();
    return;
  }
  const host = addresses[turn % addresses.length];
  const localAddress = client.remoteAddress;
  const node = connect({ host, port, localAddress, allowHalfOpen: true, noDelay: true });
  const next = () => carry(client, port, addresses, turn + 1, left - 1);
  node.once('error', next);
  node.once('connect', () => {
    node.off('error', next);
    join(client, node);
    join(node, client);
  });
}

function join(from, to) {
  from.on('error', () => to.destroy());
  from.pipe(to);
  from.once('close', () => {
    // What was said to the end is still handed on; what was cut off is cut off there too.
    if (to.writableEnded && !to.writableFinished) to.once('finish', () => to.destroy());
    else to.destroy();
  });
}
