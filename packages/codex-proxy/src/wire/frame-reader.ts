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
    if (length === undefined) return fault('header', 'the header names no Content-Length', 'start');
    missing = length;
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
    const told = /^\d{1,15}$/.test(value) ? Number(value) : undefined;
    if (told === undefined || (length !== undefined && length !== told))
      return fault('header', 'the Content-Length is no number', 'start');
    length = told;
  };

  /** Consumes from the chunk and says up to where. */
  const step = (chunk: Uint8Array, from: number): number => {
    if (mode === 'start') return start(chunk, from);
    if (mode === 'body' || mode === 'skip-body') {
      const part = chunk.subarray(from, from + missing);
      missing -= part.length;
      if (mode === 'body') take(part);
      if (missing === 0 && mode === 'body') endBody();
      else if (missing === 0) begin('start');
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
    else if (lineEnd >= 0) {
      frames.push({ framing: 'line', bytes: taken() });
      begin('start');
    }
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
      if (mode === 'line') frames.push({ framing: 'line', bytes: taken() });
      else if (mode === 'head' || mode === 'body')
        fault('header', 'the input ended inside a message', 'start');
      begin('start');
      return drain();
    },
  };
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
