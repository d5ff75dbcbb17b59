import { randomBytes } from 'node:crypto';

import { canonicalJson, fieldsOf, abortReason } from '@parley/protocol';

import { invalidParams } from '../errors.ts';
import type { Params, RpcId } from '../wire/message.ts';
import type { UpstreamAnswer } from '../wire/upstream.ts';
import { canBeAsked } from './revision.ts';

/** Who waits for a turn. */
export interface Caller {
  signal: AbortSignal;
  /** The request that waits for it now. */
  requestId(): RpcId;
  /** The turn is this session's. */
  forAgent(agentId: string): void;
}

/** A tool call as the client made it. */
interface IncomingCall {
  id: RpcId;
  params: Params;
  signal: AbortSignal;
}

/**
 * Tool calls of a client that cannot be asked anything but in their answers: a call whose agent has a question is
 * answered with it, and goes on when it is made again with what was answered.
 */
export interface PausedCalls {
  run(call: IncomingCall, start: (caller: Caller) => Promise<unknown>): Promise<unknown>;
  /** Asks with the answer to whichever call of that agent waits, now or later. */
  ask(agentId: string, params: Params, signal: AbortSignal): Promise<UpstreamAnswer>;
}

interface PausedCall {
  /** The tool and its arguments: the same again, or it is another call. */
  binding: string;
  /** Of the last time that it was made. */
  id: RpcId;
  agents: Set<string>;
  controller: AbortController;
  canAsk: boolean;
  outcome: Promise<unknown>;
  isDone: boolean;
  wake: () => void;
}

interface Question {
  agentId: string;
  params: Params;
  answer: (given: UpstreamAnswer) => void;
}

/**
 * The state that the client hands back is a random name, good once, for the same call and for `keepMs`: the turn
 * itself goes on here, so nothing of it needs to travel.
 */
export function createPausedCalls(keepMs: number): PausedCalls {
  const calls = new Set<PausedCall>();
  const pausedByState = new Map<string, PausedCall>();
  const questions = new Map<string, Question>();
  let lastQuestion = 0;

  const questionsOf = ({ agents }: PausedCall): [string, Question][] =>
    [...questions].filter(([, { agentId }]) => agents.has(agentId));

  function begin({ id, params }: IncomingCall, start: (caller: Caller) => Promise<unknown>): PausedCall {
    const controller = new AbortController();
    const call: PausedCall = {
      id,
      binding: bindingOf(params),
      agents: new Set(),
      controller,
      canAsk: canBeAsked(params),
      outcome: Promise.resolve(),
      isDone: false,
      wake: () => {},
    };
    calls.add(call);
    const forAgent = (agentId: string): void => void call.agents.add(agentId);
    call.outcome = start({ signal: controller.signal, requestId: () => call.id, forAgent }).finally(() => {
      call.isDone = true;
      calls.delete(call);
      call.wake();
    });
    // Nobody may be waiting when it fails.
    call.outcome.catch(() => {});
    return call;
  }

  function takeUp({ id: madeAgain, params }: IncomingCall): PausedCall {
    const { requestState, inputResponses } = params;
    const call = typeof requestState === 'string' ? pausedByState.get(requestState) : undefined;
    if (call === undefined || call.binding !== bindingOf(params))
      throw invalidParams('requestState is altered, used, expired or of another call');
    pausedByState.delete(String(requestState));
    call.id = madeAgain;
    const given = fieldsOf(inputResponses);
    for (const [id, { answer }] of questionsOf(call))
      if (Object.hasOwn(given, id)) answer({ result: given[id] });
    return call;
  }

  function pause(call: PausedCall, open: [string, Question][]): Params {
    const requestState = randomBytes(32).toString('base64url');
    pausedByState.set(requestState, call);
    setTimeout(() => pausedByState.delete(requestState), keepMs).unref();
    const asked = open.map(([id, { params }]) => [
      id,
      { method: 'elicitation/create', params: { mode: 'form', ...params } },
    ]);
    return { resultType: 'input_required', inputRequests: Object.fromEntries(asked), requestState };
  }

  async function wait(call: PausedCall): Promise<unknown> {
    for (;;) {
      if (call.isDone) return call.outcome;
      const open = questionsOf(call);
      if (open.length > 0) return pause(call, open);
      await new Promise<void>((resolve) => (call.wake = resolve));
    }
  }

  return {
    async run(incoming, start) {
      const { params, signal } = incoming;
      const call = params['requestState'] === undefined ? begin(incoming, start) : takeUp(incoming);
      const cancel = (): void => call.controller.abort(signal.reason);
      signal.addEventListener('abort', cancel, { once: true });
      if (signal.aborted) cancel();
      try {
        return await wait(call);
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },
    ask(agentId, params, signal) {
      const id = `approval-${++lastQuestion}`;
      return new Promise((resolve, reject) => {
        const concerned = [...calls].filter(({ agents }) => agents.has(agentId));
        if (concerned.length > 0 && concerned.every(({ canAsk }) => !canAsk))
          return reject(new Error('the client cannot be asked'));
        const withdraw = (): void => {
          questions.delete(id);
          reject(abortReason(signal));
        };
        if (signal.aborted) return reject(abortReason(signal));
        signal.addEventListener('abort', withdraw, { once: true });
        const answer = (given: UpstreamAnswer): void => {
          questions.delete(id);
          signal.removeEventListener('abort', withdraw);
          resolve(given);
        };
        questions.set(id, { agentId, params, answer });
        for (const { wake } of concerned) wake();
      });
    },
  };
}

function bindingOf({ name, arguments: args }: Params): string {
  return canonicalJson([name, args ?? {}]);
}
