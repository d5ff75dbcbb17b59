import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';

import { ParleyError } from '@parley/protocol';

import { Batches } from './batches.ts';
import { openReader, openWriter } from './open-database.ts';
import { Reader } from './reader.ts';
import type { DatabaseSync } from './sqlite.ts';
import { isBusy } from './storage-fault.ts';
import type { Forgetting, Notice, Opening, Reply, ThreadStart, WriterCall } from './thread-protocol.ts';
import { WordSearch } from './word-search.ts';

/** How long nobody must have written before the writer does what can wait in transactions of its own. */
const QUIET_MS = 200;

const start = workerData as ThreadStart;
const port = requirePort();
const serve: Record<ThreadStart['role'], () => void> = {
  writer: serveWriter,
  reader: () => serveQuestions((db) => new Reader(db)),
  searcher: () => serveQuestions((db) => new WordSearch(db)),
};

try {
  serve[start.role]();
  say({ ready: true });
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  say({ ready: false, message, ours: error instanceof ParleyError });
}

function say(opening: Opening): void {
  port.postMessage(JSON.stringify(opening));
}

function serveWriter(): void {
  const tell = (notice: Notice): void => port.postMessage(JSON.stringify(notice));
  const batches = new Batches(
    openWriter(start.path, (news) => say({ news })),
    tell,
  );
  let quiet: NodeJS.Timeout | undefined;
  const rest = (delay: number): void => {
    clearTimeout(quiet);
    quiet = setTimeout(() => {
      const again = batches.idle();
      if (again !== undefined) rest(again);
    }, delay);
  };
  rest(QUIET_MS);
  const take = (piece: string, commands: WriterCall[]): void => {
    const said = JSON.parse(piece) as WriterCall[] | Forgetting;
    if (Array.isArray(said)) commands.push(...said);
    else batches.forgetKeys(said.forget_before);
  };
  /** One commit is for all that came while the last one was made; what comes from now on is for the next. */
  const withArrived = (piece: string): WriterCall[] => {
    const commands: WriterCall[] = [];
    take(piece, commands);
    // A word that is no command wants no answer, and the end may stand behind it.
    while (commands.length > 0 && commands.length < start.maxBatch) {
      const next = receiveMessageOnPort(port);
      if (next === undefined) break;
      take(next.message as string, commands);
    }
    return commands;
  };
  port.on('message', (batch: string) => {
    if (batch === 'close') {
      clearTimeout(quiet);
      batches.close();
      port.postMessage('closed');
      port.close();
      return;
    }
    const commands = withArrived(batch);
    if (commands.length > 0) port.postMessage(JSON.stringify(batches.run(commands)));
    batches.fold();
    rest(QUIET_MS);
  });
}

type Answers = Record<string, (...args: unknown[]) => unknown>;
type Question = [name: string, ...args: unknown[]];

/** Answers from a connection that can only look; who asks names the methods of what answers. */
function serveQuestions(open: (db: DatabaseSync) => Reader | WordSearch): void {
  const db = openReader(start.path);
  const answers = open(db) as unknown as Answers;
  const ask = ([name, ...args]: Question): Reply => {
    try {
      return { ok: answers[name]?.(...args) };
    } catch (error) {
      if (error instanceof ParleyError) {
        return {
          error: {
            code: error.code,
            message: error.message,
            ...(error.details === undefined ? {} : { details: error.details }),
          },
          fault: error.message,
        };
      }
      const message = error instanceof Error ? error.message : String(error);
      const refused = { code: 'UNAVAILABLE', message: 'the store could not be read' } as const;
      const details = { retry_after_ms: 1_000 };
      return { error: isBusy(error) ? { ...refused, details } : refused, fault: message };
    }
  };
  port.on('message', (batch: string) => {
    if (batch === 'close') {
      db.close();
      port.postMessage('closed');
      port.close();
      return;
    }
    // One read transaction: every answer of a batch is of the same moment.
    db.exec('BEGIN');
    const replies = (JSON.parse(batch) as Question[]).map(ask);
    // An error of the disk ends it by itself.
    if (db.isTransaction) db.exec('COMMIT');
    port.postMessage(JSON.stringify(replies));
  });
}

function requirePort(): MessagePort {
  if (parentPort === null) throw new Error('this module runs in a worker thread');
  return parentPort;
}
