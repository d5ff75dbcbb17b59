/** How a message is set apart from the next: by a line's end, or by a Content-Length header. */
export type Framing = 'line' | 'header';

/** One message as bytes, or what stood where one should have been. */
export type Frame = { framing: Framing; bytes: Uint8Array } | { framing: Framing; fault: string };

export interface FrameReader {
  push(chunk: Uint8Array): Frame[];
  /** A last line needs no end. */
  end(): Frame[];
}

const LF = 0x0a;
const MOST_HEADER_BYTES = 8_192;
/** The end of a line that is a header of its own, wherever that begins: no JSON holds one. */
const HEADER_END = /content-length[ \t]*:[ \t]*(\d{1,15})\r?\n$/i;
const HEADER_END_BYTES = 64;

type Mode = 'start' | 'line' | 'skip-line' | 'head' | 'body' | 'skip-body';

/** Takes bytes as they come and finds each message in either framing; no message holds more than `maxBytes`. */
export function createFrameReader(maxBytes: number): FrameReader {
  let mode: Mode = 'start';
  let parts: Uint8Array[] = [];
  let gathered = 0;
  let headBytes = 0;
  let length: number | undefined;
  let missing = 0;
  let frames: Frame[] = [];
  /** The last bytes of a body that is skipped. */
  let tail = '';
  /** A body ended before its length: what follows is a message, or the rest of it. */
  let isLost = false;

  const take = (part: Uint8Array): void => {
    if (part.length === 0) return;
    parts.push(part);
    gathered += part.length;
  };
  const taken = (): Uint8Array => {
    const bytes = parts.length === 1 ? (parts[0] ?? new Uint8Array()) : Buffer.concat(parts);
    parts = [];
    gathered = 0;
    return bytes;
  };
  const begin = (next: Mode): void => {
    mode = next;
    parts = [];
    gathered = 0;
    if (next === 'head') {
      headBytes = 0;
      length = undefined;
    }
  };
  const fault = (framing: Framing, text: string, next: Mode): void => {
    frames.push({ framing, fault: text });
    begin(next);
  };

  const endHead = (): void => {
    isLost = false;
    if (length === undefined) return fault('header', 'the header names no Content-Length', 'start');
    missing = length;
    tail = '';
    if (length > maxBytes)
      return fault('header', `the message is longer than ${maxBytes} bytes`, 'skip-body');
    begin('body');
    if (missing === 0) endBody();
  };
  const endBody = (): void => {
    frames.push({ framing: 'header', bytes: taken() });
    begin('start');
  };
  const headLine = (): void => {
    const line = Buffer.from(taken()).toString('latin1').trim();
    if (line === '') return endHead();
    const [, name = '', value = ''] = /^([A-Za-z-]+)[ \t]*:[ \t]*(.*)$/.exec(line) ?? [];
    if (name === '') return fault('header', 'a header line is malformed', 'start');
    if (name.toLowerCase() !== 'content-length') return;
    const reported = /^\d{1,15}$/.test(value) ? Number(value) : undefined;
    if (reported === undefined || (length !== undefined && length !== reported))
      return fault('header', 'the Content-Length is no number', 'start');
    length = reported;
  };

  /** A length that is too long may be a lie: the body ends with it, with a line, or where another header stands. */
  const skipBody = (chunk: Uint8Array, from: number): number => {
    const part = chunk.subarray(from, from + missing);
    const lineEnd = part.indexOf(LF);
    const to = lineEnd < 0 ? part.length : lineEnd + 1;
    const last = part.subarray(Math.max(0, to - HEADER_END_BYTES), to);
    tail = (tail + Buffer.from(last).toString('latin1')).slice(-HEADER_END_BYTES);
    missing -= to;
    if (lineEnd >= 0) {
      const reported = HEADER_END.exec(tail)?.[1];
      begin(reported === undefined ? 'start' : 'head');
      if (reported === undefined) isLost = missing > 0;
      else length = Number(reported);
    } else if (missing === 0) begin('start');
    return from + to;
  };
  const endLine = (): void => {
    const bytes = taken();
    if (!isLost || looksWhole(bytes)) {
      frames.push({ framing: 'line', bytes });
      isLost = false;
    }
    begin('start');
  };

  /** Consumes from the chunk and says up to where. */
  const step = (chunk: Uint8Array, from: number): number => {
    if (mode === 'start') return start(chunk, from);
    if (mode === 'skip-body') return skipBody(chunk, from);
    if (mode === 'body') {
      const part = chunk.subarray(from, from + missing);
      missing -= part.length;
      take(part);
      if (missing === 0) endBody();
      return from + part.length;
    }
    const lineEnd = chunk.indexOf(LF, from);
    const to = lineEnd < 0 ? chunk.length : lineEnd;
    if (mode === 'skip-line') {
      if (lineEnd >= 0) begin('start');
      return to + 1;
    }
    take(chunk.subarray(from, to));
    if (mode === 'head') {
      headBytes += to - from + 1;
      if (headBytes > MOST_HEADER_BYTES)
        fault('header', 'the header is too long', lineEnd < 0 ? 'skip-line' : 'start');
      else if (lineEnd >= 0) headLine();
      return to + 1;
    }
    if (gathered > maxBytes)
      fault('line', `the message is longer than ${maxBytes} bytes`, lineEnd < 0 ? 'skip-line' : 'start');
    else if (lineEnd >= 0) endLine();
    return to + 1;
  };

  const start = (chunk: Uint8Array, from: number): number => {
    let at = from;
    while (at < chunk.length && isBlank(chunk[at])) at++;
    // No JSON text begins with the C of Content-Length.
    if (at < chunk.length) begin(chunk[at] === 0x43 || chunk[at] === 0x63 ? 'head' : 'line');
    return at;
  };

  const drain = (): Frame[] => {
    const found = frames;
    frames = [];
    return found;
  };
  return {
    push(chunk) {
      let at = 0;
      while (at < chunk.length) at = step(chunk, at);
      return drain();
    },
    end() {
      if (mode === 'line') endLine();
      else if (mode === 'head' || mode === 'body')
        fault('header', 'the input ended inside a message', 'start');
      begin('start');
      return drain();
    },
  };
}

/** True for a line that is an object or a list by itself. */
function looksWhole(bytes: Uint8Array): boolean {
  const line = Buffer.from(bytes).toString('latin1').trimEnd();
  return (line.startsWith('{') && line.endsWith('}')) || (line.startsWith('[') && line.endsWith(']'));
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
