export interface LineReader {
  take(chunk: Buffer): void;
  /** The stream is over: what stands without a newline counts as a line. */
  end(): void;
}

export interface LineReaderOptions {
  maxBytes: number;
  onLine: (line: string) => void;
  /** A line that was too long to keep; its head may tell whose it was. */
  onOversized: (head: string) => void;
}

const NEWLINE = 0x0a;
const HEAD_BYTES = 2_048;

/** Cuts a stream into lines however its chunks fall; a line beyond the bound is dropped, all but its head. */
export function createLineReader({ maxBytes, onLine, onOversized }: LineReaderOptions): LineReader {
  let parts: Buffer[] = [];
  let size = 0;
  let head: string | undefined;

  function keep(part: Buffer): void {
    if (head !== undefined || part.length === 0) return;
    parts.push(part);
    size += part.length;
    if (size <= maxBytes) return;
    // A cut through a character only spoils the head's last one.
    head = Buffer.concat(parts).subarray(0, HEAD_BYTES).toString();
    parts = [];
  }

  function finish(): void {
    const [whole, oversized] = [parts, head];
    parts = [];
    size = 0;
    head = undefined;
    if (oversized !== undefined) return onOversized(oversized);
    const line = (whole.length === 1 ? whole[0] : Buffer.concat(whole))?.toString().trim() ?? '';
    if (line !== '') onLine(line);
  }

  return {
    take(chunk) {
      let start = 0;
      for (;;) {
        const end = chunk.indexOf(NEWLINE, start);
        if (end < 0) return keep(chunk.subarray(start));
        keep(chunk.subarray(start, end));
        finish();
        start = end + 1;
      }
    },
    end: finish,
  };
}
