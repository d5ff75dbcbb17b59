/** Does what time asks for, at once and again from time to time, one sweep after the other. */
export interface Sweeper {
  /** Resolves after the first sweep, whatever came of it. */
  start(): Promise<void>;
  sweep(): Promise<void>;
  close(): void;
}

interface SweeperOptions {
  everyMs: number;
  onFault: (error: unknown) => void;
}

/** A sweep that is still under way is joined; one that is long looks whether it was closed. */
export function createSweeper(
  work: (closing: AbortSignal) => Promise<void>,
  { everyMs, onFault }: SweeperOptions,
): Sweeper {
  const closing = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> | undefined;

  const sweep = (): Promise<void> =>
    (sweeping ??= work(closing.signal).finally(() => (sweeping = undefined)));
  const look = (): Promise<void> => sweep().catch(onFault);

  return {
    start() {
      timer = setInterval(() => void look(), everyMs).unref();
      return look();
    },
    sweep,
    close() {
      closing.abort();
      clearInterval(timer);
    },
  };
}
