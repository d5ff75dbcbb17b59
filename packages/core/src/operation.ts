import type { Caller, OperationName, ParsedInputOf, Trace } from '@parley/protocol';

import type { Clock } from './clock.ts';
import { commandHead, type HeadPorts } from './command-head.ts';
import type { Command } from './commands.ts';
import type { AnswerOf, CallContext } from './gate.ts';

/** One thing the hub can do, with the ports that it names. */
export interface Operation<N extends OperationName, P> {
  /** Observers may only look. */
  authority: 'look' | 'act';
  run(deps: P, caller: Caller, input: ParsedInputOf<N>, context: CallContext): Promise<AnswerOf<N>>;
}

/** Keeps an operation's types tied to its contract by name. */
export function operation<N extends OperationName, P>(
  _name: N,
  definition: Operation<N, P>,
): Operation<N, P> {
  return definition;
}

/** What a command is stamped with. */
interface StampPorts extends HeadPorts {
  clock: Pick<Clock, 'now' | 'trusted'>;
  idempotencyWindowMs: number;
}

/** The head of a caller's command, with its key or the id of the event. */
export function stamp(
  deps: StampPorts,
  caller: Caller,
  scope: string,
  key: string | undefined,
  event_id?: string,
  trace?: Trace,
): Stamp {
  const head: Stamp = commandHead(deps, nameOf(caller));
  if (trace !== undefined) head.trace = trace;
  const fresh_after = deps.clock.trusted() - deps.idempotencyWindowMs;
  const { workspace_id } = caller;
  if (event_id !== undefined)
    head.idempotency = { scope: `${workspace_id} event`, key: event_id, fresh_after, about: scope };
  else if (key !== undefined) head.idempotency = { scope: `${workspace_id} ${scope}`, key, fresh_after };
  return head;
}

type Stamp = Pick<Command, 'caller' | 'now' | 'salt' | 'idempotency' | 'trace'>;

const namesByCaller = new WeakMap<Caller, Caller>();

/** Who calls, without the rest of the claims: it goes with every command. A caller is one object for all its calls. */
function nameOf(caller: Caller): Caller {
  let name = namesByCaller.get(caller);
  if (name === undefined) {
    const { agent_id, workspace_id, role, session_id } = caller;
    namesByCaller.set(caller, (name = { agent_id, workspace_id, role, session_id }));
  }
  return name;
}
