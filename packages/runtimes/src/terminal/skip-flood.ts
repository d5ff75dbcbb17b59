const ESC = 0x1b;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
/** The last characters of `ESC c` and `CSI … m`. */
const RESET = 0x63;
const COLOUR = 0x6d;
const LINE_END = Buffer.from('\r\n');
/** The first byte of U+0080 to U+009F, which are control characters too. */
const C1_LEAD = 0xc2;
/** Control characters that may stand in lines that are skipped: bell, tab, line feed, return. */
const HARMLESS_CONTROLS = new Set([BEL, 0x09, 0x0a, 0x0d]);
const OTHER_SCREEN = /^\?(?:.*;)?(?:47|1047|1049)(?:;|$)/;

/** Where in the output we are: between sequences, after ESC, within CSI, within a text, after half a C1 character. */
type Place = 'ground' | 'escape' | 'csi' | 'osc' | 'string' | 'c1';

const AFTER_ESCAPE: Readonly<Record<string, Place>> = {
  '[': 'csi',
  ']': 'osc',
  P: 'string',
  X: 'string',
  '^': 'string',
  _: 'string',
};
/** The same as one character each. */
const AFTER_C1: Readonly<Record<number, Place>> = {
  0x90: 'string',
  0x98: 'string',
  0x9b: 'csi',
  0x9d: 'osc',
  0x9e: 'string',
  0x9f: 'string',
};

/**
 * Leaves out of a flood of lines those that scroll off at once: the screen ends up the same, and is there soon. Colours
 * within them are kept, so that what follows has the right ones; any other sequence is drawn with what surrounds it.
 */
export interface FloodFilter {
  /** The parts of the output that must be drawn, in order. */
  parts(bytes: Buffer, rows: number): Buffer[];
}

/** Watches output for lines that need not be drawn. */
export function createFloodFilter(): FloodFilter {
  let place: Place = 'ground';
  /** Nothing has come yet between ESC and what says which sequence it is. */
  let isBare = false;
  let isColour = false;
  /** The parameters of a sequence that began in earlier output. */
  let earlier = '';
  /** By screen, the main one and the other: part of it does not scroll, so that lines may stay that would scroll off. */
  const isDivided = [false, false];
  let screen = 0;

  function noteSequence(parameters: string, final: string, rows: number): void {
    if (final === 'r' && /^[\d;]*$/.test(parameters)) {
      const [top = '', bottom = ''] = parameters.split(';');
      isDivided[screen] = Number(top) > 1 || (Number(bottom) || rows) < rows;
    }
    if ((final === 'h' || final === 'l') && OTHER_SCREEN.test(parameters)) screen = final === 'h' ? 1 : 0;
  }

  return {
    parts(bytes, rows) {
      const kept: Buffer[] = [];
      /** Up to here all is kept or skipped. */
      let done = 0;
      /** Lines that may be skipped begin here, and so do the colours within them. */
      let begin = place === 'ground' ? 0 : -1;
      let colours: number[] = [];
      /** The sequence that is being read, and its parameters. */
      let start = 0;
      let inner = 0;

      function endLines(end: number): void {
        const mayBe = begin >= 0 && isDivided[screen] === false;
        const skipped = mayBe ? scrolledOff(bytes, begin, end, rows) : undefined;
        if (skipped !== undefined) {
          kept.push(bytes.subarray(done, skipped.from), ...lastColours(bytes, colours, skipped));
          done = skipped.to;
        }
        begin = -1;
        colours = [];
      }

      function enter(next: Place, at: number): void {
        place = next;
        inner = at + 1;
        earlier = '';
        isColour = next === 'csi';
      }

      /** A character within a sequence; true when the sequence is over, and was something else than a colour. */
      function follow(byte: number, at: number): boolean {
        if (byte === CAN || byte === SUB) return true;
        if (place === 'escape') {
          if (byte < 0x30) isBare &&= byte < 0x20;
          if (byte < 0x30 || byte > 0x7e) return false;
          const next = isBare ? AFTER_ESCAPE[String.fromCharCode(byte)] : undefined;
          if (next !== undefined) enter(next, at);
          else if (isBare && byte === RESET) isDivided.fill(false);
          return next === undefined;
        }
        if (place === 'osc') return byte === BEL;
        if (place !== 'csi') return false;
        if (byte < 0x40 || byte > 0x7e) {
          isColour &&= byte >= 0x30 && byte <= 0x3b;
          return false;
        }
        if (isColour && byte === COLOUR && begin >= 0) {
          colours.push(start);
          place = 'ground';
          return false;
        }
        noteSequence(earlier + bytes.toString('latin1', inner, at), String.fromCharCode(byte), rows);
        return true;
      }

      for (let at = 0; at < bytes.length; at++) {
        const byte = bytes[at]!;
        if (place === 'ground') {
          if (byte >= 0x20 && byte !== C1_LEAD) continue;
          if (byte === ESC || byte === C1_LEAD) {
            place = byte === ESC ? 'escape' : 'c1';
            isBare = true;
            start = at;
          } else if (!HARMLESS_CONTROLS.has(byte)) {
            endLines(at);
            begin = at + 1;
          }
        } else if (place === 'c1') {
          const next = byte < 0xa0 ? (AFTER_C1[byte] ?? 'ground') : 'ground';
          if (byte < 0xa0) endLines(start);
          enter(next, at);
          if (next === 'ground' && begin < 0) begin = at + 1;
        } else if (byte === ESC) {
          endLines(start);
          place = 'escape';
          isBare = true;
          start = at;
        } else if (follow(byte, at)) {
          endLines(start);
          place = 'ground';
          begin = at + 1;
        }
      }
      if (place === 'csi') earlier += bytes.toString('latin1', inner);
      endLines(place === 'ground' ? bytes.length : start);
      kept.push(bytes.subarray(done));
      return kept;
    },
  };
}

interface Span {
  from: number;
  to: number;
}

/**
 * The lines between these places that leave nothing on the screen: the first may have begun before, the last is not over;
 * of those before it one screen brings the cursor to the last row, and one more fills the screen.
 */
function scrolledOff(bytes: Buffer, begin: number, end: number, rows: number): Span | undefined {
  const needed = 2 * rows + 1;
  if (end - begin < LINE_END.length * (needed + 1)) return undefined;
  const first = bytes.indexOf(LINE_END, begin);
  let last = end;
  for (let line = 0; line < needed && last > begin; line++)
    last = bytes.lastIndexOf(LINE_END, Math.max(0, last - 2));
  if (first < 0 || last <= first) return undefined;
  return { from: first + LINE_END.length, to: last + LINE_END.length };
}

/** The colours that hold after lines were skipped: those since the last that begins anew. */
function lastColours(bytes: Buffer, colours: number[], { from, to }: Span): Buffer[] {
  const sequences: Buffer[] = [];
  for (let i = colours.length - 1; i >= 0; i--) {
    const start = colours[i]!;
    if (start >= to) continue;
    if (start < from) break;
    const sequence = bytes.subarray(start, bytes.indexOf('m', start) + 1);
    sequences.push(sequence);
    if (/^\[0*(?:;|m)/.test(sequence.toString('latin1', 1))) break;
  }
  return sequences.toReversed();
}
