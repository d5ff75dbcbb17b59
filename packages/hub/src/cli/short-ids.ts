import type { Client } from '@parley/client';
import { fieldsOf, LIMITS, type OutputOf, ParleyError } from '@parley/protocol';

/** A whole id as the hub gives it. */
const WHOLE = /^th_[0-9A-Za-z]{30}$/;
/** The letters that tell a thread: at the end of an id stands the mark of its workspace, before it chance. */
const SHORT = 6;
const MARK = 4;
/** Through more threads than these nobody looks for a few letters. */
const MOST = 20_000;

/** The id of a thread as a person reads and types it: at a terminal a few letters, in a pipe the whole of it. */
export function shownId(thread_id: string): string {
  return process.stdout.isTTY ? shortId(thread_id) : thread_id;
}

/** The few letters of an id that differ from thread to thread. */
export function shortId(thread_id: string): string {
  return WHOLE.test(thread_id) ? thread_id.slice(-SHORT - MARK, -MARK) : thread_id;
}

/** A client that takes a few letters of a thread's id wherever it takes the id: the first ones, the last, or the short form. */
export function withShortIds(client: Client): Client {
  const known = new Map<string, Promise<string>>();
  const whole = (word: string): Promise<string> => {
    const found = known.get(word) ?? resolveThread(client, word);
    known.set(word, found);
    return found;
  };
  return new Proxy(client, {
    get(target, name: keyof Client) {
      // What stands in a client is called with what the call takes.
      const method = target[name] as (...args: unknown[]) => unknown;
      if (name === 'follow')
        return async function* follow(word: string, ...rest: unknown[]) {
          const place = WHOLE.test(word) ? word : await whole(word);
          // It is `follow`, which gives messages one after another.
          yield* method(place, ...rest) as AsyncIterable<unknown>;
        };
      return (input: unknown, ...rest: unknown[]) => {
        const word = threadOf(input);
        if (word === undefined || WHOLE.test(word)) return method(input, ...rest);
        return whole(word).then((thread_id) => method({ ...fieldsOf(input), thread_id }, ...rest));
      };
    },
  });
}

function threadOf(input: unknown): string | undefined {
  const { thread_id } = fieldsOf(input);
  return typeof thread_id === 'string' ? thread_id : undefined;
}

/** The one thread whose id begins or ends so. */
async function resolveThread(client: Client, word: string): Promise<string> {
  const letters = word.replace(/^th_/, '').toUpperCase();
  if (!/^[0-9A-Z]{3,30}$/.test(letters))
    throw new ParleyError('NOT_FOUND', `there is no thread ${word}; see parley thread ls`);
  const fitting = new Set<string>();
  let before: string | null = '';
  for (let seen = 0; before !== null && seen < MOST;) {
    const page: OutputOf<'list_threads'> = await client.list_threads({
      limit: LIMITS.page_max,
      ...(before === '' ? {} : { before }),
    });
    for (const { thread_id } of page.threads) if (fits(thread_id, letters)) fitting.add(thread_id);
    seen += page.threads.length;
    before = page.next_before;
  }
  const [found, another] = fitting;
  if (found === undefined)
    throw new ParleyError('NOT_FOUND', `there is no thread ${word}; see parley thread ls`);
  if (another !== undefined)
    throw new ParleyError(
      'VALIDATION_ERROR',
      `${fitting.size} threads are called ${word}; give more of the id`,
    );
  return found;
}

function fits(thread_id: string, letters: string): boolean {
  const all = thread_id.slice(3).toUpperCase();
  return all.startsWith(letters) || all.endsWith(letters) || all.slice(0, -MARK).endsWith(letters);
}
