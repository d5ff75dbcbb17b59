import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

import { SentenceFinder } from './extract.ts';
import { openIndex } from './open-index.ts';
import { PassageIndex } from './passage-index.ts';
import type { Call, Reply, ThreadStart } from './thread-port.ts';

type Methods = Record<string, (...args: never[]) => unknown>;

const start = workerData as ThreadStart;
const port = requirePort();
const methods = serveIndex(start.path);

port.on('message', ({ id, name, args }: Call) => void answer(id, name, args));

async function answer(id: number, name: string, args: unknown[]): Promise<void> {
  try {
    const method = methods[name];
    if (method === undefined) throw new Error(`there is no ${name}`);
    port.postMessage({ id, ok: await method(...(args as never[])) } satisfies Reply);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    port.postMessage({ id, error: message } satisfies Reply);
  }
}

function serveIndex(path: string): Methods {
  const db = openIndex(path);
  const index = new PassageIndex(db);
  const finder = new SentenceFinder(db);
  return {
    place: () => index.place(),
    apply: (...args: Parameters<PassageIndex['apply']>) => index.apply(...args),
    forget: (workspace: string) => index.forget(workspace),
    workspaces: () => index.workspaces(),
    known: (workspace: string) => index.known(workspace),
    waiting: (limit: number) => index.waiting(limit),
    embed: (...args: Parameters<PassageIndex['embed']>) => index.embed(...args),
    find: (...args: Parameters<PassageIndex['find']>) => index.find(...args),
    sentences: (...args: Parameters<SentenceFinder['best']>) => finder.best(...args),
    close: () => db.close(),
  };
}

function requirePort(): MessagePort {
  if (parentPort === null) throw new Error('this module runs in a worker thread');
  return parentPort;
}
