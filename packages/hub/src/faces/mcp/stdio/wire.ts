import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  type Transport,
} from '@modelcontextprotocol/server';
import { decodeJson, ParleyError } from '@parley/protocol';

import type { BodyLimits } from '../../../exchange.ts';

export interface WireOptions {
  input: Readable;
  output: Writable;
  limits: BodyLimits;
  /** Sees every request and notification before the server does, and may put another in its place. */
  onArrival: (message: JSONRPCRequest | JSONRPCNotification) => Promise<JSONRPCMessage> | JSONRPCMessage;
}

/** How long answers may still be written after the client has closed its end. */
const GRACE_MS = 10_000;
const NEWLINE = 0x0a;

/** JSON-RPC by lines on stdin and stdout, decoded as strictly as on HTTP. */
export class StdioWire implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** Resolves when the wire is closed, by either side. */
  readonly closed: Promise<void>;
  readonly #options: WireOptions;
  readonly #unanswered = new Set<string | number>();
  #close: () => void = () => {};
  #isClosed = false;
  #ended = false;
  #line: Buffer[] = [];
  #size = 0;

  constructor(options: WireOptions) {
    this.#options = options;
    this.closed = new Promise((resolve) => (this.#close = resolve));
  }

  async start(): Promise<void> {
    const { input } = this.#options;
    input.on('data', (chunk: Buffer) => this.#take(chunk));
    input.on('end', () => this.#end());
    input.on('close', () => this.#end());
    input.on('error', (error: Error) => this.onerror?.(error));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return;
    const { output } = this.#options;
    const isFree = output.write(`${JSON.stringify(message)}\n`);
    if ('id' in message && !('method' in message) && message.id !== undefined) this.#settle(message.id);
    if (!isFree) await once(output, 'drain');
  }

  /** Resolves when the client keeps up with what was written. */
  async drained(signal: AbortSignal): Promise<void> {
    if (this.#options.output.writableNeedDrain) await once(this.#options.output, 'drain', { signal });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#options.input.pause();
    this.onclose?.();
    this.#close();
  }

  /** What was asked before the client closed its end is still answered, for a while; a signal ends that. */
  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#unanswered.size === 0) void this.close();
    else setTimeout(() => void this.close(), GRACE_MS).unref();
  }

  #settle(id: string | number): void {
    this.#unanswered.delete(id);
    if (this.#ended && this.#unanswered.size === 0) void this.close();
  }

  #take(chunk: Buffer): void {
    let rest = chunk;
    for (let at = rest.indexOf(NEWLINE); at >= 0; at = rest.indexOf(NEWLINE)) {
      this.#keep(rest.subarray(0, at));
      this.#finishLine();
      rest = rest.subarray(at + 1);
    }
    this.#keep(rest);
  }

  /** Of a line beyond the bound only its length is kept. */
  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > this.#options.limits.bytes) this.#line = [];
    else if (part.length > 0) this.#line.push(part);
  }

  #finishLine(): void {
    const { limits } = this.#options;
    const line = Buffer.concat(this.#line);
    const size = this.#size;
    this.#line = [];
    this.#size = 0;
    if (size > limits.bytes) return this.#refuse(-32_600, `the message is larger than ${limits.bytes} bytes`);
    if (line.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09)) return;
    let message: unknown;
    try {
      message = decodeJson(line, limits);
    } catch (error) {
      const why = error instanceof ParleyError ? error.message : 'the JSON is malformed';
      return this.#refuse(-32_700, `Parse error: ${why}`);
    }
    if (Array.isArray(message)) return this.#refuse(-32_600, 'batches are not accepted');
    void this.#deliver(message);
  }

  async #deliver(message: unknown): Promise<void> {
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
      this.onmessage?.(message);
      return;
    }
    const isRequest = isJSONRPCRequest(message);
    if (!isRequest && !isJSONRPCNotification(message)) return this.#refuse(-32_600, 'not a JSON-RPC message');
    if (isRequest) this.#unanswered.add(message.id);
    const arrived = this.#options.onArrival(message);
    this.onmessage?.(arrived instanceof Promise ? await arrived : arrived);
  }

  #refuse(code: number, message: string): void {
    if (this.#isClosed) return;
    this.#options.output.write(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } })}\n`);
  }
}
