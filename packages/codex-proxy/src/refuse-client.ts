import type { Readable, Writable } from 'node:stream';

import type { RpcError } from './errors.ts';
import { createFrameWriter } from './wire/frame-writer.ts';
import { createUpstream } from './wire/upstream.ts';

const MOST_BYTES = 16_777_216;

/** Nothing can be served: every request is told why, until the client goes. Resolves with whether one was. */
export async function refuseClient(error: RpcError, input: Readable, output: Writable): Promise<boolean> {
  let wasAsked = false;
  const upstream = createUpstream({
    writer: createFrameWriter(output, 0),
    maxMessageBytes: MOST_BYTES,
    async answer() {
      wasAsked = true;
      throw error;
    },
    hear: () => {},
    log: () => {},
  });
  input.on('data', (chunk: Buffer) => upstream.receive(chunk));
  await new Promise<void>((resolve) => {
    for (const event of ['end', 'error', 'close']) input.once(event, () => resolve());
    output.once('error', () => resolve());
  });
  return wasAsked;
}
