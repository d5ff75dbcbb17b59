import { requireCommander } from '@parley/core';
import { Name, ParleyError } from '@parley/protocol';
import { WebSocketServer } from 'ws';

import { HttpRefusal } from '../../exchange.ts';
import type { Face } from '../../server.ts';
import type { TerminalFaceOptions } from './options.ts';
import { openViewer, type Viewer } from './viewer.ts';

const PATH = /^\/v1\/agents\/([^/]+)\/terminal$/;
/** Nothing that a viewer says is longer. */
const MOST_BYTES = 32_768;
/** How long viewers have to take leave when the hub stops. */
const CLOSING_MS = 500;

/** `/v1/agents/<agent>/terminal`: a WebSocket for one who looks at the terminal of an agent, and may take it over. */
export function createTerminalFace(options: TerminalFaceOptions): Face {
  const { authenticate, streams } = options;
  const viewers = new Set<Viewer>();
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MOST_BYTES,
  });

  return {
    claims: (path) => PATH.test(path),
    async handle() {
      throw new HttpRefusal(426, 'VALIDATION_ERROR', 'this is a WebSocket: ask for an upgrade', {
        upgrade: 'websocket',
        connection: 'close, upgrade',
      });
    },
    async upgrade({ request, socket, rest, path, query }) {
      const claims = await authenticate(request);
      requireCommander(claims);
      const target = targetOf(path, query);
      const leave = streams.hold(claims);
      socket.once('close', leave);
      server.handleUpgrade(request, socket, rest, (ws) => {
        const viewer = openViewer(ws, { request, claims, target }, options);
        viewers.add(viewer);
        ws.on('close', () => viewers.delete(viewer));
      });
    },
    async close() {
      for (const viewer of viewers) viewer.close(1001, 'the hub is stopping');
      for (let waited = 0; viewers.size > 0 && waited < CLOSING_MS; waited += 10)
        await new Promise((resolve) => setTimeout(resolve, 10));
      for (const viewer of viewers) viewer.terminate();
    },
  };
}

function targetOf(path: string, query: string): { of_agent: string; of_session?: string } {
  const session = new URLSearchParams(query).get('session');
  let of_agent: string;
  try {
    of_agent = Name.parse(decodeURIComponent(PATH.exec(path)?.[1] ?? ''));
    return session === null ? { of_agent } : { of_agent, of_session: Name.parse(session) };
  } catch {
    throw new ParleyError('VALIDATION_ERROR', 'this is the name of no agent, or of no session');
  }
}
