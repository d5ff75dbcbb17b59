const waitersBySignal = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls when a signal ends, which must not have ended yet; returns how to call that off. A signal that many wait for at
 * once has one listener for all of them: Node warns of more than ten as of a leak.
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  let waiters = waitersBySignal.get(signal);
  if (waiters === undefined) {
    const all = (waiters = new Set<() => void>());
    waitersBySignal.set(signal, all);
    signal.addEventListener('abort', () => {
      for (const one of all) one();
      all.clear();
    });
  }
  const own = waiters.add(call);
  return () => void own.delete(call);
}
