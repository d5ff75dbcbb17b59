import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Knows which connections have a call under way; Node itself takes one that never sent a request for busy. */
export interface Connections {
  /** Counts a call for as long as its answer is not out. */
  begin(socket: Socket, response: ServerResponse): void;
  /** Hangs up where nothing is under way. */
  closeIdle(): void;
}

/** Watches a server's connections from their first moment. */
export function watchConnections(server: Server, secure: boolean): Connections {
  const callsBySocket = new Map<Socket, number>();
  server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
    callsBySocket.set(socket, 0);
    socket.once('close', () => callsBySocket.delete(socket));
  });
  const count = (socket: Socket, change: number): void => {
    const calls = callsBySocket.get(socket);
    if (calls !== undefined) callsBySocket.set(socket, calls + change);
  };
  return {
    begin(socket, response) {
      count(socket, 1);
      response.once('close', () => count(socket, -1));
    },
    closeIdle() {
      for (const [socket, calls] of callsBySocket) if (calls === 0) socket.destroySoon();
    },
  };
}
