import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Knows the connections on which nothing is under way. */
export interface Connections {
  /** A request has come in: from now on Node itself knows when the connection is idle. */
  begin(socket: Socket): void;
  /** Hangs up where nothing is under way. */
  closeIdle(): void;
}

/** Watches for connections that have not sent a request yet, which Node takes for busy. */
export function watchConnections(server: Server, secure: boolean): Connections {
  const fresh = new Set<Socket>();
  server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
    fresh.add(socket);
    socket.once('close', () => fresh.delete(socket));
  });
  return {
    begin(socket) {
      fresh.delete(socket);
    },
    closeIdle() {
      for (const socket of fresh) socket.destroySoon();
      server.closeIdleConnections();
    },
  };
}
