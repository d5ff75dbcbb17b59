import { connect, type Socket } from 'node:net';

/** What one process of load is asked to do. */
export interface LoadOrder {
  host: string;
  port: number;
  connections: number;
  ms: number;
  /** Request texts without the body; `{n}` in a body becomes a number that never repeats. */
  head: string;
  bodies: readonly string[];
  seed: string;
}

export interface LoadReport {
  requests: number;
  errors: number;
  ms: number;
  p50: number;
  p99: number;
}

/** Keeps each connection busy with one request at a time, on plain sockets so that the load costs little itself. */
async function run(order: LoadOrder): Promise<LoadReport> {
  const latencies: number[] = [];
  let errors = 0;
  let counter = 0;
  const started = performance.now();
  const end = started + order.ms;
  await Promise.all(Array.from({ length: order.connections }, (_, i) => drive(i)));
  latencies.sort((a, b) => a - b);
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0;
  return { requests: latencies.length, errors, ms: performance.now() - started, p50: at(0.5), p99: at(0.99) };

  function next(i: number): string {
    const n = counter++;
    const body = (order.bodies[(i + n) % order.bodies.length] ?? '').replace('{n}', `${order.seed}-${n}`);
    return `${order.head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  }

  function drive(i: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket: Socket = connect(order.port, order.host);
      socket.setNoDelay(true);
      let sent = 0;
      let buffer = '';
      const send = (): void => {
        sent = performance.now();
        socket.write(next(i));
      };
      socket.on('connect', send);
      socket.on('error', reject);
      socket.on('close', () => resolve());
      socket.on('data', (chunk) => {
        buffer += chunk.toString('latin1');
        const head = buffer.indexOf('\r\n\r\n');
        if (head < 0) return;
        const length = Number(/content-length: (\d+)/i.exec(buffer)?.[1] ?? 0);
        if (buffer.length < head + 4 + length) return;
        if (!buffer.startsWith('HTTP/1.1 200')) {
          errors++;
          if (errors < 3) process.stderr.write(`${buffer.slice(0, 800)}\n`);
        }
        buffer = '';
        const now = performance.now();
        latencies.push(now - sent);
        if (now < end) send();
        else socket.destroy();
      });
    });
  }
}

process.once('message', (order: LoadOrder) => {
  void run(order).then((report) => process.send?.(report, () => process.exit(0)));
});
