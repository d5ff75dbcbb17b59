import { fieldsOf, isOneOf, ERROR_CODES } from '@parley/protocol';

import { ClientError, noAnswer } from './client-error.ts';
import { createEventParser, type ServerEvent } from './event-parser.ts';
import { createPatience } from './patience.ts';
import { asClientError, type Transport } from './transport.ts';

export interface FollowOptions {
  /** Ends the iteration. */
  signal?: AbortSignal;
  /** Hears after which position a stream of the workspace begins, each time that it is opened. */
  onHello?: (position: number) => void;
}

/** What a stream brings, and how far it has come with that. */
interface StreamStep<T> {
  position?: number;
  item?: T;
}

/** One stream of the hub: where it is, and what its events mean at a position. */
export interface Source<T> {
  path: (position: number | undefined) => string;
  read: (event: ServerEvent, position: number | undefined) => StreamStep<T>;
}

/** The hub shows a sign of life every 15 s; a connection silent for longer is dead. */
const SILENCE_MS = 45_000;

/** A stream that lived this long, or brought something, counts as a success. */
const LIVED_MS = 1_000;

/** Follows a stream over every broken connection, from the last position it brought. */
export async function* followStream<T>(
  transport: Transport,
  patienceMs: number,
  { path, read }: Source<T>,
  since: number | undefined,
  { signal, onHello }: FollowOptions,
): AsyncGenerator<T, void, void> {
  const patience = createPatience(patienceMs);
  const ended = (): boolean => signal?.aborted === true;
  let position = since;
  /** The id of the last event that had one, as the hub gave it. */
  let lastId = '';
  while (!ended()) {
    const connection = new AbortController();
    const hangUp = (): void => connection.abort();
    signal?.addEventListener('abort', hangUp, { once: true });
    const opened = performance.now();
    const at = path(position);
    try {
      const response = await transport(at, {
        headers: {
          accept: 'text/event-stream',
          ...(lastId === '' ? {} : { 'last-event-id': lastId }),
        },
        signal: connection.signal,
      });
      for await (const event of readEvents(response, connection)) {
        const step = read(event, position);
        position = step.position ?? position;
        if (event.id !== '') lastId = event.id;
        if (event.event === 'hello' && position !== undefined) onHello?.(position);
        if (step.item === undefined) continue;
        patience.renew();
        yield step.item;
      }
      throw noAnswer(at, 'the stream ended');
    } catch (error) {
      if (ended()) return;
      if (performance.now() - opened > LIVED_MS) patience.renew();
      await patience.wait(asClientError(error, at), signal).catch((final: unknown) => {
        if (!ended()) throw final;
      });
    } finally {
      signal?.removeEventListener('abort', hangUp);
      connection.abort();
    }
  }
}

async function* readEvents(response: Response, connection: AbortController): AsyncGenerator<ServerEvent> {
  if (response.body === null) return;
  // The types of Node and of the browser differ; its pieces are bytes.
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  // Node's fetch forgets its signal once the response is collected as garbage; the reader is never out of reach.
  connection.signal.addEventListener('abort', () => void reader.cancel().catch(() => {}), { once: true });
  const decoder = new TextDecoder();
  const parse = createEventParser();
  for (;;) {
    const silence = setTimeout(() => connection.abort(new Error('the stream fell silent')), SILENCE_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    for (const event of parse(decoder.decode(value, { stream: true }))) {
      if (event.event === 'error') throw reported(event.data);
      yield event;
    }
  }
}

function reported(data: string): ClientError {
  const { code: said } = fieldsOf(JSON.parse(data));
  const code = isOneOf(ERROR_CODES, said) ? said : 'INTERNAL';
  return new ClientError(code, `the hub ended the stream: ${code}`, { status: 200 });
}
