import {
  type Agent,
  type Caller,
  HUB_NAME,
  isOpaque,
  ParleyError,
  UNRECORDED_PARAMETERS,
} from '@parley/protocol';

import { requireCommander } from '../agents/require-commander.ts';
import {
  type CommandBody,
  type CommandOutcome,
  type CommandPort,
  type CommandRequest,
  type CommandResponse,
  isSealed,
  type Sealed,
  type Trouble,
  type Unanswered,
} from './command-port.ts';
import type { Link } from './link.ts';
import type { StatusOutcome, Updates } from './live-update.ts';
import type { Answer, OtherNodes } from './other-nodes.ts';
import type { Question, Questions } from './questions.ts';
import type { Registry } from './registry.ts';
import type { Roster } from './roster.ts';
import type { Statuses } from './statuses.ts';

export interface BrokerDeps {
  roster: Roster;
  questions: Questions;
  registry: Registry;
  statuses: Statuses;
  updates: Updates;
  /** Commands an agent may have in flight when its registration does not say. */
  maxConcurrent: number;
  others: () => Pick<OtherNodes, 'forward' | 'find' | 'answer'> | undefined;
  /** Hears what could not be put on record although it has happened. */
  onFault: (error: unknown) => void;
}

/** Carries to agents what is asked of them, and their answers to whoever asked. */
export interface Broker extends CommandPort {
  /** How an agent is: by its own word, or else what was last known of it. */
  status(caller: Caller, requestId: string, ofAgent: string): Promise<StatusOutcome>;
  /** The same as `command` for what another node has handed over: it goes no further. */
  commandHere(request: CommandRequest): Promise<CommandOutcome>;
  /** An agent answers what was asked of it here; false when nothing was. */
  answerHere(caller: Caller, answer: Answer): Promise<boolean>;
  /** An agent has done what it was asked; false when nothing of the kind was asked of it. */
  respond(caller: Caller, id: string, response: CommandResponse | Sealed): Promise<boolean>;
  /** An agent answers with an error; false when nothing was asked of it. */
  fail(caller: Caller, id: string, error: Trouble | Sealed): Promise<boolean>;
  /** The last connection of an agent is gone: the registry says how it is. */
  gone(caller: Caller): void;
  /** Who is meant: an agent that is connected, else whoever the name belongs to. */
  resolve(caller: Caller, name: string): Promise<string>;
}

/** Why a command is refused that does not say for which of several it is. */
const SEVERAL_SESSIONS = 'several_sessions';

/** What may be asked of one agent aside at once. */
const MOST_ASIDE = 32;

/** Status questions to one agent at once; more are answered from the registry. */
const STATUS_QUESTIONS = 64;

export function createBroker(deps: BrokerDeps): Broker {
  const { roster, questions, registry, statuses, updates, others } = deps;

  async function resolve(caller: Caller, name: string): Promise<string> {
    if (roster.of(caller.workspace_id).has(name)) return name;
    return registry.agentOf(caller, name);
  }

  /** Checked, put on record, then sent; the agent's answer comes later. */
  async function command(request: CommandRequest, mayForward: boolean): Promise<CommandOutcome> {
    const { caller, command_id, of_session, body } = request;
    requireCommander(caller);
    const target = await resolve(caller, request.of_agent);
    const before = questions.asked(caller, target, command_id);
    if (before !== undefined) return { ...(await outcomeOf<CommandOutcome>(before)), repeated: true };
    const name = isSealed(body) ? undefined : body.command;
    const takers = roster.takers(caller.workspace_id, target, name, of_session);
    const [link] = takers;
    const elsewhere = mayForward ? others() : undefined;
    if (link === undefined) {
      const node = await elsewhere?.find(caller, target, command_id);
      if (node === undefined || elsewhere === undefined) return notConnected(caller, target, of_session);
      return elsewhere.forward(node, { ...request, of_agent: target });
    }
    if (takers.length > 1) throw several(target, takers);
    if (link.node !== undefined && elsewhere !== undefined)
      return elsewhere.forward(link.node, {
        ...request,
        of_agent: target,
        of_session: link.caller.session_id,
      });
    const { agent_id, role: from_role } = caller;
    const question = questions.ask(
      {
        asker: caller,
        requestId: command_id,
        target,
        session: link.caller.session_id,
        // What may be done in its name depends on who asks; the agent cannot know it otherwise.
        asking: updates.make('command', agent_id, target, { from_role, body }),
        aside: request.aside === true,
      },
      request.timeout_ms,
    );
    try {
      await admit(request, question, link);
    } catch (error) {
      if (question.closed) return outcomeOf(question);
      questions.drop(question);
      question.end(toRefusal(error));
      throw error;
    }
    if (!question.closed) {
      question.ready = true;
      questions.deliver(caller.workspace_id, target);
    }
    return outcomeOf(question);
  }

  /** Refuses what the agent would not take, and puts the rest on record. */
  async function admit({ caller, command_id, body }: CommandRequest, question: Question, link: Link) {
    const { target } = question;
    const record = await registry.find(caller, target);
    const open = questions.open(caller.workspace_id, target, 'command');
    const before = open.filter(({ aside }) => aside === question.aside).indexOf(question);
    if (question.aside) return checkAside(body, link, before);
    checkCommand(record, link.takes ?? record?.capabilities ?? [], body, before, deps.maxConcurrent);
    const executor = record?.registration?.metadata?.['executor'];
    if (typeof executor === 'string' && question.asking.type === 'command')
      question.asking.executor = executor;
    if (link.full)
      throw new ParleyError('UNAVAILABLE', `${target} reads too slowly`, { reason: 'slow_reader' });
    const { replayed } = await registry.recordCommand(caller, toRecord(target, command_id, body));
    if (replayed)
      throw new ParleyError('VALIDATION_ERROR', 'a command with this id was sent before; use a new id', {
        field: 'idempotency_key',
        reason: 'repeated_id',
      });
  }

  async function status(caller: Caller, requestId: string, ofAgent: string): Promise<StatusOutcome> {
    const target = await resolve(caller, ofAgent);
    const { workspace_id, agent_id, role: from_role } = caller;
    // Who has connected at another node this very moment is known there, and here once it is asked for.
    if (roster.current(workspace_id, target) === undefined) await others()?.find(caller, target, requestId);
    const connected = roster.current(workspace_id, target);
    const open = questions.open(workspace_id, target, 'status_request');
    if (connected === undefined || connected.full || open.length >= STATUS_QUESTIONS)
      return lastKnown(caller, target);
    const before = questions.asked(caller, target, requestId);
    if (before !== undefined) return { ...(await outcomeOf<StatusOutcome>(before)), repeated: true };
    const asking = updates.make('status_request', agent_id, target, { from_role });
    const about = { asker: caller, requestId, target, session: undefined, asking, aside: false };
    const question = questions.ask(about);
    question.ready = true;
    questions.deliver(workspace_id, target);
    return outcomeOf(question);
  }

  /** What the registry knows of an agent. */
  async function lastKnown(caller: Caller, target: string): Promise<StatusOutcome> {
    const view = await registry.view(caller, target);
    if (view === undefined) return notConnected(caller, target);
    const isConnected = roster.current(caller.workspace_id, target) !== undefined;
    return { outcome: 'answered', by: HUB_NAME, status: statuses.lastKnown(view, isConnected) };
  }

  async function settle(
    caller: Caller,
    { requestId, aside }: Question,
    ended: { success: boolean; execution_ms: number; error_code?: string },
  ): Promise<void> {
    if (!aside)
      await registry.recordResponse(caller, { command_id: requestId, ...ended }).catch(deps.onFault);
  }

  async function notConnected(caller: Caller, target: string, session?: string): Promise<Unanswered> {
    const outcome = 'no_such_session';
    const view = await registry.view(caller, target);
    if (view === undefined && !(await registry.hasTakenPart(caller, target)))
      return { outcome, known: false, message: `there is no agent ${target}` };
    const which = session === undefined ? target : `session ${session} of ${target}`;
    const seen = view === undefined ? {} : { last_seen: view.last_seen };
    return { outcome, known: true, message: `${which} is not connected`, ...seen };
  }

  return {
    resolve,
    command: (request) => command(request, true).catch(refused),
    commandHere: (request) => command(request, false).catch(refused),
    status: (...asked) => status(...asked).catch(refused),
    answerHere: (caller, answer) =>
      'response' in answer
        ? respond(caller, answer.id, answer.response)
        : fail(caller, answer.id, answer.error),
    respond: async (caller, id, response) =>
      (await isAnsweredElsewhere(caller, { id, response })) || respond(caller, id, response),
    fail: async (caller, id, error) =>
      (await isAnsweredElsewhere(caller, { id, error })) || fail(caller, id, error),
    gone({ workspace_id, agent_id }) {
      for (const question of questions.open(workspace_id, agent_id, 'status_request')) {
        questions.drop(question);
        void lastKnown(question.asker, question.target).catch(toRefusal).then(question.end);
      }
    },
  };

  /** True where what an agent answers was asked at another node, which has the answer now. */
  async function isAnsweredElsewhere(caller: Caller, answer: Answer): Promise<boolean> {
    const elsewhere = others();
    if (elsewhere === undefined || questions.has(caller, answer.id)) return false;
    return elsewhere.answer(caller, answer).catch(() => false);
  }

  async function respond(caller: Caller, id: string, response: CommandResponse | Sealed): Promise<boolean> {
    const question = questions.take(caller, id, 'command');
    if (question === undefined) return false;
    const ended = isSealed(response)
      ? { success: true, execution_ms: 0 }
      : {
          success: response.success,
          execution_ms: response.execution_ms,
          ...(response.error === undefined ? {} : { error_code: response.error.code }),
        };
    await settle(caller, question, ended);
    question.end({ outcome: 'answered', by: caller.agent_id, response });
    return true;
  }

  async function fail(caller: Caller, id: string, error: Trouble | Sealed): Promise<boolean> {
    const question = questions.take(caller, id);
    if (question === undefined) return false;
    if (question.asking.type === 'command') {
      const code = isSealed(error) ? {} : { error_code: error.code };
      await settle(caller, question, { success: false, execution_ms: 0, ...code });
    }
    question.end({ outcome: 'failed', by: caller.agent_id, error });
    return true;
  }
}

/** The outcome of a question is of the kind that was asked: the broker ends each with no other. */
function outcomeOf<O extends CommandOutcome | StatusOutcome>({ outcome }: Question): Promise<O> {
  // As is said above.
  return outcome as Promise<O>;
}

/** A refusal as data; what is none is thrown on. */
function refused(error: unknown): Unanswered {
  if (error instanceof ParleyError) return toRefusal(error);
  throw error;
}

/** The same for whoever cannot be thrown at. */
function toRefusal(error: unknown): Unanswered {
  const known = error instanceof ParleyError;
  const {
    code,
    message,
    details = {},
  } = known ? error : new ParleyError('INTERNAL', 'something went wrong inside the hub');
  return { outcome: 'refused', code, message, details };
}

/** What is for one of several must not go to whichever came last. */
function several(target: string, links: readonly Link[]): ParleyError {
  const sessions = links.map(({ caller }) => caller.session_id);
  return new ParleyError(
    'CONFLICT',
    `${sessions.length} sessions of ${target} take this; name one of them: ${sessions.join(', ')}`,
    { field: 'of_session', reason: SEVERAL_SESSIONS, sessions },
  );
}

function checkCommand(
  record: Agent | undefined,
  capabilities: readonly string[],
  body: CommandBody | Sealed,
  inFlight: number,
  maxConcurrent: number,
): void {
  if (!isSealed(body) && capabilities.length > 0 && !capabilities.includes(body.command))
    throw new ParleyError('VALIDATION_ERROR', `the agent does not list ${body.command}`, {
      field: 'command',
      reason: 'not_listed',
      capabilities,
    });
  const limit = record?.registration?.max_concurrent ?? maxConcurrent;
  if (inFlight >= limit)
    throw new ParleyError('UNAVAILABLE', `the agent has ${limit} commands in flight already`, {
      reason: 'at_capacity',
      limit,
    });
}

/** The same for what is asked aside: only of an agent that lists it, and with a bound of its own. */
function checkAside(body: CommandBody | Sealed, { takes, full }: Link, inFlight: number): void {
  // It has just come back and has not said yet what it takes.
  if (takes === undefined)
    throw new ParleyError('UNAVAILABLE', 'the agent has not registered yet', { reason: 'agent_offline' });
  if (isSealed(body) || !takes.includes(body.command))
    throw new ParleyError('VALIDATION_ERROR', 'the agent does not list this', { reason: 'not_listed' });
  if (inFlight >= MOST_ASIDE || full)
    throw new ParleyError('UNAVAILABLE', 'too many look at this agent already', { reason: 'at_capacity' });
}

function toRecord(target: string, command_id: string, body: CommandBody | Sealed) {
  const head = { of_agent: target, command_id };
  if (isSealed(body)) return { ...head, command: 'sealed', opaque: true as const };
  const { command, parameters, correlation_id } = body;
  return {
    ...head,
    command,
    // Parameters may be sealed by themselves: what only its two ends can read is not put on record.
    ...(isOpaque(parameters) ? { opaque: true as const } : forRecord(command, parameters)),
    ...(correlation_id === undefined ? {} : { correlation_id }),
  };
}

/** Parameters without what never stands on record. */
function forRecord(
  command: string,
  parameters: Record<string, unknown> | undefined,
): { parameters?: Record<string, unknown> } {
  if (parameters === undefined) return {};
  const hidden = Object.hasOwn(UNRECORDED_PARAMETERS, command) ? UNRECORDED_PARAMETERS[command] : undefined;
  if (hidden === undefined) return { parameters };
  return {
    parameters: Object.fromEntries(Object.entries(parameters).filter(([name]) => !hidden.includes(name))),
  };
}
