import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';

import { ParleyError } from '@parley/protocol';
import { FairQueue } from '@parley/store-rows';

import { Batches } from './batches.ts';
import { closeReader, openReader, openWriter } from './open-database.ts';
import { Reader } from './reader.ts';
import type { DatabaseSync } from './sqlite.ts';
import { isBusy } from './storage-fault.ts';
import type {
  Forgetting,
  Notice,
  Numbered,
  Opening,
  Reply,
  ThreadStart,
  WriterCall,
} from './thread-protocol.ts';
import { WordSearch } from './word-search.ts';

/** How long nobody must have written before the writer does what can wait in transactions of its own. */
const QUIET_MS = 200;

// Whoever starts this thread hands it just this.
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
  const queue = new FairQueue<[call: number, command: WriterCall]>();
  let calls = 0;
  const take = (piece: string): void => {
    // The hub's own port wrote it.
    const said = JSON.parse(piece) as WriterCall[] | Forgetting;
    if (!Array.isArray(said)) return batches.forgetKeys(said.forget_before);
    for (const command of said) queue.push(lineOf(command), [calls++, command]);
  };
  /** One commit is for what came while the last one was made, in fair turns: no workspace fills it alone. */
  const commit = (): void => {
    for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port))
      take(String(next.message));
    const taken = queue.take(start.maxBatch);
    const replies = batches.run(
      taken.map(({ item: [, command] }) => command),
      start.batchMs,
    );
    queue.giveBack(taken.slice(replies.length));
    const answers = replies.map((reply, i): Numbered => [taken[i]?.item[0] ?? 0, reply]);
    port.postMessage(JSON.stringify(answers));
  };
  port.on('message', (piece: string) => {
    if (piece === 'close') {
      clearTimeout(quiet);
      batches.close();
      port.postMessage('closed');
      port.close();
      return;
    }
    take(piece);
    // As long as somebody waits for an answer the end does not stand behind it.
    while (queue.size > 0) {
      commit();
      batches.fold();
    }
    rest(QUIET_MS);
  });
}

function lineOf(call: WriterCall): string {
  return typeof call === 'string' ? '' : call.caller.workspace_id;
}

type Answers = Record<string, (...args: unknown[]) => unknown>;
type Question = [name: string, ...args: unknown[]];

/** Answers from a connection that can only look; who asks names the methods of what answers. */
function serveQuestions(open: (db: DatabaseSync) => Reader | WordSearch): void {
  let db = openReader(start.path);
  // A question names one of its methods, of whatever it takes.
  let answers = open(db) as unknown as Answers;
  /** A connection that has failed is opened anew: whatever it is in the midst of ends with it. */
  let isBroken = false;
  let calls = 0;

  function refuse(error: unknown): Reply {
    const message = error instanceof Error ? error.message : String(error);
    const refused = { code: 'UNAVAILABLE', message: 'the store could not be read' } as const;
    return { error: { ...refused, details: { retry_after_ms: 1_000 } }, fault: message };
  }

  function ask([name, ...args]: Question): Reply {
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
      isBroken ||= !isBusy(error);
      return refuse(error);
    }
  }

  /** One read transaction: every answer of a batch is of the same moment. */
  function answer(questions: readonly Question[]): Reply[] {
    try {
      if (isBroken) {
        closeReader(db);
        db = openReader(start.path);
        // As above.
        answers = open(db) as unknown as Answers;
        isBroken = false;
      }
      db.exec('BEGIN');
      const replies = questions.map(ask);
      // An error of the disk ends it by itself.
      if (db.isTransaction) db.exec('COMMIT');
      return replies;
    } catch (error) {
      isBroken = true;
      return questions.map(() => refuse(error));
    }
  }

  port.on('message', (batch: string) => {
    if (batch === 'close') {
      closeReader(db);
      port.postMessage('closed');
      port.close();
      return;
    }
    // The hub's own port wrote it.
    const replies = answer(JSON.parse(batch) as Question[]);
    port.postMessage(JSON.stringify(replies.map((reply): Numbered => [calls++, reply])));
  });
}

function requirePort(): MessagePort {
  if (parentPort === null) throw new Error('this module runs in a worker thread');
  return parentPort;
}
