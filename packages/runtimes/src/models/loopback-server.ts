import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A listening server on this machine alone; `close` also drops open streams. */
export interface LoopbackServer {
  url: string;
  port: number;
  close(): Promise<void>;
}

/** Listens on a free port of 127.0.0.1 and hands over each request with its whole body. */
export async function openLoopbackServer(
  answer: (request: IncomingMessage, body: string, response: ServerResponse) => Promise<void>,
): Promise<LoopbackServer> {
  const server = createServer((request, response) => {
    void readBody(request)
      .then((body) => answer(request, body, response))
      .catch((error: unknown) => sendJson(response, 500, { error: { message: String(error) } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // It listens at a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Answers with a JSON body, or ends a stream that has already begun. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  if (!response.headersSent) response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Begins a server-sent event stream and returns how to write one event to it. */
export function beginEvents(response: ServerResponse): (type: string, data: Record<string, unknown>) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  return (type, data) => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  // Without an encoding its pieces are bytes.
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
