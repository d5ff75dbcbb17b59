import { type MessagePort, parentPort, workerData } from 'node:worker_threads';

import { ParleyError } from '@parley/protocol';
import { sqliteModule } from '@parley/sqlite';

import { SentenceFinder } from './extract.ts';
import { formOf } from './index-form.ts';
import type { Index } from './index-words.ts';
import { createRuler } from './model-reader.ts';
import { dropIndex, isDamage, openIndex } from './open-index.ts';
import { PassageIndex } from './passage-index.ts';
import { createQdrant } from './qdrant.ts';
import { createCollection } from './qdrant-collection.ts';
import { QdrantIndex } from './qdrant-index.ts';
import { byLetters } from './ruler.ts';
import { TermCounter } from './term-counter.ts';
import type { ThreadCall, News, Reply, ThreadStart } from './thread-port.ts';

type Methods = Record<string, (...args: never[]) => unknown>;

const port = requirePort();
// Whoever starts this thread hands it just this.
const start = workerData as ThreadStart;
/** Whoever keeps the index level asks this first, and fills what is empty. */
const BEGINNING = new Set(['place', 'workspaces']);
/** It was thrown away, and who keeps it has not come yet: nobody else would know that it is empty. */
let isLost = false;
let methods = serve(start);

port.on('message', ({ id, name, args }: ThreadCall) => void answer(id, name, args));

async function answer(id: number, name: string, args: unknown[]): Promise<void> {
  try {
    const method = methods[name];
    if (method === undefined) throw new Error(`there is no ${name}`);
    if (BEGINNING.has(name)) isLost = false;
    else if (isLost && name !== 'close') throw lost();
    // The port sends what the method takes.
    port.postMessage({ id, ok: await method(...(args as never[])) } satisfies Reply);
  } catch (thrown) {
    const isDamaged = start.qdrant === undefined && isDamage(thrown);
    if (isDamaged) startAnew(messageOf(thrown));
    const error = isDamaged ? lost() : thrown;
    const isUnavailable = error instanceof ParleyError && error.code === 'UNAVAILABLE';
    port.postMessage({ id, error: messageOf(error), isUnavailable } satisfies Reply);
  }
}

function lost(): ParleyError {
  return new ParleyError('UNAVAILABLE', 'the search index is damaged and is made anew; retry');
}

function startAnew(why: string): void {
  methods['close']?.();
  dropIndex(start.path);
  tellThrownAway(why);
  methods = serve(start);
}

function tellThrownAway(why: string): void {
  isLost = true;
  port.postMessage({ thrownAway: why } satisfies News);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function open({ path, model, measure, qdrant }: ThreadStart): { index: Index; finder: SentenceFinder } {
  const form = formOf(measure);
  const ruler = measure === undefined ? byLetters : createRuler(measure);
  if (qdrant === undefined) {
    const db = openIndex(path, tellThrownAway);
    return { index: new PassageIndex(db, model, ruler, form), finder: new SentenceFinder(db) };
  }
  const call = createQdrant(qdrant);
  return {
    index: new QdrantIndex(
      call,
      createCollection(call, { ...qdrant, model }),
      new TermCounter(),
      ruler,
      form,
    ),
    finder: new SentenceFinder(new (sqliteModule().DatabaseSync)(':memory:')),
  };
}

function serve(from: ThreadStart): Methods {
  const { index, finder } = open(from);
  return {
    place: (workspace: string) => index.place(workspace),
    apply: (...args: Parameters<Index['apply']>) => index.apply(...args),
    dropBefore: (...args: Parameters<Index['dropBefore']>) => index.dropBefore(...args),
    forget: (workspace: string) => index.forget(workspace),
    workspaces: () => index.workspaces(),
    known: (workspace: string) => index.known(workspace),
    renumber: (...args: Parameters<Index['renumber']>) => index.renumber(...args),
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
