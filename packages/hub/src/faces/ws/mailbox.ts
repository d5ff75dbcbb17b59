import { randomBytes } from 'node:crypto';

import type { Entry, LiveUpdate } from '@parley/core';
import { type Claims, LiveError, type LiveMessage } from '@parley/protocol';

import { CLOSE } from './close-codes.ts';
import { eventOf } from './frames.ts';
import type { Outgoing } from './outgoing.ts';
import type { WireLink } from './speaker.ts';
import { droppedFrom, gapFrom, toMessage } from './to-wire.ts';

/** A message that waits to be fetched. */
export interface MailboxMessage {
  /** Where it stands; opaque to clients. */
  cursor: string;
  message: LiveMessage;
}

export interface MailboxOptions {
  outgoing: Outgoing;
  maxMessages: number;
  maxBytes: number;
}

/** What a client without a socket is sent, kept until it fetches it: the other kind of connection. */
export class Mailbox implements WireLink {
  readonly caller: Claims;
  registered = false;
  readonly how = 'http';
  readonly since: number;
  /** When it was last fetched. */
  seenAt: number;
  /** Set when it has ended, to say why. */
  closed: string | undefined;
  readonly #options: MailboxOptions;
  readonly #epoch = randomBytes(6).toString('base64url');
  readonly #queue: { n: number; bytes: number; message: LiveMessage }[] = [];
  #count = 0;
  #bytes = 0;
  #missed = 0;
  #waiting: (() => void)[] = [];
  #drains: ((open: boolean) => void)[] = [];
  #confirmations: { n: number; received: () => void }[] = [];

  constructor(caller: Claims, seenAt: number, options: MailboxOptions) {
    this.caller = caller;
    this.since = seenAt;
    this.seenAt = seenAt;
    this.#options = options;
  }

  get listening(): boolean {
    return this.closed === undefined;
  }

  get full(): boolean {
    const { maxMessages, maxBytes } = this.#options;
    return this.#queue.length >= maxMessages || this.#bytes >= maxBytes;
  }

  send(update: LiveUpdate): void {
    this.say(toMessage(update));
  }

  /** Answers are kept even when it is full, but what would double it is dropped and told of. */
  say(message: LiveMessage): void {
    if (this.closed !== undefined) return;
    const { maxMessages, maxBytes } = this.#options;
    if (this.#queue.length >= 2 * maxMessages || this.#bytes >= 2 * maxBytes) {
      this.#missed++;
      return;
    }
    const bytes = Buffer.byteLength(JSON.stringify(message));
    this.#queue.push({ n: ++this.#count, bytes, message });
    this.#bytes += bytes;
    this.#wake();
  }

  offer(update: LiveUpdate): void {
    if (this.full) this.#missed++;
    else this.send(update);
  }

  deliver(entry: Entry): boolean {
    if (this.full) return false;
    this.say(eventOf(entry));
    return true;
  }

  fellBehind(threadId: string, missedFrom: number): void {
    this.#refuse(gapFrom(threadId, missedFrom));
  }

  dropped(threadId: string, why: unknown): void {
    this.#refuse(droppedFrom(threadId, why));
  }

  drained(): Promise<boolean> {
    if (this.closed !== undefined) return Promise.resolve(false);
    if (!this.full) return Promise.resolve(true);
    return new Promise((resolve) => this.#drains.push(resolve));
  }

  confirm(received: () => void): void {
    this.#confirmations.push({ n: this.#count, received });
  }

  replaced(): void {
    this.close(CLOSE.replaced, 'this session has connected again');
  }

  close(_code: number, reason: string): void {
    this.closed ??= reason;
    this.#wake();
    for (const resolve of this.#drains.splice(0)) resolve(false);
  }

  /** Forgets what the client says it has. */
  acknowledge(cursor: string | undefined): void {
    const [epoch, text = ''] = (cursor ?? '').split('.');
    const n = Number(text);
    if (epoch !== this.#epoch || !Number.isSafeInteger(n)) return;
    while ((this.#queue[0]?.n ?? Infinity) <= n) this.#bytes -= this.#queue.shift()?.bytes ?? 0;
    while ((this.#confirmations[0]?.n ?? Infinity) <= n) this.#confirmations.shift()?.received();
    if (this.full) return;
    if (this.#missed > 0) this.#tellMissed();
    for (const resolve of this.#drains.splice(0)) resolve(true);
  }

  /** What waits after a cursor. */
  messagesAfter(cursor: string | undefined): MailboxMessage[] {
    const [epoch, text = ''] = (cursor ?? '').split('.');
    const after = epoch === this.#epoch ? Number(text) : 0;
    return this.#queue
      .filter(({ n }) => !(n <= after))
      .map(({ n, message }) => ({ cursor: `${this.#epoch}.${n}`, message }));
  }

  /** The cursor of one who has everything. */
  get head(): string {
    return `${this.#epoch}.${this.#count}`;
  }

  /** Resolves when something new has come, the mailbox has ended, or the signal aborts. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted || this.closed !== undefined) return resolve();
      const done = (): void => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.push(done);
      signal.addEventListener('abort', done);
    });
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #tellMissed(): void {
    const details = { reason: 'gap', missed: this.#missed };
    this.#missed = 0;
    this.#refuse(
      new LiveError('RESOURCE_EXHAUSTED', 'you read too slowly and have missed live messages', details),
    );
  }

  #refuse(error: LiveError): void {
    this.say(this.#options.outgoing.error(error, this.caller.agent_id));
  }
}
