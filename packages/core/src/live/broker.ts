import {
  type Agent,
  type Caller,
  HUB_NAME,
  isOpaque,
  LiveError,
  type LiveMessage,
  type LiveType,
  toLiveError,
  toToolMessage,
} from '@parley/protocol';

import { requireCommander } from '../agents/operations.ts';
import type { Link, Speaker } from './link.ts';
import type { OwnCommands } from './own-commands.ts';
import type { Outgoing } from './outgoing.ts';
import type { Statuses } from './statuses.ts';
import { answered, type Question, type Questions } from './questions.ts';
import type { Registry } from './registry.ts';
import type { Roster } from './roster.ts';

export interface BrokerDeps {
  roster: Roster;
  questions: Questions;
  registry: Registry;
  statuses: Statuses;
  outgoing: Outgoing;
  own: OwnCommands;
  /** Commands an agent may have in flight when its registration does not say. */
  maxConcurrent: number;
  /** Hears what could not be put on record although it has happened. */
  onFault: (error: unknown) => void;
}

/** Routes the messages of one hub: to the agent that is meant, back to whoever asked, and to all who watch. */
export interface Broker {
  join(link: Link): void;
  leave(link: Link): void;
  /** Acts on a message; every refusal is answered, nothing is thrown. */
  receive(speaker: Speaker, message: LiveMessage, timeoutMs?: number): Promise<void>;
  /** True for what answers a question of the hub: it costs the sender nothing. */
  isAnswer(caller: Caller, message: LiveMessage): boolean;
}

/** Status questions to one agent at once; more are answered from the registry. */
const STATUS_QUESTIONS = 64;

export function createBroker(deps: BrokerDeps): Broker {
  const { roster, questions, registry, statuses, outgoing, own } = deps;

  function isAnswer(caller: Caller, message: LiveMessage): boolean {
    const id = answered(message);
    if (id !== undefined && questions.has(caller, id)) return true;
    if (message.type !== 'status_update') return false;
    return questions.open(caller.workspace_id, caller.agent_id, 'status_request').length > 0;
  }

  const acts: {
    [T in LiveType]: (speaker: Speaker, message: LiveMessage<T>, timeoutMs?: number) => Promise<void>;
  } = {
    async command(speaker, message, timeoutMs) {
      const { caller } = speaker;
      if (message.target === HUB_NAME) return own.run(speaker, message);
      requireCommander(caller);
      if (message.target !== undefined) return command(speaker, message.target, message, timeoutMs);
      const targets = roster.agents(caller.workspace_id).filter((name) => name !== caller.agent_id);
      if (targets.length === 0) throw new LiveError('AGENT_OFFLINE', 'no agent is connected');
      await Promise.all(
        targets.map((target) =>
          command(speaker, target, message).catch((error: unknown) => {
            const { code, message: text, details } = toLiveError(error);
            const refusal = new LiveError(code, text, { ...details, agentId: target });
            speaker.reply(outgoing.error(refusal, caller.agent_id, message.id));
          }),
        ),
      );
    },

    async command_response({ caller }, message) {
      const question = questions.take(caller, answered(message) ?? '');
      if (question === undefined) throw notAsked();
      const { payload } = message;
      const ended = isOpaque(payload)
        ? { success: true, execution_ms: 0 }
        : {
            success: payload.success,
            execution_ms: payload.executionTime,
            ...(payload.error === undefined ? {} : { error_code: payload.error.code }),
          };
      await settle(caller, question, ended);
      const { agent_id } = question.asker.caller;
      const answer = { ...payload, requestId: question.requestId };
      questions.answer(question, outgoing.message('command_response', caller.agent_id, agent_id, answer));
    },

    async status_request(speaker, message) {
      const { caller } = speaker;
      const { target } = message;
      if (target === HUB_NAME) return speaker.reply(own.status(caller, message.id));
      if (target !== undefined) return askStatus(speaker, target, message);
      const targets = roster.agents(caller.workspace_id).filter((name) => name !== caller.agent_id);
      if (targets.length === 0) throw new LiveError('AGENT_OFFLINE', 'no agent is connected');
      await Promise.all(targets.map((name) => askStatus(speaker, name, message)));
    },

    async status_update({ caller }, message) {
      const { payload } = message;
      if (!isOpaque(payload)) {
        mustBeOwn(payload.agentId, caller);
        await statuses.update(caller, payload);
      }
      const open = questions.open(caller.workspace_id, caller.agent_id, 'status_request');
      const id = answered(message) ?? message.id;
      const meant = open.filter((question) => question.message.id === id);
      for (const question of meant.length > 0 ? meant : open) {
        questions.drop(question);
        const seen = isOpaque(payload) ? payload : statuses.seen(payload);
        questions.answer(
          question,
          outgoing.message('status_update', caller.agent_id, question.asker.caller.agent_id, {
            ...seen,
            requestId: question.requestId,
          }),
        );
      }
      if (isOpaque(payload)) passOn(caller, message);
      else passOn(caller, { ...message, payload: statuses.seen(payload) }, true);
    },

    async event({ caller }, message) {
      const { payload } = message;
      if (!isOpaque(payload)) {
        mustBeOwn(payload.agentId, caller);
        await registry.reportEvent(caller, payload);
      }
      if (message.target !== undefined) return passOn(caller, message);
      const inThread = !isOpaque(payload) && payload.threadId !== undefined;
      statuses.publish(caller.workspace_id, stamped(caller, message), inThread);
    },

    async error({ caller }, message) {
      const id = answered(message);
      if (id !== undefined) return failed(caller, id, message);
      if (caller.role === 'observer')
        throw new LiveError('UNAUTHORIZED', 'an observer may not send errors to others');
      if (message.target !== undefined) passOn(caller, message);
      else statuses.publish(caller.workspace_id, stamped(caller, message));
    },
  };

  /** One command to one agent: checked, put on record, then sent; the agent's answer comes later. */
  async function command(
    speaker: Speaker,
    target: string,
    message: LiveMessage<'command'>,
    timeoutMs?: number,
  ): Promise<void> {
    const { caller } = speaker;
    if (questions.repeated(caller, target, message.id)) return;
    const link = roster.current(caller.workspace_id, target);
    if (link === undefined) throw await notConnected(caller, target);
    const question = questions.ask(speaker, target, message, timeoutMs);
    try {
      const record = await registry.find(caller, target);
      const before = questions.open(caller.workspace_id, target, 'command').indexOf(question);
      checkCommand(record, message, before, deps);
      if (record?.registration?.metadata?.['executor'] === 'langroid')
        question.message = asToolMessage(question.message);
      if (link.full)
        throw new LiveError('RESOURCE_EXHAUSTED', `${target} reads too slowly`, { reason: 'slow_reader' });
      const { replayed } = await registry.recordCommand(caller, toRecord(target, message));
      if (replayed)
        throw new LiveError('INVALID_COMMAND', 'a command with this id was sent before; use a new id', {
          field: 'id',
          reason: 'repeated_id',
        });
    } catch (error) {
      if (question.closed) return;
      questions.drop(question);
      throw error;
    }
    if (question.closed) return;
    question.ready = true;
    questions.deliver(caller.workspace_id, target);
  }

  async function askStatus(
    speaker: Speaker,
    target: string,
    message: LiveMessage<'status_request'>,
  ): Promise<void> {
    const { caller } = speaker;
    const connected = roster.current(caller.workspace_id, target);
    const open = questions.open(caller.workspace_id, target, 'status_request');
    if (connected !== undefined && !connected.full && open.length < STATUS_QUESTIONS) {
      if (questions.repeated(caller, target, message.id)) return;
      questions.ask(speaker, target, message).ready = true;
      questions.deliver(caller.workspace_id, target);
      return;
    }
    speaker.reply(await lastKnown(caller, target, message.id));
  }

  /** What the registry knows of an agent, as the answer to a status request. */
  async function lastKnown(caller: Caller, target: string, requestId: string): Promise<LiveMessage> {
    const view = await registry.view(caller, target);
    if (view === undefined) throw new LiveError('AGENT_NOT_FOUND', `there is no agent ${target}`);
    const last = statuses.lastKnown(view, roster.current(caller.workspace_id, target) !== undefined);
    return outgoing.message('status_update', HUB_NAME, caller.agent_id, { ...last, requestId });
  }

  /** An agent that has gone does not say how it is any more: the registry does. */
  async function answerFor(question: Question): Promise<void> {
    questions.drop(question);
    const { asker, target, requestId } = question;
    const answer = await lastKnown(asker.caller, target, requestId).catch((error: unknown) =>
      outgoing.error(toLiveError(error), asker.caller.agent_id, requestId),
    );
    questions.answer(question, answer);
  }

  /** An agent that answers a command with an error has answered it. */
  async function failed(caller: Caller, id: string, message: LiveMessage<'error'>): Promise<void> {
    const question = questions.take(caller, id);
    if (question === undefined) throw notAsked();
    const { payload } = message;
    if (question.message.type === 'command') {
      const error_code = isOpaque(payload) ? undefined : payload.code;
      await settle(caller, question, {
        success: false,
        execution_ms: 0,
        ...(error_code === undefined ? {} : { error_code }),
      });
    }
    const { requestId } = question;
    const named = isOpaque(payload)
      ? { ...payload, requestId }
      : { ...payload, details: { ...(payload.details as object), requestId } };
    questions.answer(
      question,
      outgoing.message('error', caller.agent_id, question.asker.caller.agent_id, named),
    );
  }

  async function settle(
    caller: Caller,
    question: Question,
    ended: { success: boolean; execution_ms: number; error_code?: string },
  ): Promise<void> {
    await registry.recordResponse(caller, { command_id: question.requestId, ...ended }).catch(deps.onFault);
  }

  /** To the one connection of the one who is meant; to nobody when it is not there, or was shown it anyway. */
  function passOn(caller: Caller, message: LiveMessage, shown = false): void {
    if (message.target === undefined || message.target === HUB_NAME) return;
    const link = roster.current(caller.workspace_id, message.target);
    if (link === undefined || link.full) return;
    if (!shown || !roster.watchers(caller.workspace_id).has(link)) link.send(stamped(caller, message));
  }

  /** Under its sender's name; what is passed on answers nothing, so that none can pass for an answer. */
  function stamped({ agent_id }: Caller, { type, target, payload }: LiveMessage): LiveMessage {
    if (!isOpaque(payload)) return outgoing.message(type, agent_id, target, payload);
    const { requestId: _answered, ...sealed } = payload;
    return outgoing.message(type, agent_id, target, sealed);
  }

  async function notConnected(caller: Caller, target: string): Promise<LiveError> {
    const view = await registry.view(caller, target);
    return view === undefined
      ? new LiveError('AGENT_NOT_FOUND', `there is no agent ${target}`)
      : new LiveError('AGENT_OFFLINE', `${target} is not connected`, { lastSeen: view.last_seen });
  }

  return {
    isAnswer,
    join(link) {
      roster.join(link);
      questions.deliver(link.caller.workspace_id, link.caller.agent_id);
    },
    leave(link) {
      const last = roster.leave(link);
      questions.lost(link);
      if (!last) return;
      const { workspace_id, agent_id } = link.caller;
      for (const question of questions.open(workspace_id, agent_id, 'status_request'))
        void answerFor(question);
      statuses.gone(link.caller);
    },
    async receive(speaker, message, timeoutMs) {
      const { agent_id } = speaker.caller;
      try {
        if (message.source !== agent_id)
          throw new LiveError('UNAUTHORIZED', 'source differs from the verified agent_id', {
            field: 'source',
          });
        checkVoice(speaker.caller, message);
        await acts[message.type](speaker, message as never, timeoutMs);
      } catch (error) {
        speaker.reply(outgoing.error(toLiveError(error), agent_id, message.id));
      }
    },
  };
}

/** Who may only look asks, and says nothing that reaches others: what is sealed the gate would not even see. */
function checkVoice({ read_only, role }: Caller, { type, payload }: LiveMessage): void {
  if (type === 'command' || type === 'status_request') return;
  if (read_only === true) throw new LiveError('UNAUTHORIZED', 'this device may only look');
  if (role === 'observer' && isOpaque(payload) && (type === 'event' || type === 'status_update'))
    throw new LiveError('UNAUTHORIZED', 'an observer may not send anything sealed to others');
}

/** The same words whether it was asked of another, answered before, too late, or never asked at all. */
function notAsked(): LiveError {
  return new LiveError('INVALID_COMMAND', 'no open question to you has this requestId', {
    field: 'requestId',
    reason: 'not_asked',
  });
}

function checkCommand(
  record: Agent | undefined,
  { payload }: LiveMessage<'command'>,
  inFlight: number,
  { maxConcurrent }: Pick<BrokerDeps, 'maxConcurrent'>,
): void {
  const capabilities = record?.capabilities ?? [];
  if (!isOpaque(payload) && capabilities.length > 0 && !capabilities.includes(payload.command))
    throw new LiveError('INVALID_COMMAND', `the agent does not list ${payload.command}`, {
      field: 'payload.command',
      capabilities,
    });
  const limit = record?.registration?.max_concurrent ?? maxConcurrent;
  if (inFlight >= limit)
    throw new LiveError('RESOURCE_EXHAUSTED', `the agent has ${limit} commands in flight already`, {
      reason: 'at_capacity',
      limit,
    });
}

/** What a Langroid agent executes; what is sealed stays as it is. */
function asToolMessage(message: Question['message']): Question['message'] {
  const { payload } = message as LiveMessage<'command'>;
  if (isOpaque(payload) || isOpaque(payload.parameters)) return message;
  const parameters = toToolMessage(payload.command, payload.parameters ?? {});
  return { ...(message as LiveMessage<'command'>), payload: { ...payload, parameters } };
}

function toRecord(target: string, { id, payload }: LiveMessage<'command'>) {
  const head = { of_agent: target, command_id: id };
  if (isOpaque(payload)) return { ...head, command: 'sealed', opaque: true as const };
  const { command, parameters, correlationId } = payload;
  return {
    ...head,
    command,
    ...(isOpaque(parameters) ? { opaque: true as const } : parameters === undefined ? {} : { parameters }),
    ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
  };
}

function mustBeOwn(agentId: string, { agent_id }: Caller): void {
  if (agentId !== agent_id)
    throw new LiveError('UNAUTHORIZED', 'agentId differs from the verified agent_id', {
      field: 'payload.agentId',
    });
}
