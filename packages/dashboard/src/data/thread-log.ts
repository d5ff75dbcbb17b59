import type { ThreadEvent } from '@parley/protocol';
import { signal } from '@preact/signals';

import { call, newKey, read, wordsOf } from './api.ts';

/** Something said here that the hub has not confirmed yet. */
export interface Pending {
  key: string;
  text: string;
  reply_to?: string;
  /** Its place in the log, once it is known; the row goes when the event itself is there. */
  seq?: number;
  failed?: string;
}

const PAGE = 100;
/** So many entries the hub gives at once. */
const LIMIT = 200;

/** How many threads stay in memory. */
const KEPT = 8;

/**
 * A thread's log as far as it was fetched. Seqs have no holes, so that the list has all its rows from the start and
 * nothing is ever put before what somebody reads.
 */
export class ThreadLog {
  readonly id: string;
  readonly last = signal(-1);
  /** Moves when a row has come in. */
  readonly version = signal(0);
  readonly pending = signal<readonly Pending[]>([]);
  /** What was said from this page and called nobody, by seq. */
  readonly calledNobody = new Set<number>();
  readonly #rows = new Map<number, ThreadEvent>();
  /** Pages that are on their way. */
  readonly #asked = new Map<number, Promise<void>>();

  constructor(id: string) {
    this.id = id;
  }

  row(seq: number): ThreadEvent | undefined {
    return this.#rows.get(seq);
  }

  byId(id: string): ThreadEvent | undefined {
    for (const event of this.#rows.values()) if (event.id === id) return event;
    return undefined;
  }

  add(event: ThreadEvent): void {
    const { seq } = event.meta;
    if (seq === undefined) return;
    this.#rows.set(seq, event);
    this.last.value = Math.max(this.last.peek(), seq);
    this.#settle();
  }

  /** What was on its way and is among the rows now, stands there once. */
  #settle(): void {
    const left = this.pending.peek().filter((one) => one.seq === undefined || !this.#rows.has(one.seq));
    if (left.length !== this.pending.peek().length) this.pending.value = left;
    this.version.value++;
  }

  /** The log is at least this long: what is not here yet is fetched when it comes into sight. */
  reach(seq: number): void {
    if (seq > this.last.peek()) this.last.value = seq;
  }

  /** Fetches the pages in which these rows stand. */
  async ensure(first: number, final: number): Promise<void> {
    const wanted: [from: number, to: number][] = [];
    const under: Promise<void>[] = [];
    for (let page = Math.floor(Math.max(0, first) / PAGE); page * PAGE <= final; page++) {
      if (this.#whole(page)) continue;
      const asked = this.#asked.get(page);
      if (asked !== undefined) {
        under.push(asked);
        continue;
      }
      const before = wanted.at(-1);
      // Neighbours come with one request.
      if (before?.[1] === page - 1) before[1] = page;
      else wanted.push([page, page]);
    }
    await Promise.all([...under, ...wanted.map(([from, to]) => this.#ask(from, to))]);
    // The thread may have grown while a page was on its way.
    if (under.length > 0) await this.ensure(first, final);
  }

  #ask(from: number, to: number): Promise<void> {
    const pages = Array.from({ length: to - from + 1 }, (_, at) => from + at);
    const asked = this.#fetch(from, to).finally(() => {
      for (const page of pages) this.#asked.delete(page);
    });
    for (const page of pages) this.#asked.set(page, asked);
    return asked;
  }

  #whole(page: number): boolean {
    const end = Math.min((page + 1) * PAGE - 1, this.last.peek());
    for (let seq = page * PAGE; seq <= end; seq++) if (!this.#rows.has(seq)) return false;
    return true;
  }

  async #fetch(from: number, to: number): Promise<void> {
    const end = (to + 1) * PAGE - 1;
    for (let after = from * PAGE - 1; after < end;) {
      const since = after < 0 ? '' : `&since_seq=${after}`;
      const limit = Math.min(LIMIT, end - after);
      const path = `/v1/threads/${encodeURIComponent(this.id)}/events?limit=${limit}${since}`;
      const { events, has_more } = await read<{ events: ThreadEvent[]; has_more: boolean }>(path);
      for (const event of events) this.#rows.set(event.meta.seq ?? 0, event);
      after = events.at(-1)?.meta.seq ?? end;
      this.reach(Math.min(after, end));
      if (!has_more) break;
    }
    this.#settle();
  }

  /** Shows a message at once and sends it; the row is marked until the hub has it. */
  async say(text: string, replyTo?: string): Promise<void> {
    const one: Pending = { key: newKey(), text, ...(replyTo === undefined ? {} : { reply_to: replyTo }) };
    this.pending.value = [...this.pending.peek(), one];
    await this.send(one);
  }

  /** Sends a message, or sends it again: with the same key it is posted once. */
  async send({ failed: _failed, ...one }: Pending): Promise<void> {
    this.#update(one);
    try {
      const { seq, called, not_called } = await call('post_message', {
        thread_id: this.id,
        schema_version: 1,
        body: one.text,
        idempotency_key: one.key,
        ...(one.reply_to === undefined ? {} : { in_reply_to: one.reply_to }),
      });
      if (called.length === 0 && not_called.length > 0) this.calledNobody.add(seq);
      this.#update({ ...one, seq });
      this.#settle();
    } catch (error) {
      this.#update({ ...one, failed: wordsOf(error) });
    }
  }

  drop(key: string): void {
    this.pending.value = this.pending.peek().filter((one) => one.key !== key);
  }

  #update(next: Pending): void {
    this.pending.value = this.pending.peek().map((one) => (one.key === next.key ? next : one));
  }
}

const logs = new Map<string, ThreadLog>();

/** The log of a thread, kept while it is among those looked at last. */
export function threadLog(id: string): ThreadLog {
  const log = logs.get(id) ?? new ThreadLog(id);
  logs.delete(id);
  logs.set(id, log);
  const oldest = logs.size > KEPT ? logs.keys().next().value : undefined;
  if (oldest !== undefined) logs.delete(oldest);
  return log;
}

/** The log of a thread that somebody has looked at. */
export function openLog(id: string): ThreadLog | undefined {
  return logs.get(id);
}
