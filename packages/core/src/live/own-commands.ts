import {
  type Caller,
  CONTRACTS,
  HUB_NAME,
  isOpaque,
  isOperation,
  LiveError,
  type LiveMessage,
  type OperationName,
  ParleyError,
  Registration,
  tellUnknown,
  unknownFields,
} from '@parley/protocol';

import type { Clock } from '../clock.ts';
import { invalid } from '../draft.ts';
import type { Hub } from '../hub.ts';
import type { CallContext } from '../operation.ts';
import type { FanOut } from './fan-out.ts';
import type { Speaker } from './link.ts';
import type { Outgoing } from './outgoing.ts';
import type { Statuses } from './statuses.ts';
import type { Questions } from './questions.ts';
import type { Roster } from './roster.ts';

/** Commands to the hub itself: every operation by its name, and what only a lasting connection can do. */
export interface OwnCommands {
  run(speaker: Speaker, message: LiveMessage<'command'>): Promise<void>;
  /** The hub's answer to a status request. */
  status(caller: Caller, requestId: string): LiveMessage<'status_update'>;
}

interface Answer {
  result: unknown;
  /** Done once the answer is on its way, so that what it starts comes after it. */
  afterwards?: () => void;
}

type Parameters = Record<string, unknown>;

const FACE_COMMANDS = ['follow', 'follow_workspace', 'unfollow', 'live_stats'] as const;

export function createOwnCommands(deps: {
  hub: Hub;
  clock: Clock;
  roster: Roster;
  questions: Questions;
  statuses: Statuses;
  fanOut: FanOut;
  outgoing: Outgoing;
  version: string;
  context: (speaker: Speaker) => CallContext;
}): OwnCommands {
  const { hub, clock, roster, statuses, fanOut, outgoing, questions } = deps;
  const startedAt = clock.monotonic();

  const call = (speaker: Speaker, name: string, input: unknown) =>
    hub.call(speaker.caller, name as OperationName, input, deps.context(speaker));

  const commands: Record<string, (speaker: Speaker, parameters: Parameters) => Promise<Answer> | Answer> = {
    async follow(speaker, parameters) {
      const { thread_id, since_seq = 0, ...rest } = parameters;
      if (typeof since_seq !== 'number' || !Number.isSafeInteger(since_seq) || since_seq < 0)
        throw invalid('since_seq', 'since_seq: must be a whole number from 0 on');
      // Refused here with the same checks and the same words as any other call.
      const { warnings } = await call(speaker, 'get_thread', { ...rest, thread_id });
      const afterwards = () => fanOut.follow(speaker.link(), thread_id as string, since_seq);
      const told = warnings === undefined ? {} : { warnings };
      return { result: { thread_id, since_seq, ...told }, afterwards };
    },
    unfollow(speaker, { thread_id }) {
      if (thread_id !== undefined && typeof thread_id !== 'string')
        throw new ParleyError('VALIDATION_ERROR', 'thread_id: must be a string', { field: 'thread_id' });
      fanOut.unfollow(speaker.link(), thread_id);
      if (thread_id === undefined) roster.unwatch(speaker.link());
      return { result: { ok: true } };
    },
    follow_workspace(speaker) {
      if (speaker.caller.role === 'worker')
        throw new LiveError('UNAUTHORIZED', 'only an operator, orchestrator or observer may watch everyone');
      return { result: { ok: true }, afterwards: () => roster.watch(speaker.link()) };
    },
    live_stats(speaker) {
      const { role, workspace_id } = speaker.caller;
      if (role !== 'operator') throw new LiveError('UNAUTHORIZED', 'only an operator may read the counters');
      const connections = [...roster.of(workspace_id).values()].flat().length;
      return { result: { connections, ...questions.counts(workspace_id) } };
    },
    async register_agent(speaker, parameters) {
      const { caller } = speaker;
      const { input, warnings } = toRegistration(parameters, caller);
      const result = { ...warnings, ...(await call(speaker, 'register_agent', input)) };
      const link = roster.session(caller);
      if (link !== undefined) {
        link.registered = true;
        const { capabilities, metadata } = input;
        await statuses.update(caller, {
          agentId: caller.agent_id,
          status: 'online',
          capabilities: capabilities as string[],
          ...(metadata === undefined ? {} : { metadata: metadata as Parameters }),
        });
        questions.deliver(caller.workspace_id, caller.agent_id);
      }
      return { result };
    },
  };

  return {
    async run(speaker, message) {
      const { id, payload } = message;
      if (isOpaque(payload)) throw new LiveError('INVALID_COMMAND', 'the hub cannot read a sealed command');
      const { command, parameters = {} } = payload;
      const started = clock.monotonic();
      let answer: Answer;
      if (Object.hasOwn(commands, command))
        answer = await (commands[command] ?? unknown)(speaker, parameters);
      else if (isOperation(command))
        answer = { result: await call(speaker, command, keyed(command, parameters, id)) };
      else answer = unknown();
      const executionTime = Math.round((clock.monotonic() - started) * 1_000) / 1_000;
      speaker.reply(
        outgoing.message('command_response', HUB_NAME, speaker.caller.agent_id, {
          requestId: id,
          success: true,
          result: answer.result,
          executionTime,
        }),
      );
      answer.afterwards?.();
    },
    status: (caller, requestId) =>
      outgoing.message('status_update', HUB_NAME, caller.agent_id, {
        agentId: HUB_NAME,
        status: 'online',
        lastSeen: new Date(clock.now()).toISOString(),
        capabilities: [...Object.keys(CONTRACTS), ...FACE_COMMANDS],
        metadata: {
          version: deps.version,
          uptime: Math.floor((clock.monotonic() - startedAt) / 1_000),
          healthScore: 100,
        },
        requestId,
      }),
  };
}

function unknown(): never {
  throw new LiveError('INVALID_COMMAND', 'the hub has no such command', { field: 'payload.command' });
}

/** A command sent twice under one id is done once: the id is its idempotency key where it brings none. */
function keyed(name: OperationName, parameters: Parameters, id: string): Parameters {
  const { shape } = CONTRACTS[name].input as { shape?: Record<string, unknown> };
  const takesKey = shape !== undefined && Object.hasOwn(shape, 'idempotency_key');
  return takesKey ? { idempotency_key: id, ...parameters } : parameters;
}

/** The registration in the camelCase of this wire, as the operation's input. */
function toRegistration(
  parameters: Parameters,
  { agent_id }: Caller,
): { input: Parameters; warnings: { warnings?: string[] } } {
  const parsed = Registration.safeParse(parameters);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = ['payload', 'parameters', ...(issue?.path ?? []).map(String)].join('.');
    throw new LiveError('INVALID_COMMAND', `${field}: ${issue?.message ?? 'is not valid'}`, { field });
  }
  const { agentId, maxConcurrent, ...rest } = parsed.data;
  if (agentId !== undefined && agentId !== agent_id)
    throw new LiveError('UNAUTHORIZED', 'agentId differs from the verified agent_id', { field: 'agentId' });
  const warnings = tellUnknown(Registration, unknownFields(parameters, parsed.data));
  return {
    input: { ...rest, ...(maxConcurrent === undefined ? {} : { max_concurrent: maxConcurrent }) },
    warnings: warnings.length === 0 ? {} : { warnings },
  };
}
