interface Queued<T> {
  line: string;
  item: T;
}

/** What waits, in lines: each line keeps its order, and none of them holds up another. */
export class FairQueue<T> {
  readonly #lines = new Map<string, Queued<T>[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(line: string, item: T): void {
    const waiting = this.#lines.get(line);
    if (waiting === undefined) this.#lines.set(line, [{ line, item }]);
    else waiting.push({ line, item });
    this.#size++;
  }

  /** The next ones, one of each line in turn. */
  take(limit: number): Queued<T>[] {
    const taken: Queued<T>[] = [];
    // Whoever had its turn is put behind the others, and comes up again in the same walk.
    for (const [line, waiting] of this.#lines) {
      if (taken.length >= limit) break;
      const next = waiting.splice(0, this.#lines.size === 1 ? limit - taken.length : 1);
      taken.push(...next);
      this.#size -= next.length;
      this.#lines.delete(line);
      if (waiting.length > 0) this.#lines.set(line, waiting);
    }
    return taken;
  }

  /** Puts back what was taken and not done, before all that waits: whose turn it was then, its turn it is next. */
  giveBack(items: readonly Queued<T>[]): void {
    const waited = new Map(this.#lines);
    this.#lines.clear();
    for (const one of items) {
      const given = this.#lines.get(one.line);
      if (given === undefined) this.#lines.set(one.line, [one]);
      else given.push(one);
    }
    for (const [line, waiting] of waited)
      this.#lines.set(line, [...(this.#lines.get(line) ?? []), ...waiting]);
    this.#size += items.length;
  }
}
