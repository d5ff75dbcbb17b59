import type { Caller, LiveMessage } from '@parley/protocol';
import { toLiveError } from '@parley/protocol';

import type { Commander, Links } from '../agents/ports.ts';
import type { Hub } from '../hub.ts';
import type { CallContext, Deps } from '../operation.ts';
import { createBroker } from './broker.ts';
import { createCommander } from './commander.ts';
import { createFanOut } from './fan-out.ts';
import type { Link, Speaker } from './link.ts';
import { createOutgoing } from './outgoing.ts';
import { createOwnCommands } from './own-commands.ts';
import { createStatuses } from './statuses.ts';
import { createQuestions } from './questions.ts';
import { createRegistry } from './registry.ts';
import { createRoster } from './roster.ts';

export interface LiveOptions extends Deps {
  hub: Hub;
  newId: () => string;
  version: string;
  commandTimeoutMs: number;
  maxConcurrent: number;
  /** The context of a call made for a message. */
  context: (signal?: AbortSignal) => CallContext;
  onFault: (error: unknown) => void;
}

/** The live side of a hub: who is connected, what is asked of whom, and who hears of what. */
export interface Live {
  join(link: Link): void;
  leave(link: Link): void;
  receive(speaker: Speaker, message: LiveMessage): Promise<void>;
  isAnswer(caller: Caller, message: LiveMessage): boolean;
  /** The refusal of something that was no message. */
  refusal(caller: Caller, error: unknown, requestId?: string): LiveMessage<'error'>;
  session(caller: Caller): Link | undefined;
  /** The gate for the other faces: what agents report there is shown to all who watch here. */
  watched(hub: Hub): Hub;
  /** Who is connected, for those who show it. */
  links: Links['of'];
  /** Commands an agent on behalf of another face. */
  command: Commander['command'];
  /** Questions that agents have not answered yet. */
  readonly open: number;
  /** How many are connected. */
  readonly connections: number;
  /** How many agents these connections belong to. */
  readonly agentCount: number;
  close(): void;
}

/** What an agent tells of itself, so that its state may be another one. */
const TELLING = new Set<string>([
  'register_agent',
  'update_agent_status',
  'report_event',
  'heartbeat_session',
  'raise_ask',
  'ask_human',
  'answer_ask',
  'withdraw_ask',
  'wait_for_ask',
  'set_presence',
]);

/** The feed's name for how the agents of a workspace are: rung when one may have changed. */
export function agentsTopic(workspaceId: string): string {
  return `agents ${workspaceId}`;
}

/** Builds the live side over the gate and the log. */
export function createLive(options: LiveOptions): Live {
  const { hub, clock, onFault } = options;
  const roster = createRoster();
  const outgoing = createOutgoing(clock, options.newId);
  const questions = createQuestions({ roster, outgoing, timeoutMs: options.commandTimeoutMs });
  const registry = createRegistry(options, hub, () => options.context());
  const statuses = createStatuses({ clock, roster, registry, outgoing, onFault });
  const fanOut = createFanOut({
    log: options.log,
    feed: options.feed,
    offered: (caller, threadId, first, last) => options.offers.note(caller, threadId, last, 'ws', first),
  });
  const own = createOwnCommands({
    hub,
    clock,
    roster,
    questions,
    statuses,
    fanOut,
    outgoing,
    version: options.version,
    context: ({ signal }) => options.context(signal),
  });
  const { maxConcurrent } = options;
  const broker = createBroker({
    roster,
    questions,
    registry,
    statuses,
    outgoing,
    own,
    maxConcurrent,
    onFault,
  });

  const commander = createCommander(broker, outgoing);

  let rung = 0;
  function ring(workspaceId: string): void {
    options.feed.announce(agentsTopic(workspaceId), ++rung);
  }

  function notice(caller: Caller, name: string, input: Record<string, unknown>): void {
    const { agent_id, workspace_id } = caller;
    if (name === 'update_agent_status')
      statuses.noticed(caller, {
        capabilities: [],
        ...input,
        agentId: agent_id,
        status: input['status'] as 'online',
      });
    if (name === 'report_event') {
      const payload = {
        eventType: input['event_type'] as 'info',
        agentId: agent_id,
        data: input['data'] as Record<string, unknown>,
      };
      const message = outgoing.message('event', agent_id, undefined, payload);
      statuses.publish(workspace_id, message, input['thread_id'] !== undefined);
    }
  }

  return {
    join(link) {
      broker.join(link);
      ring(link.caller.workspace_id);
    },
    leave(link) {
      fanOut.unfollow(link);
      broker.leave(link);
      ring(link.caller.workspace_id);
    },
    async receive(speaker, message) {
      await broker.receive(speaker, message);
      if (message.type !== 'command' && message.type !== 'command_response')
        ring(speaker.caller.workspace_id);
    },
    isAnswer: (caller, message) => broker.isAnswer(caller, message),
    refusal: (caller, error, requestId) => outgoing.error(toLiveError(error), caller.agent_id, requestId),
    links: (workspaceId) => roster.of(workspaceId),
    command: (caller, input, context) => commander.command(caller, input, context),
    session: (caller) => roster.session(caller),
    watched: (gate) => ({
      async call(caller, name, input, context) {
        const result = await gate.call(caller, name, input, context);
        notice(caller, name, input as Record<string, unknown>);
        if (TELLING.has(name)) ring(caller.workspace_id);
        return result;
      },
    }),
    get open() {
      return questions.size;
    },
    get connections() {
      return roster.size;
    },
    get agentCount() {
      return roster.agentCount;
    },
    close: () => fanOut.close(),
  };
}
