import { abortReason } from '@parley/protocol';
import { RPC, rpcError, RpcError } from '../errors.ts';
import type { Log } from '../logger.ts';
import { createFrameReader, type Frame, type Framing } from './frame-reader.ts';
import type { FrameWriter } from './frame-writer.ts';
import { faultOf, type Incoming, type Params, readMessage, type RpcFault, type RpcId } from './message.ts';

/** One request of the client; `signal` tells that the client no longer wants the answer. */
export interface UpstreamCall {
  id: RpcId;
  method: string;
  params: Params;
  signal: AbortSignal;
}

export interface UpstreamDeps {
  writer: FrameWriter;
  maxMessageBytes: number;
  /** What it returns is the result; what it throws is the error. */
  answer: (call: UpstreamCall) => Promise<unknown>;
  hear: (method: string, params: Params) => void;
  /** Sees every message as it came, whole. */
  onMessage?: (bytes: Uint8Array) => void;
  /** True where the revision that was agreed on has batches. */
  allowsBatch?: () => boolean;
  log: Log;
}

/** The other side's answer to a request of ours. */
export type UpstreamAnswer = { result: unknown } | { error: RpcFault };

/** The connection to the client. */
export interface Upstream {
  receive(chunk: Uint8Array): void;
  /** The input ended; requests still running are answered if the client can yet hear it. */
  end(): void;
  /** False when it was dropped. */
  notify(method: string, params: Params): boolean;
  /** Aborting it withdraws the request; the promise then rejects. */
  ask(method: string, params: Params, signal: AbortSignal): Promise<UpstreamAnswer>;
  pending(): number;
}

const MOST_PENDING = 4_096;

/** Answers every request exactly once, in the framing in which it came. */
export function createUpstream(deps: UpstreamDeps): Upstream {
  const { writer, maxMessageBytes, answer, hear, onMessage, allowsBatch = () => false, log } = deps;
  const reader = createFrameReader(maxMessageBytes);
  const running = new Map<RpcId, AbortController>();
  const asked = new Map<RpcId, (given: UpstreamAnswer) => void>();
  let framing: Framing = 'line';
  let asks = 0;

  const failed = (id: RpcId, error: RpcError): object => ({ id, error: faultOf(error) });

  const run = async ({ id, method, params }: Incoming & { kind: 'request' }): Promise<object> => {
    if (running.has(id))
      return failed(id, rpcError(RPC.invalidRequest, 'Invalid request: the id is still in use'));
    if (running.size >= MOST_PENDING) return failed(id, rpcError(RPC.internal, 'Too many requests at once'));
    const controller = new AbortController();
    running.set(id, controller);
    let reply: object;
    try {
      reply = { id, result: await answer({ id, method, params, signal: controller.signal }) };
    } catch (error) {
      if (!(error instanceof RpcError)) log('error', 'a request failed', { method, error: String(error) });
      reply = failed(id, error instanceof RpcError ? error : rpcError(RPC.internal, 'Internal error'));
    }
    running.delete(id);
    log('debug', 'a request was answered', { id, method, failed: 'error' in reply });
    return reply;
  };

  /** Settles with the answer, where one is due. */
  const take = async (message: Incoming): Promise<object | undefined> => {
    // Each kind has some of these.
    const { kind, id, method } = message as { kind: string; id?: RpcId; method?: string };
    log('debug', 'the client sent a message', { kind, id, method });
    switch (message.kind) {
      case 'request':
        return run(message);
      case 'notification':
        if (message.method === 'notifications/cancelled') {
          // What is no id of a call is found nowhere.
          running.get(message.params['requestId'] as RpcId)?.abort(message.params['reason']);
        } else hear(message.method, message.params);
        return undefined;
      case 'response': {
        const settle = asked.get(message.id);
        if (settle === undefined) log('warn', 'an answer to no question was ignored', { id: message.id });
        settle?.(message.error === undefined ? { result: message.result } : { error: message.error });
        return undefined;
      }
      case 'invalid':
        break;
    }
    return { id: message.id, error: message.error };
  };

  /** The answers to a batch go together, once the last is there. */
  const takeBatch = async (messages: readonly Incoming[], how: Framing): Promise<void> => {
    const replies = await Promise.all(messages.map(take));
    const due = replies.filter((reply) => reply !== undefined);
    if (due.length > 0) writer.send(due, how);
  };
  const takeOne = async (message: Incoming, how: Framing): Promise<void> => {
    const reply = await take(message);
    if (reply !== undefined) writer.send(reply, how);
  };

  const takeAll = (frames: readonly Frame[]): void => {
    for (const frame of frames) {
      framing = frame.framing;
      if ('fault' in frame) {
        writer.send(failed(null, rpcError(RPC.parseError, `Parse error: ${frame.fault}`)), framing);
        continue;
      }
      onMessage?.(frame.bytes);
      const message = readMessage(frame.bytes, allowsBatch());
      void (Array.isArray(message) ? takeBatch(message, framing) : takeOne(message, framing));
    }
  };

  return {
    receive: (chunk) => takeAll(reader.push(chunk)),
    end: () => takeAll(reader.end()),
    notify: (method, params) => writer.offer({ method, params }, framing),
    pending: () => running.size,
    ask(method, params, signal) {
      const id = `atm-${++asks}`;
      return new Promise((resolve, reject) => {
        const withdraw = (): void => {
          asked.delete(id);
          writer.offer({ method: 'notifications/cancelled', params: { requestId: id } }, framing);
          reject(abortReason(signal));
        };
        if (signal.aborted) return reject(abortReason(signal));
        signal.addEventListener('abort', withdraw, { once: true });
        asked.set(id, (given) => {
          asked.delete(id);
          signal.removeEventListener('abort', withdraw);
          resolve(given);
        });
        writer.send({ id, method, params }, framing);
      });
    },
  };
}
