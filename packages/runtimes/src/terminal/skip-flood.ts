const ESC = 0x1b;
const BEL = 0x07;
/** ESC and one of these begins a text of the terminal: OSC, DCS, SOS, PM, APC. */
const STRING_STARTS = new Set(Buffer.from(']PX^_'));
const LINE_END = Buffer.from('\r\n');
/** No other sequence is longer than this. */
const LONGEST_SEQUENCE = 256;
/** What may stand in lines that are skipped: no control character but these. */
const HARMLESS_CONTROLS = new Set([0x07, 0x09, 0x0a, 0x0d]);

/** Leaves out of a flood of plain lines those that scroll off at once: the screen ends up the same, and is there soon. */
export interface FloodFilter {
  /** The parts of the output that must be drawn, in order. */
  parts(bytes: Buffer, rows: number): Buffer[];
}

/** Watches output for lines that need not be drawn. */
export function createFloodFilter(): FloodFilter {
  /** The output so far ends within a text of the terminal. */
  let inString = false;

  /** From here on there is nothing but text; undefined where that cannot be said. */
  function plainFrom(bytes: Buffer): number | undefined {
    const last = bytes.lastIndexOf(ESC);
    if (last < 0) {
      if (!inString) return 0;
      const end = bytes.indexOf(BEL);
      inString = end < 0;
      return inString ? undefined : end + 1;
    }
    const next = bytes[last + 1];
    // A lone ESC \ ends a text; one that begins a text must be seen to end.
    inString = next === undefined || STRING_STARTS.has(next);
    if (!inString) return last + LONGEST_SEQUENCE;
    const end = bytes.indexOf(BEL, last);
    inString = end < 0;
    return inString ? undefined : end + 1;
  }

  return {
    parts(bytes, rows) {
      const from = plainFrom(bytes);
      if (from === undefined || from >= bytes.length) return [bytes];
      const first = bytes.indexOf(LINE_END, from);
      let to = bytes.length;
      // One line more than the screen has, since the last may be unfinished.
      for (let line = 0; line <= rows && to > 0; line++) to = bytes.lastIndexOf(LINE_END, to - 1);
      if (first < 0 || to <= first) return [bytes];
      const start = first + LINE_END.length;
      const skipped = bytes.subarray(start, to + LINE_END.length);
      return isPlain(skipped) ? [bytes.subarray(0, start), bytes.subarray(to + LINE_END.length)] : [bytes];
    },
  };
}

function isPlain(bytes: Buffer): boolean {
  let before = 0;
  for (const byte of bytes) {
    if (byte < 0x20 && !HARMLESS_CONTROLS.has(byte)) return false;
    // U+0080 to U+009F are control characters too.
    if (before === 0xc2 && byte < 0xa0) return false;
    before = byte;
  }
  return true;
}
