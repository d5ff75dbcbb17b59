/** How long a row must have been on the screen before it counts as read. */
const MOMENT_MS = 400;

/** A row of a list and where its edges are on the screen. */
export interface ShownRow {
  seq: number;
  top: number;
  bottom: number;
}

/** What a person can see of a list at this moment; undefined when nobody looks. */
export interface View {
  top: number;
  bottom: number;
}

/**
 * The rows of which the end is in view: of a message that is longer than the screen nobody has read more than what was
 * shown.
 */
export function rowsInView(rows: readonly ShownRow[], { top, bottom }: View): number[] {
  // Edges fall between pixels.
  return rows.filter((row) => row.bottom <= bottom + 1 && row.bottom > top + 1).map(({ seq }) => seq);
}

/** Knows which rows somebody has seen, and how far they reach without a gap. */
export interface Seen {
  /** Tells what is in view now; returns in how many ms to look again, undefined when nothing is about to be seen. */
  look(inView: readonly number[], now: number): number | undefined;
  /** Everything up to here was seen. */
  reached(): number;
  /** The person says that all up to a row need not be looked at. */
  pass(upTo: number): void;
}

/** A cursor says "all up to here": it stops before the first row that was never shown. */
export function createSeen(from: number, isOwn: (seq: number) => boolean): Seen {
  let cursor = from;
  const since = new Map<number, number>();
  const seen = new Set<number>();
  const advance = (): void => {
    while (seen.delete(cursor + 1) || isOwn(cursor + 1)) cursor++;
  };
  return {
    look(inView, now) {
      const wanted = new Set(inView.filter((seq) => seq > cursor && !seen.has(seq)));
      for (const seq of since.keys()) if (!wanted.has(seq)) since.delete(seq);
      let next: number | undefined;
      for (const seq of wanted) {
        const left = MOMENT_MS - (now - (since.get(seq) ?? now));
        if (!since.has(seq)) since.set(seq, now);
        if (left > 0) {
          next = Math.min(next ?? left, left);
        } else {
          since.delete(seq);
          seen.add(seq);
        }
      }
      advance();
      return next;
    },
    reached() {
      advance();
      return cursor;
    },
    pass(upTo) {
      cursor = Math.max(cursor, upTo);
    },
  };
}
