import { get, type IncomingMessage } from 'node:http';

import type { StoredMessage } from './hub-client.ts';

/** One agent that follows a thread and remembers what it saw. */
export interface Follower {
  messages: StoredMessage[];
  /** How often a stream was opened. */
  opened: number;
  /** How much has come in all. */
  bytes: number;
  close(): void;
}

/** Follows a thread as server-sent events; when a stream ends it comes back, at the URL of the day, with Last-Event-ID. */
export function follow(url: () => string, token: string, thread: string): Follower {
  const follower: Follower = { messages: [], opened: 0, bytes: 0, close };
  let current: IncomingMessage | undefined;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  function open(): void {
    const last = follower.messages.at(-1)?.seq;
    const outgoing = get(`${url()}/v1/threads/${thread}/messages`, {
      agent: false,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'text/event-stream',
        ...(last === undefined ? {} : { 'last-event-id': String(last) }),
      },
    });
    outgoing.on('error', again);
    outgoing.on('response', (response) => {
      current = response;
      if (response.statusCode !== 200) {
        response.resume().on('end', again);
        return;
      }
      follower.opened++;
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
        follower.bytes += Buffer.byteLength(chunk);
        const end = text.lastIndexOf('\n\n');
        if (end < 0) return;
        for (const [, data = ''] of text
          .slice(0, end + 1)
          .matchAll(/^id: \d+\nevent: message\ndata: (.*)$/gm))
          follower.messages.push(JSON.parse(data) as StoredMessage);
        text = text.slice(end + 2);
      });
      response.on('error', () => {});
      response.on('close', again);
    });
  }

  function again(): void {
    clearTimeout(timer);
    if (!closed) timer = setTimeout(open, 20);
  }

  function close(): void {
    closed = true;
    clearTimeout(timer);
    current?.destroy();
  }

  open();
  return follower;
}
