import { ERROR_CODES, type ErrorCode, type ErrorDetails, ParleyError, isOneOf } from '@parley/protocol';

import { isRecorded, markRecorded } from '../recorded-errors.ts';
import type { Bus } from './bus.ts';
import type { Mirror } from './mirror.ts';

interface AskOptions {
  timeoutMs?: number | undefined;
  /** Gives up, and tells the one that was asked. */
  signal?: AbortSignal | undefined;
}

/** Questions from one node to another, each answered once or not at all. */
export interface NodeCalls {
  /** Asks one node; throws what it throws, and UNAVAILABLE where no answer comes: it may have done it. */
  ask(node: string, subject: string, body: unknown, options?: AskOptions): Promise<unknown>;
  /** Asks all the others; gives the answers of those that answer in time. */
  askAll(subject: string, body: unknown, options?: AskOptions): Promise<{ node: string; answer: unknown }[]>;
  /** Answers what others ask under a subject. */
  answer(
    subject: string,
    handler: (body: unknown, about: { from: string; signal: AbortSignal }) => unknown,
  ): void;
  close(): void;
}

const TIMEOUT_MS = 2_000;
/** A node that nobody hears has so long to be heard: it may have begun just now, or be gone already. */
const UNHEARD_MS = 5_000;
/** So many questions may be open at once. */
const MOST = 20_000;

const ASK = 'calls.ask';
const REPLY = 'calls.reply';
const CANCEL = 'calls.cancel';

interface Asked {
  id: number;
  subject: string;
  body: unknown;
}
type Replied = { id: number } & ({ answer: unknown } | { error: Refusal });
interface Refusal {
  code: ErrorCode;
  message: string;
  details?: ErrorDetails;
  /** The node that was asked has it on record. */
  recorded?: true;
}

interface Open {
  node: string;
  settle(reply: Replied): void;
  fail(why: string): void;
}

/** Puts questions and answers over the bus; what is asked of a node that is gone fails at once. */
export function createNodeCalls(deps: {
  bus: Bus;
  mirror: Pick<Mirror, 'nodes' | 'onGone'>;
  onFault: (error: unknown) => void;
  unheardMs?: number;
}): NodeCalls {
  const { bus, mirror, onFault, unheardMs = UNHEARD_MS } = deps;
  const open = new Map<number, Open>();
  const handlers = new Map<string, Parameters<NodeCalls['answer']>[1]>();
  /** What is being answered here, by asker and its number. */
  const running = new Map<string, AbortController>();
  let asked = 0;

  function ask(node: string, subject: string, body: unknown, options: AskOptions = {}): Promise<unknown> {
    const { timeoutMs = TIMEOUT_MS, signal } = options;
    if (open.size >= MOST) return Promise.reject(unavailable('too much is asked of other nodes'));
    if (signal?.aborted === true) return Promise.reject(unavailable('the caller has gone'));
    // What is said now is heard by nobody, and nobody would say that the node is gone: it may be so already.
    if (!bus.health().connected)
      return Promise.reject(unavailable('the other nodes are not heard now; retry'));
    const id = ++asked;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        bus.send(node, CANCEL, { id });
        one.fail('the caller has gone');
      };
      const timer = setTimeout(() => one.fail(`the node did not answer in ${timeoutMs} ms`), timeoutMs);
      const isHeard = (): boolean => mirror.nodes().includes(node);
      const unheard = isHeard()
        ? undefined
        : setTimeout(() => void (isHeard() || one.fail('the node is gone')), unheardMs);
      const end = (): void => {
        clearTimeout(timer);
        clearTimeout(unheard);
        signal?.removeEventListener('abort', leave);
        open.delete(id);
      };
      const one: Open = {
        node,
        settle(reply) {
          end();
          if ('error' in reply) reject(toError(reply.error));
          else resolve(reply.answer);
        },
        fail(why) {
          end();
          reject(unavailable(why));
        },
      };
      open.set(id, one);
      signal?.addEventListener('abort', leave);
      bus.send(node, ASK, { id, subject, body } satisfies Asked);
    });
  }

  async function run({ id, subject, body }: Asked, from: string): Promise<void> {
    const handler = handlers.get(subject);
    const name = `${from} ${id}`;
    const ending = new AbortController();
    running.set(name, ending);
    try {
      if (handler === undefined) throw unavailable(`this node does not answer ${subject}`);
      const answer = await handler(body, { from, signal: ending.signal });
      bus.send(from, REPLY, { id, answer } satisfies Replied);
    } catch (error) {
      if (!(error instanceof ParleyError)) onFault(error);
      bus.send(from, REPLY, { id, error: toRefusal(error) } satisfies Replied);
    } finally {
      running.delete(name);
    }
  }

  // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
  bus.subscribe(ASK, (body, from) => void run(body as Asked, from));
  bus.subscribe(REPLY, (body, from) => {
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    const reply = body as Replied;
    const one = open.get(reply.id);
    if (one?.node === from) one.settle(reply);
  });
  // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
  bus.subscribe(CANCEL, (body, from) => running.get(`${from} ${(body as Asked).id}`)?.abort());
  mirror.onGone((node) => {
    for (const one of open.values()) if (one.node === node) one.fail('the node is gone');
    for (const [name, ending] of running) if (name.startsWith(`${node} `)) ending.abort();
  });

  return {
    ask,
    async askAll(subject, body, options) {
      const nodes = mirror.nodes();
      const answers = await Promise.allSettled(nodes.map((node) => ask(node, subject, body, options)));
      return answers.flatMap((one, i) =>
        one.status === 'fulfilled' ? [{ node: nodes[i] ?? '', answer: one.value }] : [],
      );
    },
    answer: (subject, handler) => void handlers.set(subject, handler),
    close() {
      for (const one of open.values()) one.fail('the hub is stopping');
      for (const ending of running.values()) ending.abort();
    },
  };
}

function unavailable(message: string): ParleyError {
  return new ParleyError('UNAVAILABLE', message);
}

function toRefusal(error: unknown): Refusal {
  if (!(error instanceof ParleyError))
    return { code: 'INTERNAL', message: 'something went wrong inside the hub' };
  const { code, message, details } = error;
  return {
    code,
    message,
    ...(details === undefined ? {} : { details }),
    ...(isRecorded(error) ? { recorded: true } : {}),
  };
}

function toError({ code, message, details, recorded }: Refusal): ParleyError {
  const known = isOneOf(ERROR_CODES, code) ? code : 'INTERNAL';
  const error = new ParleyError(known, message, details);
  if (recorded === true) markRecorded(error);
  return error;
}
