import type { Socket } from 'node:net';

import type { Entry, LiveLink, LiveUpdate, Quota } from '@parley/core';
import {
  type Claims,
  decodeLive,
  type JsonLimits,
  LiveError,
  type LiveMessage,
  toLiveError,
} from '@parley/protocol';
import type { WebSocket } from 'ws';

import { CLOSE } from './close-codes.ts';
import { eventOf, frameOf } from './frames.ts';
import type { Outgoing } from './outgoing.ts';
import type { Router } from './router.ts';
import type { Speaker, WireLink } from './speaker.ts';
import { droppedFrom, gapFrom, toMessage } from './to-wire.ts';

/** What all sockets share. */
export interface SocketContext {
  router: Router;
  outgoing: Outgoing;
  quota: Quota;
  /** Of an agent that has registered on its connection. */
  agentQuota: Quota;
  json: JsonLimits;
  now: () => number;
  sendBufferBytes: number;
  stuckMs: number;
  clientPings: number;
  /** Messages over the quota between two beats after which a connection is ended. */
  maxRefusals: number;
  /** Hears of each message that is being worked on. */
  work: (running: Promise<void>) => void;
  stopping: () => boolean;
}

/** Calls of one connection that may run at once. */
const MAX_RUNNING = 64;

/** Answers are never left out, but a peer that reads none of this much is not served further. */
const HARD_FACTOR = 4;

const OPEN = 1;

/** One WebSocket: decodes, counts, sends, and knows whether its peer still reads. */
export class SocketLink implements WireLink, Speaker {
  readonly caller: Claims;
  registered = false;
  readonly how = 'ws';
  readonly since: number;
  readonly #ws: WebSocket;
  readonly #socket: Socket;
  readonly #context: SocketContext;
  /** Something came since the last beat, or the peer was not asked yet. */
  #alive = true;
  #controls = 0;
  #refusals = 0;
  #running = 0;
  #missed = 0;
  #marks = 0;
  #flushed = 0;
  #movedAt = 0;
  #confirmations: { mark: number; received: () => void }[] | undefined;
  #drains: ((open: boolean) => void)[] | undefined;
  #ending: AbortController | undefined;

  constructor(ws: WebSocket, socket: Socket, caller: Claims, context: SocketContext) {
    this.caller = caller;
    this.since = context.now();
    this.#ws = ws;
    this.#socket = socket;
    this.#context = context;
    ws.on('message', (data: Buffer, isBinary) => this.#hear(data, isBinary));
    ws.on('ping', (data: Buffer) => this.#pinged(data));
    ws.on('pong', (data: Buffer) => this.#ponged(data));
    // The close that follows tells all there is to know.
    ws.on('error', () => {});
  }

  get listening(): boolean {
    return this.#ws.readyState === OPEN;
  }

  get full(): boolean {
    return this.#socket.writableLength > this.#context.sendBufferBytes;
  }

  get signal(): AbortSignal {
    this.#ending ??= new AbortController();
    if (!this.listening) this.#ending.abort();
    return this.#ending.signal;
  }

  link(): LiveLink {
    return this;
  }

  reply(message: LiveMessage): void {
    this.say(message);
  }

  send(update: LiveUpdate): void {
    this.say(toMessage(update));
  }

  say(message: LiveMessage): void {
    if (!this.listening) return;
    this.#socket.write(frameOf(message));
    if (this.#socket.writableLength > HARD_FACTOR * this.#context.sendBufferBytes) this.#ws.terminate();
  }

  offer(update: LiveUpdate): void {
    if (!this.full) return this.send(update);
    if (this.#missed++ === 0) void this.drained().then((open) => open && this.#tellMissed());
  }

  deliver(entry: Entry): boolean {
    if (this.full) return false;
    if (this.listening) this.#socket.write(frameOf(eventOf(entry)));
    return true;
  }

  fellBehind(threadId: string, missedFrom: number): void {
    this.#refuse(gapFrom(threadId, missedFrom));
  }

  dropped(threadId: string, why: unknown): void {
    this.#refuse(droppedFrom(threadId, why));
  }

  drained(): Promise<boolean> {
    if (!this.listening) return Promise.resolve(false);
    if (this.#socket.writableLength === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      if (this.#drains === undefined) {
        this.#drains = [];
        this.#socket.once('drain', () => this.#release(true));
      }
      this.#drains.push(resolve);
    });
  }

  /** A pong to a ping that was sent after a message proves that the message was received. */
  confirm(received: () => void): void {
    const mark = ++this.#marks;
    this.#confirmations ??= [];
    this.#confirmations.push({ mark, received });
    if (this.listening) this.#ws.ping(String(mark));
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason);
  }

  replaced(): void {
    this.close(CLOSE.replaced, 'this session has connected again');
  }

  terminate(): void {
    this.#ws.terminate();
  }

  /** Ends what runs for this connection. */
  abort(): void {
    this.#ending?.abort();
  }

  /** Called when the socket has closed. */
  ended(): void {
    this.#ending?.abort();
    this.#release(false);
  }

  /**
   * Asks the peer whether it lives, and ends the connection when it has not answered since it was asked last; without
   * `judging` it is only asked. A peer with a backlog cannot answer: it is judged by whether it reads at all.
   */
  beat(judging: boolean, now: number): void {
    this.#controls = 0;
    this.#refusals = 0;
    if (this.#socket.writableLength > 0) return this.#watchBacklog(judging, now);
    this.#movedAt = 0;
    if (judging && !this.#alive) return this.#ws.terminate();
    this.#alive = false;
    if (this.listening) this.#ws.ping();
  }

  #watchBacklog(judging: boolean, now: number): void {
    const flushed = this.#socket.bytesWritten - this.#socket.writableLength;
    if (!judging || this.#movedAt === 0 || flushed !== this.#flushed) {
      this.#flushed = flushed;
      this.#movedAt = now;
    } else if (now - this.#movedAt >= this.#context.stuckMs) {
      this.#ws.close(CLOSE.try_again, 'you do not read what is sent');
    }
    this.#alive = true;
  }

  #hear(data: Buffer, isBinary: boolean): void {
    this.#alive = true;
    const { router, json, now, stopping } = this.#context;
    const quota = this.registered ? this.#context.agentQuota : this.#context.quota;
    const { caller } = this;
    let message: LiveMessage | undefined;
    let fault: unknown;
    try {
      if (isBinary) throw new LiveError('INVALID_COMMAND', 'send text, not binary', { field: 'message' });
      message = decodeLive(data.toString('utf8'), json, now());
    } catch (error) {
      fault = error;
    }
    const answers = message !== undefined && router.isAnswer(caller, message);
    const wait = answers ? 0 : quota.take(`${caller.workspace_id} ${caller.agent_id}`);
    if (wait > 0) return this.#slowDown(wait, message?.id);
    if (message === undefined) return this.#refuse(fault);
    if (stopping() && !answers) return this.#exhausted(message, 'the hub is stopping', 'stopping');
    if (this.#running >= MAX_RUNNING)
      return this.#exhausted(message, 'too many of your calls are running', 'too_many_calls');
    this.#running++;
    this.#context.work(router.receive(this, message).finally(() => this.#running--));
  }

  #slowDown(wait: number, requestId: string | undefined): void {
    if (++this.#refusals > this.#context.maxRefusals)
      return this.close(CLOSE.policy, 'too many messages over the limit');
    const details = { reason: 'rate_limited', retry_after_ms: wait };
    const error = new LiveError('RESOURCE_EXHAUSTED', `too many messages; retry in ${wait} ms`, details);
    this.#refuse(error, requestId);
  }

  #exhausted({ id }: LiveMessage, text: string, reason: string): void {
    this.#refuse(new LiveError('RESOURCE_EXHAUSTED', text, { reason }), id);
  }

  #refuse(error: unknown, requestId?: string): void {
    this.say(this.#context.outgoing.error(toLiveError(error), this.caller.agent_id, requestId));
  }

  #pinged(data: Buffer): void {
    this.#alive = true;
    if (++this.#controls > this.#context.clientPings) this.close(CLOSE.policy, 'too many pings');
    else if (this.listening && !this.full) this.#ws.pong(data);
  }

  #ponged(data: Buffer): void {
    this.#alive = true;
    const mark = Number(data.toString('latin1'));
    const first = this.#confirmations?.[0];
    if (data.length === 0 || first === undefined || !(mark >= first.mark && mark <= this.#marks)) {
      if (++this.#controls > this.#context.clientPings) this.close(CLOSE.policy, 'too many pongs');
      return;
    }
    for (const { received } of this.#confirmations?.splice(0, mark - first.mark + 1) ?? []) received();
    if (this.#confirmations?.length === 0) this.#confirmations = undefined;
  }

  #release(open: boolean): void {
    const waiting = this.#drains ?? [];
    this.#drains = undefined;
    for (const resolve of waiting) resolve(open);
  }

  #tellMissed(): void {
    const details = { reason: 'gap', missed: this.#missed };
    this.#missed = 0;
    this.#refuse(
      new LiveError('RESOURCE_EXHAUSTED', 'you read too slowly and have missed live messages', details),
    );
  }
}
