import { request as requestPlain, type OutgoingHttpHeaders } from 'node:http';
import { request as requestSecure } from 'node:https';

import type { Nodes } from '@parley/core';

import { type Exchange, HttpRefusal, readBytes } from '../exchange.ts';

/** Carries a whole request to the node that can answer it, and the answer back as it comes: also one that never ends. */
export interface Tunnel {
  carry(exchange: Exchange, node: string, maxBytes: number): Promise<void>;
}

const REQUEST = 'http.request';
const THERE = 'http.there';
const PART = 'http.part';
/** One that was not heard of lately, as it has only begun or has much to do, is asked itself before it counts as gone. */
const THERE_MS = 1_000;
/** An answer ends by itself, or with its client. */
const LONGEST_MS = 24 * 3_600_000;

interface Carried {
  id: string;
  method: string;
  url: string;
  headers: OutgoingHttpHeaders;
  body: string;
}
type Part = { id: string; n: number } & (
  | { head: { status: number; headers: OutgoingHttpHeaders } }
  | { data: string }
);

/** What is about one connection and goes no further. */
const HOP = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'host', 'origin', 'content-length'];

/** Puts requests on the bus; at the other end they are made anew, to the node's own address, with the same token. */
export function createTunnel({ bus, calls, mirror }: Nodes, address: () => string): Tunnel {
  const open = new Map<string, (part: Part) => void>();
  let count = 0;

  bus.subscribe(PART, (body) => {
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    const part = body as Part;
    open.get(part.id)?.(part);
  });

  calls.answer(REQUEST, (body, { from, signal }) => {
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    const { id, method, url, headers, body: text } = body as Carried;
    const target = new URL(url, address());
    // It is this very process: its name may be one that its certificate does not bear.
    const options = { method, headers: { ...headers, host: target.host }, signal, rejectUnauthorized: false };
    let n = 0;
    const say = (part: { head: { status: number; headers: OutgoingHttpHeaders } } | { data: string }): void =>
      bus.send(from, PART, { id, n: n++, ...part });
    return new Promise<number>((resolve, reject) => {
      const request = (target.protocol === 'https:' ? requestSecure : requestPlain)(
        target,
        options,
        (answer) => {
          say({ head: { status: answer.statusCode ?? 502, headers: without(answer.headers) } });
          answer.on('data', (chunk: Buffer) => say({ data: chunk.toString('base64') }));
          answer.on('end', () => resolve(n));
          answer.on('error', reject);
        },
      );
      request.on('error', reject);
      request.end(Buffer.from(text, 'base64'));
    });
  });

  calls.answer(THERE, () => true);

  function isThere(node: string): Promise<boolean> {
    if (mirror.nodes().includes(node)) return Promise.resolve(true);
    return calls.ask(node, THERE, {}, { timeoutMs: THERE_MS }).then(
      () => true,
      () => false,
    );
  }

  return {
    async carry(exchange, node, maxBytes) {
      const { request, response } = exchange;
      const body = await readBytes(exchange, maxBytes);
      if (!(await isThere(node)))
        throw new HttpRefusal(404, 'NOT_FOUND', 'the node that held this is gone; begin anew');
      const id = `${bus.node} ${++count}`;
      const ending = new AbortController();
      response.once('close', () => ending.abort());
      if (response.closed) return;
      let next = 0;
      open.set(id, (part) => {
        // One that is lost breaks the answer: the client sees it cut, and asks again.
        if (part.n !== next++) response.destroy();
        else if ('head' in part) {
          response.writeHead(part.head.status, part.head.headers);
          response.flushHeaders();
        } else response.write(Buffer.from(part.data, 'base64'));
      });
      try {
        const carried: Carried = {
          id,
          method: request.method ?? 'GET',
          url: request.url ?? '/',
          headers: without(request.headers),
          body: body.toString('base64'),
        };
        const answer = await calls.ask(node, REQUEST, carried, {
          timeoutMs: LONGEST_MS,
          signal: ending.signal,
        });
        if (answer === next) response.end();
        else response.destroy();
      } catch (error) {
        if (response.headersSent) response.destroy();
        else throw error;
      } finally {
        open.delete(id);
      }
    },
  };
}

function without(headers: OutgoingHttpHeaders | NodeJS.Dict<string | string[]>): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP.includes(name)));
}
