import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import type { AnswerOf, CallContext } from '@parley/core';
import {
  CONTRACTS,
  ERROR_CODES,
  type ErrorCode,
  type ErrorDetails,
  LIMITS,
  type OperationName,
  ParleyError,
  fieldsOf,
  isFields,
} from '@parley/protocol';

import { type Deprecations, type Ending, readEnding } from '../../../deprecations.ts';
import type { TokenSource } from '../../../auth/token-source.ts';
import { openRequest } from '../../../open-request.ts';
import type { CallerHub } from '../caller-hub.ts';

/** The hub to talk to: where it is now, and what to do when it has gone. */
export interface RemoteHub {
  url(): Promise<string>;
  /** Called when the hub at this address no longer answers. */
  lost(url: string): void;
}

/** An error that another process gave, with the id under which its log has it. */
class RemoteError extends ParleyError {
  readonly request_id: string;

  constructor(code: ErrorCode, message: string, requestId: string, details: ErrorDetails | undefined) {
    super(code, message, details);
    this.request_id = requestId;
  }
}

/** The hub has gone; `unsent` when it cannot have seen the request. */
class ConnectionLost extends Error {
  readonly unsent: boolean;

  constructor(unsent: boolean) {
    super('the hub has gone');
    this.unsent = unsent;
  }
}

const PROGRESS_MS = 10_000;
const GROWTH_WAIT_MS = 60_000;
const RETRY_MS = 1_000;

/** The operations of a hub in another process, over `/v1`; a hub that has gone is replaced and asked once more. */
export function createRemoteCaller(
  hub: RemoteHub,
  tokens: TokenSource,
): CallerHub & Pick<Deprecations, 'of'> {
  /** What the answers of the hub have said so far of operations that are to end. */
  const endings = new Map<OperationName, Ending>();

  async function attempt<N extends OperationName>(name: N, input: unknown, context: CallContext) {
    const url = await hub.url();
    try {
      const heard = (headers: IncomingHttpHeaders): void => {
        const ending = readEnding(name, headers);
        if (ending === undefined) endings.delete(name);
        else endings.set(name, ending);
      };
      return await post<AnswerOf<N>>(`${url}/v1/${name}`, await tokens.get(), input, context.signal, heard);
    } catch (error) {
      if (error instanceof ConnectionLost) hub.lost(url);
      throw error;
    }
  }

  async function call<N extends OperationName>(name: N, input: unknown, context: CallContext) {
    try {
      return await attempt(name, input, context);
    } catch (error) {
      if (!mayRepeat(error, name, input, tokens)) throw explain(error);
    }
    try {
      return await attempt(name, input, context);
    } catch (error) {
      throw explain(error);
    }
  }

  return {
    of: (name) => endings.get(name),
    async call(name, input, context) {
      const ticker = setInterval(() => context.progress?.(`${name} is waiting`), PROGRESS_MS);
      try {
        return await call(name, input, context);
      } finally {
        clearInterval(ticker);
      }
    },
    async *growth(threadId, after, signal) {
      let position = after;
      while (!signal.aborted) {
        const reached = await waitBeyond(threadId, position, signal);
        if (reached > position) yield (position = reached);
      }
    },
  };

  /** The thread's position after one long poll; a hub that is away for a moment is asked again later. */
  async function waitBeyond(threadId: string, position: number, signal: AbortSignal): Promise<number> {
    const since = { thread_id: threadId, since_seq: position, limit: LIMITS.page_max };
    try {
      const input = { ...since, timeout_ms: GROWTH_WAIT_MS };
      const page = await call('wait_for_messages', input, { request_id: '', signal });
      return page.next_seq;
    } catch (error) {
      const isAway = error instanceof ParleyError && error.code === 'UNAVAILABLE';
      if (!isAway && !signal.aborted) throw error;
      await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
      return position;
    }
  }
}

/** A refused token changed nothing; a lost call may be sent again when it cannot have happened, or not twice. */
function mayRepeat(error: unknown, name: OperationName, input: unknown, tokens: TokenSource): boolean {
  if (error instanceof RemoteError && error.code === 'UNAUTHORIZED') return tokens.refused();
  if (!(error instanceof ConnectionLost)) return false;
  const key = fieldsOf(input)['idempotency_key'];
  return error.unsent || CONTRACTS[name].annotations.readOnlyHint || typeof key === 'string';
}

function explain(error: unknown): unknown {
  if (!(error instanceof ConnectionLost)) return error;
  return new ParleyError(
    'UNAVAILABLE',
    error.unsent
      ? 'no hub answers; nothing was sent'
      : 'the hub went away before it answered: this may or may not have happened. Look before you repeat it, and give writes an idempotency_key, so that they are repeated safely',
  );
}

/** Asks a hub of this user; its answer is taken at its word. */
function post<A>(
  url: string,
  token: string,
  input: unknown,
  signal: AbortSignal,
  heard: (headers: IncomingHttpHeaders) => void,
): Promise<A> {
  const body = JSON.stringify(input);
  return new Promise((resolve, reject) => {
    let connected = false;
    const request = openRequest(url, {
      method: 'POST',
      signal,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    });
    const lose = (): void => {
      if (signal.aborted) reject(new ParleyError('UNAVAILABLE', 'the call was given up'));
      else reject(new ConnectionLost(!connected));
    };
    request.on('socket', (socket) => socket.once('connect', () => (connected = true)));
    request.on('error', lose);
    request.on('response', (response) => {
      heard(response.headers);
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', lose);
      response.on('end', () => {
        try {
          const answer: unknown = JSON.parse(Buffer.concat(chunks).toString());
          // As is said above.
          if (response.statusCode === 200) resolve(answer as A);
          else reject(toError(fieldsOf(answer)['error']));
        } catch {
          reject(
            new ParleyError(
              'INTERNAL',
              `the hub answered ${response.statusCode} with something else than JSON`,
            ),
          );
        }
      });
    });
    request.end(body);
  });
}

function toError(error: unknown): RemoteError {
  const { code, message, request_id, details } = fieldsOf(error);
  const known = ERROR_CODES.find((candidate) => candidate === code) ?? 'INTERNAL';
  return new RemoteError(
    known,
    typeof message === 'string' ? message : 'the hub refused without a word',
    typeof request_id === 'string' ? request_id : '',
    isFields(details) ? details : undefined,
  );
}
