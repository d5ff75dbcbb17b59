/** Clocks that end together. */
export interface Timers {
  later(ms: number, run: () => void): NodeJS.Timeout;
  cancel(timer: NodeJS.Timeout | undefined): void;
  clear(): void;
}

export function createTimers(): Timers {
  const running = new Set<NodeJS.Timeout>();
  const cancel = (timer: NodeJS.Timeout | undefined): void => {
    if (timer === undefined) return;
    clearTimeout(timer);
    running.delete(timer);
  };
  return {
    later(ms, run) {
      const timer = setTimeout(() => {
        running.delete(timer);
        run();
      }, ms);
      running.add(timer);
      return timer;
    },
    cancel,
    clear: () => running.forEach(cancel),
  };
}
