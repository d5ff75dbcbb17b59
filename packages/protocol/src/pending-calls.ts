interface Pending {
  resolve: (value: never) => void;
  reject: (error: Error) => void;
}

/** Calls on their way to another thread or process, by number, until each is answered or the other side has ended. */
export class PendingCalls {
  readonly #pendingByCall = new Map<number, Pending>();
  #next = 0;

  get size(): number {
    return this.#pendingByCall.size;
  }

  /** Sends a call under the next number, counted from 0; resolves with what it is answered. */
  open<T>(send: (call: number) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const call = this.#next++;
      this.#pendingByCall.set(call, { resolve, reject });
      send(call);
    });
  }

  resolve(call: number, value: unknown): void {
    // Whoever made the call said what its answer is.
    this.#take(call)?.resolve(value as never);
  }

  reject(call: number, error: Error): void {
    this.#take(call)?.reject(error);
  }

  /** Whoever still waits is told that nobody will answer. */
  end(reason: () => Error): void {
    for (const { reject } of this.#pendingByCall.values()) reject(reason());
    this.#pendingByCall.clear();
  }

  #take(call: number): Pending | undefined {
    const pending = this.#pendingByCall.get(call);
    this.#pendingByCall.delete(call);
    return pending;
  }
}
