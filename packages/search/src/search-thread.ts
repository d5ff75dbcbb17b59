import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

import { ParleyError } from '@parley/protocol';
import { sqliteModule } from '@parley/sqlite';

import { SentenceFinder } from './extract.ts';
import type { Index } from './index-words.ts';
import { openIndex } from './open-index.ts';
import { PassageIndex } from './passage-index.ts';
import { createQdrant } from './qdrant.ts';
import { createCollection } from './qdrant-collection.ts';
import { QdrantIndex } from './qdrant-index.ts';
import { TermCounter } from './term-counter.ts';
import type { Call, News, Reply, ThreadStart } from './thread-port.ts';

type Methods = Record<string, (...args: never[]) => unknown>;

const port = requirePort();
const methods = serve(workerData as ThreadStart);

port.on('message', ({ id, name, args }: Call) => void answer(id, name, args));

async function answer(id: number, name: string, args: unknown[]): Promise<void> {
  try {
    const method = methods[name];
    if (method === undefined) throw new Error(`there is no ${name}`);
    port.postMessage({ id, ok: await method(...(args as never[])) } satisfies Reply);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const isUnavailable = error instanceof ParleyError && error.code === 'UNAVAILABLE';
    port.postMessage({ id, error: message, isUnavailable } satisfies Reply);
  }
}

function open({ path, model, qdrant }: ThreadStart): { index: Index; finder: SentenceFinder } {
  if (qdrant === undefined) {
    const db = openIndex(path, (thrownAway) => port.postMessage({ thrownAway } satisfies News));
    return { index: new PassageIndex(db, model), finder: new SentenceFinder(db) };
  }
  const call = createQdrant(qdrant);
  return {
    index: new QdrantIndex(call, createCollection(call, { ...qdrant, model }), new TermCounter()),
    finder: new SentenceFinder(new (sqliteModule().DatabaseSync)(':memory:')),
  };
}

function serve(start: ThreadStart): Methods {
  const { index, finder } = open(start);
  return {
    place: () => index.place(),
    apply: (...args: Parameters<Index['apply']>) => index.apply(...args),
    dropBefore: (revision: number) => index.dropBefore(revision),
    forget: (workspace: string) => index.forget(workspace),
    workspaces: () => index.workspaces(),
    known: (workspace: string) => index.known(workspace),
    waiting: (limit: number) => index.waiting(limit),
    embed: (...args: Parameters<Index['embed']>) => index.embed(...args),
    find: (...args: Parameters<Index['find']>) => index.find(...args),
    sentences: (...args: Parameters<SentenceFinder['best']>) => finder.best(...args),
    close: () => index.close(),
  };
}

function requirePort(): MessagePort {
  if (parentPort === null) throw new Error('this module runs in a worker thread');
  return parentPort;
}
