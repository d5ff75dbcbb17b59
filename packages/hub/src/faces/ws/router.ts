import { type Live, type Outcome, requireCommander } from '@parley/core';
import {
  type Caller,
  HUB_NAME,
  isOpaque,
  LiveError,
  type LiveMessage,
  type LiveType,
  toLiveError,
} from '@parley/protocol';

import { answered, toCommand, toEvent, toResponse, toStatus, toTrouble } from './from-wire.ts';
import type { Outgoing } from './outgoing.ts';
import type { OwnCommands } from './own-commands.ts';
import { mustBeOwn } from './own-name.ts';
import { createRepeats, type RepeatNodes } from './repeats.ts';
import { isWireLink, type Speaker } from './speaker.ts';
import { errorPayload, responsePayload, statusPayload, toRefusal } from './to-wire.ts';

/** Takes the messages of the wire to whom they are for, and what becomes of them back to whoever sent them. */
export interface Router {
  /** Acts on a message; every refusal is answered, nothing is thrown. */
  receive(speaker: Speaker, message: LiveMessage): Promise<void>;
  /** True for what answers a question of the hub: it costs the sender nothing. */
  isAnswer(caller: Caller, message: LiveMessage): boolean;
}

/** What is told and not asked: sent again under its id it is not told again. */
const TELLING: ReadonlySet<LiveType> = new Set(['event', 'status_update', 'error']);

/** Says something to a session that has come back at another node. */
const SAY = 'ws.say';
interface Said {
  session: Pick<Caller, 'workspace_id' | 'agent_id' | 'session_id'>;
  message: LiveMessage;
}

export function createRouter({
  live,
  outgoing,
  own,
  nodes,
}: {
  live: Live;
  outgoing: Outgoing;
  own: OwnCommands;
  /** The other nodes, where there are any. */
  nodes?: RepeatNodes | undefined;
}): Router {
  const repeats = createRepeats(nodes);
  const calls = nodes?.calls;

  /** True where the session is connected to this node, and is told. */
  function sayHere({ session, message }: Said): boolean {
    const now = live.session(session);
    if (!isWireLink(now)) return false;
    now.say(message);
    return true;
  }
  // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
  calls?.answer(SAY, (body) => sayHere(body as Said));

  function isAnswer(caller: Caller, message: LiveMessage): boolean {
    const id = answered(message);
    if (id !== undefined && live.isAsked(caller, id)) return true;
    return message.type === 'status_update' && live.isAsked(caller);
  }

  const acts: { [T in LiveType]: (speaker: Speaker, message: LiveMessage<T>) => Promise<void> } = {
    async command(speaker, message) {
      const { caller } = speaker;
      if (message.target === HUB_NAME) return own.run(speaker, message);
      requireCommander(caller);
      if (message.target !== undefined) return void command(speaker, message.target, message);
      for (const target of othersThan(caller)) void command(speaker, target, message, { agentId: target });
    },

    async command_response({ caller }, message) {
      const { payload } = message;
      if (!(await live.respond(caller, answered(message) ?? '', toResponse(payload)))) throw notAsked();
    },

    async status_request(speaker, message) {
      const { caller } = speaker;
      const { target } = message;
      if (target === HUB_NAME) return speaker.reply(own.status(caller, message.id));
      for (const name of target === undefined ? othersThan(caller) : [target])
        void askStatus(speaker, name, message);
    },

    async status_update({ caller }, message) {
      const { id: key, payload, target: to } = message;
      if (!isOpaque(payload)) mustBeOwn(live, caller, payload.agentId);
      await live.tell.status(caller, toStatus(payload), { to, answers: answered(message) ?? key, key });
    },

    async event({ caller }, { id: key, payload, target: to }) {
      if (!isOpaque(payload)) mustBeOwn(live, caller, payload.agentId);
      await live.tell.event(caller, toEvent(payload), { to, key });
    },

    async error({ caller }, message) {
      const id = answered(message);
      const trouble = toTrouble(message.payload);
      if (id !== undefined) {
        if (!(await live.fail(caller, id, trouble))) throw notAsked();
        return;
      }
      if (caller.role === 'observer')
        throw new LiveError('UNAUTHORIZED', 'an observer may not send errors to others');
      await live.tell.error(caller, trouble, message.target);
    },
  };

  function othersThan({ workspace_id, agent_id }: Caller): string[] {
    const names = live.agents(workspace_id).filter((name) => name !== agent_id);
    if (names.length === 0) throw new LiveError('AGENT_OFFLINE', 'no agent is connected');
    return names;
  }

  /** One command to one agent; `named` tells apart the refusals of several. */
  async function command(
    speaker: Speaker,
    of_agent: string,
    { id: command_id, targetSession: of_session, payload }: LiveMessage<'command'>,
    named: { agentId?: string } = {},
  ): Promise<void> {
    const { caller } = speaker;
    const asked = { caller, command_id, of_agent, of_session, body: toCommand(payload) };
    await answer(speaker, command_id, live.command(asked), named, ({ by, response }) =>
      outgoing.message('command_response', by, caller.agent_id, responsePayload(response, command_id)),
    );
  }

  async function askStatus(speaker: Speaker, ofAgent: string, { id }: LiveMessage): Promise<void> {
    const { caller } = speaker;
    await answer(speaker, id, live.status(caller, id, ofAgent), {}, ({ by, status }) =>
      outgoing.message('status_update', by, caller.agent_id, statusPayload(status, id)),
    );
  }

  /** Tells the asker what has become of its question; once it has reconnected, where it is now. */
  async function answer<A>(
    speaker: Speaker,
    requestId: string,
    asked: Promise<Outcome<A>>,
    named: object,
    toAnswer: (ended: { by: string } & A) => LiveMessage,
  ): Promise<void> {
    const { agent_id } = speaker.caller;
    const refuse = ({ code, message, details }: LiveError): LiveMessage =>
      outgoing.error(new LiveError(code, message, { ...details, ...named }), agent_id, requestId);
    const message = await asked.then(
      (ended) => {
        if (ended.repeated === true) return undefined;
        if (ended.outcome === 'answered') return toAnswer(ended);
        if (ended.outcome !== 'failed') return refuse(toRefusal(ended));
        return outgoing.message('error', ended.by, agent_id, errorPayload(ended.error, requestId));
      },
      (error: unknown) => refuse(toLiveError(error)),
    );
    if (message === undefined) return;
    if (speaker.listening) return speaker.reply(message);
    const { workspace_id, session_id } = speaker.caller;
    const said: Said = { session: { workspace_id, agent_id, session_id }, message };
    if (!sayHere(said)) await calls?.askAll(SAY, said);
  }

  return {
    isAnswer,
    async receive(speaker, message) {
      const { agent_id, workspace_id } = speaker.caller;
      try {
        if (message.source !== agent_id)
          throw new LiveError('UNAUTHORIZED', 'source differs from the verified agent_id', {
            field: 'source',
          });
        checkVoice(speaker.caller, message);
        // The table has the act of each type under its own name; the compiler sees the union.
        const act = (): Promise<void> => acts[message.type](speaker, message as never);
        await (TELLING.has(message.type) && !isAnswer(speaker.caller, message)
          ? repeats.once(speaker.caller, message, act)
          : act());
      } catch (error) {
        speaker.reply(outgoing.error(toLiveError(error), agent_id, message.id));
      }
      if (message.type !== 'command' && message.type !== 'command_response') live.ring(workspace_id);
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
