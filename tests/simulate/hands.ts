import type { EntryType } from '@parley/core';
import {
  type Ask,
  type Caller,
  type InputOf,
  type OperationName,
  type OutputOf,
  ParleyError,
} from '@parley/protocol';

import { DiskError } from './faulty-disk.ts';
import { type History, type Request, tokenOf } from './history.ts';
import type { Node } from './node.ts';
import { ACTORS, type Step, WORKSPACES } from './script.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The connection was lost: nobody knows what became of the call. */
export class Lost extends Error {}

/** The way to whatever node runs. */
export interface Way {
  /** The node that runs, once there is one. */
  up(): Promise<Node>;
  /** What a node answers, unless it dies first. */
  answer<T>(node: Node, run: Promise<T>): Promise<T>;
}

/** What somebody knows of a workspace because it was told. */
export interface Known {
  threads: string[];
  asks: Ask[];
  documents: string[];
}

/** How actors call the hub: they keep at what they want until they are told yes or no. */
export type Hands = ReturnType<typeof createHands>;

const ROLES = ['operator', 'orchestrator', 'worker', 'worker', 'worker'] as const;
/** Refusals that pass. */
export const PASSING: ReadonlySet<string> = new Set(['UNAVAILABLE', 'INTERNAL', 'RATE_LIMITED']);

/** The callers of all workspaces, and what they have in common. */
export function createHands(time: VirtualTime, way: Way, history: History) {
  const callers = WORKSPACES.map((workspace_id) =>
    ACTORS.map((agent_id, i): Caller => ({
      agent_id,
      workspace_id,
      role: ROLES[i] ?? 'worker',
      session_id: `${agent_id}-1`,
    })),
  );
  const known = WORKSPACES.map((): Known => ({ threads: [], asks: [], documents: [] }));

  const callerOf = (workspace: number, who: number): Caller => callers[workspace]?.[who] as Caller;
  const some = <T>(from: readonly T[], at: number): T | undefined => from[at % Math.max(1, from.length)];
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void time.after(ms, resolve));

  async function attempt<N extends OperationName>(
    who: Caller,
    name: N,
    input: InputOf<N>,
  ): Promise<OutputOf<N>> {
    const node = await way.up();
    history.calls += 1;
    const context = { request_id: `call-${history.calls}`, signal: new AbortController().signal };
    return (await way.answer(node, node.hub.call(who, name, input, context))) as OutputOf<N>;
  }

  /** Tries until it knows: the answer, or why not. */
  async function insist<T>(run: () => Promise<T>): Promise<{ answer: T } | { refusal: ParleyError }> {
    for (let tries = 0; ; tries++) {
      try {
        const answer = await run();
        history.acknowledged += 1;
        return { answer };
      } catch (error) {
        if (error instanceof ParleyError && !PASSING.has(error.code)) return { refusal: error };
        if (!(error instanceof ParleyError || error instanceof Lost || error instanceof DiskError))
          throw error;
        await wait(Math.min(60_000, 200 * 2 ** tries));
      }
    }
  }

  /** Writes under a key, and looks that a repeat is answered as the first was. */
  async function write<N extends OperationName>(
    step: Pick<Step, 'n'> & { workspace: number; who: number },
    type: EntryType,
    name: N,
    input: InputOf<N>,
    repeatMs = 0,
  ): Promise<OutputOf<N> | undefined> {
    const who = callerOf(step.workspace, step.who);
    const request = begin(who, step.n, type);
    const keyed = { ...input, idempotency_key: `key-${step.n}` };
    const found = await insist(() => attempt(who, name, keyed));
    if ('refusal' in found) {
      request.state = 'refused';
      return undefined;
    }
    const { answer } = found;
    request.state = 'acknowledged';
    if ('thread_id' in answer) request.thread_id = answer.thread_id;
    else if ('thread_id' in keyed) request.thread_id = keyed.thread_id as string;
    if ('seq' in answer) request.seq = answer.seq as number;
    if (repeatMs > 0) {
      await wait(repeatMs);
      const again = await insist(() => attempt(who, name, keyed));
      const [first, second] = [answer, 'answer' in again ? again.answer : again.refusal].map((one) =>
        JSON.stringify(one),
      );
      if (first !== second)
        history.isBroken('the same key, the same answer', `${request.token}: ${first} became ${second}`);
    }
    return answer;
  }

  function begin(who: Caller, n: number, type: EntryType): Request {
    const token = tokenOf(who.workspace_id, n);
    const request: Request = {
      token,
      workspace: who.workspace_id,
      sender: who.agent_id,
      type,
      state: 'pending',
    };
    history.requests.set(token, request);
    return request;
  }

  return {
    time,
    way,
    history,
    callerOf,
    knownIn: (workspace: number): Known => known[workspace] as Known,
    some,
    wait,
    attempt,
    insist,
    write,
    begin,
  };
}
