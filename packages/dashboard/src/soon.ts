/** Does something soon, once for all that ask for it meanwhile. */
export interface Soon {
  ask(work: () => void): void;
  /** What was asked for is not done. */
  stop(): void;
}

/** Whoever asks again does not put it off: where much happens it would never be done. */
export function createSoon(ms: number): Soon {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let latest: () => void = () => {};
  return {
    ask(work) {
      latest = work;
      timer ??= setTimeout(() => {
        timer = undefined;
        latest();
      }, ms);
    },
    stop() {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
