import type { ErrorCode, Message } from '@parley/protocol';

import { ClientError, noAnswer } from './client-error.ts';
import { createEventParser } from './event-parser.ts';
import { createPatience } from './patience.ts';
import { asClientError, type Transport } from './transport.ts';

export interface FollowOptions {
  /** Ends the iteration. */
  signal?: AbortSignal;
}

/** The messages of a thread after `since`, first those there are, then each as it is said. */
export type Follow = (
  threadId: string,
  since?: number,
  options?: FollowOptions,
) => AsyncGenerator<Message, void, void>;

/** The hub shows a sign of life every 15 s; a connection silent for longer is dead. */
const SILENCE_MS = 45_000;

/** A stream that lived this long, or brought something, counts as a success. */
const LIVED_MS = 1_000;

/** Follows a thread over server-sent events and over every broken connection, each message once and in order. */
export function createFollow(transport: Transport, patienceMs: number): Follow {
  return async function* follow(threadId, since = 0, { signal } = {}) {
    const path = `/v1/threads/${encodeURIComponent(threadId)}/messages`;
    const patience = createPatience(patienceMs);
    const ended = (): boolean => signal?.aborted === true;
    let position = since;
    while (!ended()) {
      const connection = new AbortController();
      const hangUp = (): void => connection.abort();
      signal?.addEventListener('abort', hangUp, { once: true });
      const opened = performance.now();
      try {
        const response = await transport(`${path}?since_seq=${position}`, {
          headers: { accept: 'text/event-stream', 'last-event-id': String(position) },
          signal: connection.signal,
        });
        for await (const message of readMessages(response, connection)) {
          if (message.seq <= position) continue;
          if (message.seq !== position + 1) throw gap(position, message.seq);
          position = message.seq;
          patience.renew();
          yield message;
        }
        throw noAnswer(path, 'the stream ended');
      } catch (error) {
        if (ended()) return;
        if (performance.now() - opened > LIVED_MS) patience.renew();
        await patience.wait(asClientError(error, path), signal).catch((final: unknown) => {
          if (!ended()) throw final;
        });
      } finally {
        signal?.removeEventListener('abort', hangUp);
        connection.abort();
      }
    }
  };
}

async function* readMessages(response: Response, connection: AbortController): AsyncGenerator<Message> {
  if (response.body === null) return;
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  const parse = createEventParser();
  for (;;) {
    const silence = setTimeout(() => connection.abort(new Error('the stream fell silent')), SILENCE_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    for (const { event, data } of parse(decoder.decode(value, { stream: true }))) {
      if (event === 'error') throw told(data);
      if (event === 'message') yield JSON.parse(data) as Message;
    }
  }
}

function told(data: string): ClientError {
  const { code } = JSON.parse(data) as { code: ErrorCode };
  return new ClientError(code, `the hub ended the stream: ${code}`, { status: 200 });
}

function gap(position: number, next: number): ClientError {
  return new ClientError('INTERNAL', `the stream jumped from seq ${position} to ${next}`, { status: 200 });
}
