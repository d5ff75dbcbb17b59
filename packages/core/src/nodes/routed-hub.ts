import { type Caller, type OperationName, ParleyError, type Trace } from '@parley/protocol';

import type { CallContext, Hub } from '../gate.ts';
import type { JobName, Leases } from '../leases/leases.ts';
import type { Nodes } from './nodes.ts';

/** What is done where its job is: the one that has it knows what is under way. */
const JOB_OF: Partial<Record<OperationName, JobName>> = {
  trigger_participant: 'wakes',
  check_reach: 'wakes',
  wait_for_wake: 'wakes',
};

const CALL = 'call';
/** A call ends by its own time; this bounds one whose node is lost without a word. */
const LONGEST_MS = 24 * 3_600_000;
/** While a job goes from one node to another its calls wait for so long. */
const WAIT_MS = 10_000;
const AGAIN_MS = 250;

interface Carried {
  caller: Caller;
  name: OperationName;
  input: unknown;
  request_id: string;
  trace?: Trace | undefined;
  deadline?: number | undefined;
}

/** The gate of this node, with what must be done at another carried there whole: it is let in, counted and recorded there. */
export function routeCalls(gate: Hub, { bus, calls }: Nodes, leases: Pick<Leases, 'ownerOf'>): Hub {
  calls.answer(CALL, (body, { signal }) => {
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    const { caller, name, input, request_id, trace, deadline } = body as Carried;
    const context: CallContext = { request_id, signal, ...(trace === undefined ? {} : { trace }) };
    if (deadline !== undefined) context.deadline = deadline;
    return gate.call(caller, name, input, context);
  });

  async function ownerOf(job: JobName, signal: AbortSignal): Promise<string> {
    for (let waited = 0; ; waited += AGAIN_MS) {
      const owner = await leases.ownerOf(job);
      if (owner !== undefined) return owner;
      if (waited >= WAIT_MS || signal.aborted)
        throw new ParleyError('UNAVAILABLE', `no node sees to ${job} now; retry`);
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
  }

  return {
    async call(caller, name, input, context) {
      const job = JOB_OF[name];
      if (job === undefined) return gate.call(caller, name, input, context);
      const { request_id, trace, deadline, signal } = context;
      const node = await ownerOf(job, signal);
      if (node === bus.node) return gate.call(caller, name, input, context);
      const carried: Carried = { caller, name, input, request_id, trace, deadline };
      // The node that answers runs the same operation, whose contract says what it gives.
      return (await calls.ask(node, CALL, carried, { timeoutMs: LONGEST_MS, signal })) as never;
    },
    acceptForLater: (...call) => gate.acceptForLater(...call),
  };
}
