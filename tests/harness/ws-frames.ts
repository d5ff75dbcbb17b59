const TEXT = 1;
const CONTINUED = 0;
const LARGEST = 16_777_216;

/** Finds the text messages in the bytes of one way of a WebSocket, as they come. */
export function readFrames(tell: (text: string) => void): (bytes: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let parts: Buffer[] = [];
  let isBroken = false;
  return (bytes) => {
    if (isBroken) return;
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    for (;;) {
      const frame = readFrame(rest);
      if (frame === undefined) return;
      // What is no frame of ours is a test of that: from here on nothing can be read.
      if (frame === 'broken') {
        isBroken = true;
        return;
      }
      rest = rest.subarray(frame.size);
      if (frame.opcode !== TEXT && frame.opcode !== CONTINUED) continue;
      if (frame.opcode === TEXT) parts = [];
      parts.push(frame.payload);
      if (frame.isLast) tell(Buffer.concat(parts).toString('utf8'));
    }
  };
}

interface Frame {
  opcode: number;
  isLast: boolean;
  payload: Buffer;
  size: number;
}

/** The first frame of some bytes; undefined where it is not all there yet. */
function readFrame(bytes: Buffer): Frame | 'broken' | undefined {
  if (bytes.length < 2) return undefined;
  const [first = 0, second = 0] = bytes;
  if ((first & 0x70) !== 0) return 'broken';
  let at = 2;
  let size = second & 0x7f;
  if (size === 126) {
    if (bytes.length < 4) return undefined;
    size = bytes.readUInt16BE(2);
    at = 4;
  } else if (size === 127) {
    if (bytes.length < 10) return undefined;
    size = Number(bytes.readBigUInt64BE(2));
    at = 10;
    if (size > LARGEST) return 'broken';
  }
  const isMasked = (second & 0x80) !== 0;
  const start = isMasked ? at + 4 : at;
  if (bytes.length < start + size) return undefined;
  const payload = Buffer.from(bytes.subarray(start, start + size));
  if (isMasked)
    for (let i = 0; i < payload.length; i++) payload[i] = byteAt(payload, i) ^ byteAt(bytes, at + (i & 3));
  return { opcode: first & 0x0f, isLast: (first & 0x80) !== 0, payload, size: start + size };
}

const byteAt = (bytes: Buffer, i: number): number => bytes[i] ?? 0;
