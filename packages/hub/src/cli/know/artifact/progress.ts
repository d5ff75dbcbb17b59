/** How often a person hears of it. */
const EVERY_MS = 250;

/** Tells a person at the terminal how far a long transfer has come; in a pipe it is silent. */
export function createProgress(verb: string, total: number | undefined) {
  const shown = process.stderr.isTTY;
  let bytes = 0;
  let printedAt = Date.now();

  function tell(): void {
    const part =
      total === undefined || total === 0 ? '' : ` of ${total} (${Math.floor((bytes / total) * 100)} %)`;
    process.stderr.write(`\r${verb} ${bytes}${part} bytes\u001b[K`);
  }

  return {
    /** Hands pieces on and counts them. */
    async *count(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const piece of pieces) {
        bytes += piece.length;
        if (shown && Date.now() - printedAt > EVERY_MS) {
          printedAt = Date.now();
          tell();
        }
        yield piece;
      }
    },
    /** Leaves a clean line behind. */
    end(): void {
      if (shown) process.stderr.write('\r\u001b[K');
    },
  };
}
