/**
 * Does some work with a signal that ends with another one, or after a time. The timer is held until the work is done:
 * an `AbortSignal.timeout` that only `AbortSignal.any` knows is collected by Node 20, and what waits for it waits for ever.
 */
export async function inTime<T>(
  ms: number,
  signal: AbortSignal,
  work: (limit: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new DOMException('it took too long', 'TimeoutError')), ms);
  try {
    return await work(AbortSignal.any([signal, limit.signal]));
  } finally {
    clearTimeout(timer);
  }
}
