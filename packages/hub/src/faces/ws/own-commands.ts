import type { CallContext, Clock, Hub, Live } from '@parley/core';
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
  toLiveError,
  unknownFields,
  issueWords,
} from '@parley/protocol';

import type { Deprecations } from '../../deprecations.ts';
import type { Outgoing } from './outgoing.ts';
import { mustBeOwn } from './own-name.ts';
import type { Speaker } from './speaker.ts';

/** Commands to the hub itself: every operation by its name, and what only a lasting connection can do. */
export interface OwnCommands {
  run(speaker: Speaker, message: LiveMessage<'command'>): Promise<void>;
  /** The hub's answer to a status request. */
  status(caller: Caller, requestId: string): LiveMessage<'status_update'>;
}

interface CommandAnswer {
  result: unknown;
  /** Done once the answer is on its way, so that what it starts comes after it. */
  afterwards?: () => void;
}

type Parameters = Record<string, unknown>;

const FACE_COMMANDS = ['follow', 'follow_workspace', 'unfollow', 'live_stats'] as const;

export function createOwnCommands(deps: {
  hub: Pick<Hub, 'call'>;
  live: Live;
  clock: Pick<Clock, 'now' | 'monotonic'>;
  outgoing: Outgoing;
  version: string;
  /** What an agent may send from now on. */
  limits: Record<string, number>;
  deprecations: Pick<Deprecations, 'live'>;
  context: (signal: AbortSignal) => CallContext;
}): OwnCommands {
  const { hub, live, clock, outgoing } = deps;
  const startedAt = clock.monotonic();

  const call = <N extends OperationName>(speaker: Speaker, name: N, input: unknown) =>
    hub.call(speaker.caller, name, input, deps.context(speaker.signal));

  const commands: Record<
    string,
    (speaker: Speaker, parameters: Parameters, id: string) => Promise<CommandAnswer> | CommandAnswer
  > = {
    async follow(speaker, parameters) {
      const { thread_id, since_seq = 0, ...rest } = parameters;
      if (typeof since_seq !== 'number' || !Number.isSafeInteger(since_seq) || since_seq < 0)
        throw new ParleyError('VALIDATION_ERROR', 'since_seq: must be a whole number from 0 on', {
          field: 'since_seq',
        });
      // Refused here with the same checks and the same words as any other call.
      const { warnings } = await call(speaker, 'get_thread', { ...rest, thread_id });
      const afterwards = () => live.follow(speaker.link(), String(thread_id), since_seq);
      const reported = warnings === undefined ? {} : { warnings };
      return { result: { thread_id, since_seq, ...reported }, afterwards };
    },
    unfollow(speaker, { thread_id }) {
      if (thread_id !== undefined && typeof thread_id !== 'string')
        throw new ParleyError('VALIDATION_ERROR', 'thread_id: must be a string', { field: 'thread_id' });
      live.unfollow(speaker.link(), thread_id);
      return { result: { ok: true } };
    },
    follow_workspace(speaker) {
      if (speaker.caller.role === 'worker')
        throw new LiveError('UNAUTHORIZED', 'only an operator, orchestrator or observer may watch everyone');
      return { result: { ok: true }, afterwards: () => live.watch(speaker.link()) };
    },
    live_stats(speaker) {
      const { role, workspace_id } = speaker.caller;
      if (role !== 'operator') throw new LiveError('UNAUTHORIZED', 'only an operator may read the counters');
      const connections = [...live.links.of(workspace_id).values()].flat().length;
      return { result: { connections, ...live.counts(workspace_id) } };
    },
    async register_agent(speaker, parameters, id) {
      const { caller } = speaker;
      const { input, agentId, warnings } = toRegistration(parameters, caller);
      mustBeOwn(live, caller, agentId, 'agentId');
      const done = await call(speaker, 'register_agent', { ...input, idempotency_key: id });
      const { capabilities, metadata } = input;
      const said = metadata === undefined ? {} : { metadata };
      await live.registered(caller, { name: agentId, status: 'online', capabilities, ...said });
      return { result: { ...warnings, ...done, limits: deps.limits } };
    },
  };

  async function answerOf(
    speaker: Speaker,
    command: string,
    parameters: Parameters,
    id: string,
  ): Promise<CommandAnswer> {
    if (Object.hasOwn(commands, command)) return (commands[command] ?? unknown)(speaker, parameters, id);
    if (isOperation(command)) return { result: await call(speaker, command, keyed(command, parameters, id)) };
    return unknown();
  }

  return {
    async run(speaker, message) {
      const { id, payload } = message;
      if (isOpaque(payload)) throw new LiveError('INVALID_COMMAND', 'the hub cannot read a sealed command');
      const { command, parameters = {} } = payload;
      const ending = isOperation(command) ? deps.deprecations.live(command) : undefined;
      const notice = ending === undefined ? {} : { deprecation: ending };
      const started = clock.monotonic();
      const answer = await answerOf(speaker, command, parameters, id).catch((error: unknown) => {
        const refusal = toLiveError(error);
        throw new LiveError(refusal.code, refusal.message, { ...refusal.details, ...notice });
      });
      const executionTime = Math.round((clock.monotonic() - started) * 1_000) / 1_000;
      speaker.reply(
        outgoing.message('command_response', HUB_NAME, speaker.caller.agent_id, {
          requestId: id,
          success: true,
          result: answer.result,
          executionTime,
          ...notice,
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
  const { input } = CONTRACTS[name];
  const takesKey = 'shape' in input && Object.hasOwn(input.shape, 'idempotency_key');
  return takesKey ? { idempotency_key: id, ...parameters } : parameters;
}

/** The registration in the camelCase of this wire, as the operation's input. */
function toRegistration(parameters: Parameters, { agent_id }: Caller) {
  const parsed = Registration.safeParse(parameters);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = ['payload', 'parameters', ...(issue?.path ?? []).map(String)].join('.');
    throw new LiveError('INVALID_COMMAND', `${field}: ${issueWords(issue, parameters)}`, { field });
  }
  const { agentId = agent_id, maxConcurrent, ...rest } = parsed.data;
  const warnings = tellUnknown(Registration, unknownFields(parameters, parsed.data));
  return {
    input: {
      ...rest,
      ...(agentId === agent_id ? {} : { instance_id: agentId }),
      ...(maxConcurrent === undefined ? {} : { max_concurrent: maxConcurrent }),
    },
    agentId,
    warnings: warnings.length === 0 ? {} : { warnings },
  };
}
