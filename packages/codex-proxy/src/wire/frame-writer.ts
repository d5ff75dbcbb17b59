import type { Writable } from 'node:stream';

import type { Framing } from './frame-reader.ts';

/** Writes whole messages and never waits for the reader. */
export interface FrameWriter {
  /** A list goes as a batch. */
  send(message: object | readonly object[], framing: Framing): void;
  /** For what may be lost: false when the reader is slow or gone. */
  offer(message: object, framing: Framing): boolean;
  /** Bytes that wait for the reader. */
  backlog(): number;
  /** Hands over now what was gathered. */
  flush(): void;
}

/** How long an event waits for company: each write wakes the reader, and events come in swarms. */
const GATHER_MS = 1;

/**
 * Offers are taken while less than `mostWaiting` bytes wait; what must be sent always is, at once, with all that was
 * gathered before it.
 */
export function createFrameWriter(
  output: Writable,
  mostWaiting: number,
  onMessage: (text: string) => void = () => {},
): FrameWriter {
  let gone = false;
  let gathered = '';
  let timer: NodeJS.Timeout | undefined;
  for (const event of ['error', 'close', 'finish']) output.on(event, () => (gone = true));

  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const text = gathered;
    gathered = '';
    if (gone || text === '') return;
    output.write(text);
  };
  const gather = (message: object | readonly object[], framing: Framing): void => {
    const text = JSON.stringify(Array.isArray(message) ? message.map(stamped) : stamped(message));
    onMessage(text);
    gathered +=
      framing === 'line' ? `${text}\n` : `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
  };
  const backlog = (): number => (gone ? 0 : output.writableLength + gathered.length);
  return {
    send(message, framing) {
      gather(message, framing);
      flush();
    },
    offer(message, framing) {
      if (gone || backlog() > mostWaiting) return false;
      gather(message, framing);
      timer ??= setTimeout(flush, GATHER_MS);
      return true;
    },
    backlog,
    flush,
  };
}

function stamped(message: object): object {
  return { jsonrpc: '2.0', ...message };
}
