import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';

import type { Command } from '@parley/core';
import { ParleyError } from '@parley/protocol';

import { openReader, openWriter } from './open-database.ts';
import { Reader } from './reader.ts';
import type { DatabaseSync } from './sqlite.ts';
import type { Opening, Reply, ThreadStart } from './thread-protocol.ts';
import { WordSearch } from './word-search.ts';
import { Writer } from './writer.ts';

/** How long nobody must have written before the writer does what can wait. */
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
  const writer = new Writer(openWriter(start.path, (news) => say({ news })));
  let quiet: NodeJS.Timeout | undefined;
  const rest = (delay: number): void => {
    clearTimeout(quiet);
    quiet = setTimeout(() => {
      const { more, notice } = writer.idle(Date.now(), start.idempotencyWindowMs);
      if (notice !== undefined) port.postMessage(JSON.stringify(notice));
      if (more) rest(1);
    }, delay);
  };
  rest(QUIET_MS);
  /** One commit is for all that came while the last one was made; what comes from now on is for the next. */
  const withArrived = (piece: string): Command[] => {
    const commands = JSON.parse(piece) as Command[];
    while (commands.length < start.maxBatch) {
      const next = receiveMessageOnPort(port);
      if (next === undefined) break;
      commands.push(...(JSON.parse(next.message as string) as Command[]));
    }
    return commands;
  };
  port.on('message', (batch: string) => {
    if (batch === 'close') {
      clearTimeout(quiet);
      writer.close();
      port.postMessage('closed');
      port.close();
      return;
    }
    port.postMessage(JSON.stringify(writer.run(withArrived(batch))));
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
      return { error: { code: 'UNAVAILABLE', message: 'the store could not be read' }, fault: message };
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
    db.exec('COMMIT');
    port.postMessage(JSON.stringify(replies));
  });
}

function requirePort(): MessagePort {
  if (parentPort === null) throw new Error('this module runs in a worker thread');
  return parentPort;
}
