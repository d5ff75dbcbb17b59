import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { WebSocketServer } from 'ws';

/** The reference: `ws` alone that sends whatever is posted to it to everyone. */
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.end('{}');
    const frame = Buffer.concat(chunks);
    for (const client of sockets.clients) client.send(frame, { binary: false });
  });
});
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
