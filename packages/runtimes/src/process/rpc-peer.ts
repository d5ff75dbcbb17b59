import { RuntimeError } from '../runtime-error.ts';

export type RpcId = string | number;

/** Whatever a peer sends: nothing about it is certain. */
export type Loose = Record<string, unknown>;

/** An answer as it came, to whichever question. */
export interface RpcAnswer {
  id: RpcId;
  result?: unknown;
  error?: { code?: number; message: string; data?: unknown };
}

export interface RpcPeerOptions {
  write: (line: string) => void;
  /** Throws where no further question may be asked; answers are always given. */
  checkRoom: () => void;
  onRequest: (id: RpcId, method: string, params: Loose) => void;
  onNotification: (method: string, params: Loose) => void;
  /** An answer to a question that `request` did not ask. */
  onAnswer: (answer: RpcAnswer) => void;
  /** An answer to a question that was given up. */
  onLate: () => void;
  onGarbage: (line: string) => void;
}

/** JSON-RPC over lines, in both directions. */
export interface RpcPeer {
  take(line: string): void;
  /** The answer to a line that was too long to read is a failure, not a silence. */
  takeOversized(head: string): void;
  /** Asks and waits; throws REFUSED with the child's own error, TIMED_OUT, or what `failAll` was given. */
  request(method: string, params: Loose, timeoutMs: number): Promise<Loose>;
  /** The same for a question in the asker's own words: the answer is handed on whole, whatever it is. */
  call(method: string, params: unknown, patience: Patience): Promise<unknown>;
  /** Asks under an id of its own, whose answer comes to `onAnswer`. */
  ask(method: string, params: Loose): number;
  notify(method: string, params?: unknown): void;
  answer(id: RpcId, result: unknown): void;
  refuse(id: RpcId, code: number, message: string, data?: unknown): void;
  failAll(error: RuntimeError): void;
}

/** How long an answer is waited for. */
interface Patience {
  timeoutMs: number;
  /** Whoever asked wants it no longer: the question fails with ABORTED. */
  signal?: AbortSignal | undefined;
  /** Nobody waits for the answer to this question any more; the child may be told. */
  onGivenUp?: (id: number) => void;
}

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (error: RuntimeError) => void;
}

/** How many questions that were given up are known by their ids, so that a late answer is taken for nobody's. */
const KEPT_GIVEN_UP = 1_024;

/** Reads and writes JSON-RPC; what is no message is handed to `onGarbage` and otherwise ignored. */
export function createRpcPeer(options: RpcPeerOptions): RpcPeer {
  const waitingById = new Map<RpcId, Waiting>();
  const givenUp = new Set<RpcId>();
  let lastId = 0;
  const send = (message: Loose): void => options.write(JSON.stringify({ jsonrpc: '2.0', ...message }));

  function takeAnswer(answer: RpcAnswer): void {
    const waiting = waitingById.get(answer.id);
    if (givenUp.delete(answer.id)) return options.onLate();
    if (waiting === undefined) return options.onAnswer(answer);
    waitingById.delete(answer.id);
    const { error } = answer;
    if (error === undefined) waiting.resolve(answer.result);
    else waiting.reject(new RuntimeError('REFUSED', error.message, { childError: error }));
  }

  function call(method: string, params: unknown, patience: Patience): Promise<unknown> {
    const { timeoutMs, signal, onGivenUp } = patience;
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(aborted(method));
      options.checkRoom();
      const id = ++lastId;
      const giveUp = (error: RuntimeError): void => {
        waitingById.get(id)?.reject(error);
        waitingById.delete(id);
        givenUp.add(id);
        const [oldest] = givenUp;
        if (givenUp.size > KEPT_GIVEN_UP && oldest !== undefined) givenUp.delete(oldest);
        onGivenUp?.(id);
      };
      const timer = setTimeout(
        () => giveUp(new RuntimeError('TIMED_OUT', `no answer to ${method} within ${timeoutMs} ms`)),
        timeoutMs,
      );
      const onAbort = (): void => giveUp(aborted(method));
      const settled = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      waitingById.set(id, {
        resolve(result) {
          settled();
          resolve(result);
        },
        reject(error) {
          settled();
          reject(error);
        },
      });
      send({ id, method, ...(params === undefined ? {} : { params }) });
    });
  }

  return {
    take(line) {
      const message = parse(line);
      const id = message?.['id'];
      const method = message?.['method'];
      if (message === undefined) options.onGarbage(line);
      else if (typeof method === 'string') {
        const params = isObject(message['params']) ? message['params'] : {};
        if (isId(id)) options.onRequest(id, method, params);
        else options.onNotification(method, params);
      } else if (isId(id) && ('result' in message || 'error' in message)) {
        takeAnswer({ id, ...outcome(message) });
      } else options.onGarbage(line);
    },
    takeOversized(head) {
      const found = /^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d{1,15})\s*[,}]/.exec(head)?.[1];
      const id = found === undefined ? undefined : Number(found);
      const waiting = id === undefined ? undefined : waitingById.get(id);
      if (id === undefined || waiting === undefined) return;
      waitingById.delete(id);
      waiting.reject(new RuntimeError('ANSWER_TOO_LARGE', 'the answer is longer than the driver reads'));
    },
    async request(method, params, timeoutMs) {
      const result = await call(method, params, { timeoutMs });
      return isObject(result) ? result : {};
    },
    call,
    ask(method, params) {
      options.checkRoom();
      const id = ++lastId;
      send({ id, method, params });
      return id;
    },
    notify: (method, params) => send({ method, ...(params === undefined ? {} : { params }) }),
    answer: (id, result) => send({ id, result }),
    refuse: (id, code, message, data) =>
      send({ id, error: { code, message, ...(data === undefined ? {} : { data }) } }),
    failAll(error) {
      const all = [...waitingById.values()];
      waitingById.clear();
      for (const waiting of all) waiting.reject(error);
    },
  };
}

function aborted(method: string): RuntimeError {
  return new RuntimeError('ABORTED', `nobody waits for the answer to ${method} any more`);
}

function parse(line: string): Loose | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return isObject(message) ? message : undefined;
  } catch {
    return undefined;
  }
}

function outcome(message: Loose): Pick<RpcAnswer, 'result' | 'error'> {
  const error = message['error'];
  if (error === undefined || error === null) return { result: message['result'] };
  if (!isObject(error)) return { error: { message: JSON.stringify(error) } };
  const text = error['message'];
  return { error: { ...error, message: typeof text === 'string' ? text : 'no reason given' } };
}

/** True for a JSON object. */
export function isObject(value: unknown): value is Loose {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object under a key, or an empty one. */
export function objectAt(value: Loose, key: string): Loose {
  const inner = value[key];
  return isObject(inner) ? inner : {};
}

/** The text under a key, if it is one. */
export function textAt(value: Loose, key: string): string | undefined {
  const inner = value[key];
  return typeof inner === 'string' ? inner : undefined;
}

/** The number under a key, if it is one. */
export function numberAt(value: Loose, key: string): number | undefined {
  const inner = value[key];
  return typeof inner === 'number' ? inner : undefined;
}

// Zero is an id.
function isId(id: unknown): id is RpcId {
  return typeof id === 'string' || typeof id === 'number';
}
