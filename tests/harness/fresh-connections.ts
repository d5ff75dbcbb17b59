/** Where `fetch` keeps its connections. */
const DISPATCHER = Symbol.for('undici.globalDispatcher.1');

/** Makes `fetch` of this process open a connection for each call: one that it keeps would always lead to the same node. */
export async function freshConnections(): Promise<void> {
  const known = globalThis as unknown as Record<symbol, { constructor: unknown }>;
  // It is made with the first call.
  await fetch('data:,');
  const Agent = known[DISPATCHER]?.constructor as new (options: { pipelining: number }) => object;
  known[DISPATCHER] = new Agent({ pipelining: 0 });
}
