import type { Writable } from 'node:stream';

import type { Framing } from './frame-reader.ts';

/** Writes whole messages and never waits for the reader. */
export interface FrameWriter {
  send(message: object, framing: Framing): void;
  /** For what may be lost: false when the reader is slow or gone. */
  offer(message: object, framing: Framing): boolean;
  /** Bytes that wait for the reader. */
  backlog(): number;
}

/** Offers are taken while less than `mostWaiting` bytes wait; what must be sent always is. */
export function createFrameWriter(output: Writable, mostWaiting: number): FrameWriter {
  let gone = false;
  for (const event of ['error', 'close', 'finish']) output.on(event, () => (gone = true));
  const send = (message: object, framing: Framing): void => {
    if (gone) return;
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    output.write(
      framing === 'line' ? `${text}\n` : `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  };
  return {
    send,
    offer(message, framing) {
      if (gone || output.writableLength > mostWaiting) return false;
      send(message, framing);
      return true;
    },
    backlog: () => (gone ? 0 : output.writableLength),
  };
}
