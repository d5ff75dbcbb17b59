const ESC = 0x1b;
const BEL = 0x07;
/** ESC and this begins a text of the terminal that BEL ends: OSC. */
const OSC = 0x5d;
/** ESC and one of these begins one that only another ESC ends: DCS, SOS, PM, APC. */
const STRING_STARTS = new Set(Buffer.from('PX^_'));
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
  /** The output so far ends within a text of the terminal, which BEL may end or only ESC. */
  let inString: 'no' | 'until BEL' | 'until ESC' = 'no';

  /** From here on there is nothing but text; undefined where that cannot be said. */
  function plainFrom(bytes: Buffer): number | undefined {
    const last = bytes.lastIndexOf(ESC);
    if (last >= 0) {
      const next = bytes[last + 1];
      // What an ESC at the very end begins is not known yet.
      if (next === undefined || STRING_STARTS.has(next)) inString = 'until ESC';
      else inString = next === OSC ? 'until BEL' : 'no';
      if (inString === 'no') return last + LONGEST_SEQUENCE;
    }
    if (inString === 'no') return 0;
    const end = inString === 'until BEL' ? bytes.indexOf(BEL, Math.max(last, 0)) : -1;
    if (end < 0) return undefined;
    inString = 'no';
    return end + 1;
  }

  return {
    parts(bytes, rows) {
      const from = plainFrom(bytes);
      if (from === undefined || from >= bytes.length) return [bytes];
      const first = bytes.indexOf(LINE_END, from);
      let to = bytes.length;
      // Two screens, since the cursor may stand at the top and what is below it must scroll off too; the last may be unfinished.
      for (let line = 0; line <= 2 * rows && to > 0; line++) to = bytes.lastIndexOf(LINE_END, to - 1);
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
