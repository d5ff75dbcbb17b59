import { Worker } from 'node:worker_threads';

import { atFileEnd } from './at-file-end.ts';

/** One address before several nodes, as in front of any cluster. */
export interface Balancer {
  port: number;
  /** Takes no more connections; those that are open end with their nodes. */
  close(): void;
}

interface Opened {
  id: number;
  port?: number;
  error?: string;
}

/** In a thread, since a test may hold up its own loop while a program calls the hub. */
let thread: Worker | undefined;
let last = 0;

/** Opens a balancer on loopback; a node that does not listen is passed by. */
export async function openBalancer(port: number, addresses: readonly string[]): Promise<Balancer> {
  const worker = (thread ??= startThread());
  const id = ++last;
  const opened = await new Promise<Opened>((resolve) => {
    const hear = (message: Opened): void => {
      if (message.id !== id) return;
      worker.off('message', hear);
      worker.unref();
      resolve(message);
    };
    worker.on('message', hear);
    worker.ref();
    worker.postMessage({ id, port, addresses });
  });
  if (opened.port === undefined) throw new Error(`the balancer did not open: ${opened.error}`);
  const close = (): void => worker.postMessage({ id });
  atFileEnd(close);
  return { port: opened.port, close };
}

function startThread(): Worker {
  const worker = new Worker(new URL('balancer-thread.mjs', import.meta.url));
  worker.setMaxListeners(0);
  worker.unref();
  return worker;
}
