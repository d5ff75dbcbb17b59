import {
  type Caller,
  type Contract,
  CONTRACTS,
  ParleyError,
  type ParsedInputOf,
  fieldsOf,
} from '@parley/protocol';

import type { Commander, Links } from '../agents/ports.ts';
import type { CallContext, Hub } from '../gate.ts';
import type { Nodes } from '../nodes/nodes.ts';
import type { MessagePorts, NotifyPorts, RecordPorts } from '../ports.ts';
import type { Arrivals, HeardSession } from '../wake/arrivals.ts';
import { type Broker, createBroker } from './broker.ts';
import { createCommander } from './commander.ts';
import { createFanOut, type FanOut } from './fan-out.ts';
import type { Link } from './link.ts';
import { createUpdates, type LiveStatus } from './live-update.ts';
import { createOtherNodes, type OtherNodes } from './other-nodes.ts';
import { createQuestions, type Questions } from './questions.ts';
import { createRegistry } from './registry.ts';
import { createRoster, type Roster } from './roster.ts';
import { createStatuses } from './statuses.ts';
import { createTelling, type Telling } from './telling.ts';

export interface LiveOptions extends RecordPorts, Pick<MessagePorts, 'offers'>, Pick<NotifyPorts, 'feed'> {
  arrivals: Arrivals;
  newId: () => string;
  commandTimeoutMs: number;
  maxConcurrent: number;
  /** The context of a call made for what an agent tells. */
  context: () => CallContext;
  /** The other nodes, where there are any. */
  nodes?: Nodes | undefined;
  onFault: (error: unknown) => void;
}

/** The live side of a hub: who is connected, what is asked of whom, and who hears of what. */
export interface Live extends Pick<Broker, 'command' | 'status' | 'respond' | 'fail'> {
  join(link: Link): void;
  leave(link: Link): void;
  /** What agents tell without being asked. */
  tell: Telling;
  /** True while something is asked of this agent under this id, or without an id how it is. */
  isAsked(agent: Caller, id?: string): boolean;
  /** An agent has registered: over the connection of its session it takes the commands that it lists. */
  registered(caller: Caller, status: LiveStatus): Promise<void>;
  session: Roster['session'];
  /** The other node where a session without a socket has its mailbox. */
  mailboxNode(caller: Caller): string | undefined;
  /** Agents that take commands. */
  agents: Roster['agents'];
  /** Shows a connection all that is told in its workspace, whomever it is for. */
  watch: Roster['watch'];
  follow: FanOut['follow'];
  /** Ends the following of a thread, or with none named of everything. */
  unfollow(link: Link, threadId?: string): void;
  /** How it stands with the questions to the agents of a workspace. */
  counts: Questions['counts'];
  /**
   * Takes the gate, before which it can only tell who is connected; gives the gate for all faces: what agents report
   * there is shown to all who watch here.
   */
  open(gate: Hub): Hub;
  /** Who is connected, for those who show it. */
  links: Links;
  /** The sessions that take commands on a connection to this node, or may. */
  takers(): HeardSession[];
  /** True while an agent follows a thread, at whichever node. */
  hears(workspaceId: string, agentId: string, threadId: string): boolean | Promise<boolean>;
  /** How the agents of a workspace are may be another thing now: whoever watches looks again. */
  ring(workspaceId: string): void;
  /** Commands an agent on behalf of another face. */
  commander: Commander;
  /** Questions that agents have not answered yet. */
  readonly asked: number;
  /** How many connections there are to this node. */
  readonly connections: number;
  /** How many agents these connections belong to. */
  readonly agentCount: number;
  close(): void;
}

/** How the topics begin that tell how the agents of a workspace are. */
export const AGENTS_TOPICS = 'agents ';

/** The feed's name for how the agents of a workspace are: rung when one may have changed. */
export function agentsTopic(workspaceId: string): string {
  return `${AGENTS_TOPICS}${workspaceId}`;
}

/** Builds the live side over the gate and the log. */
export function createLive(options: LiveOptions): Live {
  const { clock, newId, maxConcurrent, onFault } = options;
  let gate: Hub | undefined;
  function opened(): Hub {
    if (gate === undefined) throw new ParleyError('UNAVAILABLE', 'the hub is not open yet');
    return gate;
  }
  const hub: Hub = {
    call: (...call) => opened().call(...call),
    acceptForLater: (...call) => opened().acceptForLater(...call),
  };
  const roster = createRoster(clock.now);
  const updates = createUpdates(clock, newId);
  const questions = createQuestions({ roster, timeoutMs: options.commandTimeoutMs });
  const registry = createRegistry(options, hub, options.context);
  let otherNodes: OtherNodes | undefined;
  const others = (): OtherNodes | undefined => otherNodes;
  const statuses = createStatuses({ clock, roster, registry, updates, others, onFault });
  const fanOut = createFanOut({
    log: options.log,
    feed: options.feed,
    offered: (caller, threadId, first, last) => options.offers.note(caller, threadId, last, 'ws', first),
  });
  const parts = { roster, questions, registry, statuses, updates, others };
  const broker = createBroker({ ...parts, maxConcurrent, onFault });
  const tell = createTelling({ ...parts, resolve: (...who) => broker.resolve(...who) });
  function ring(workspaceId: string): void {
    options.feed.ring(agentsTopic(workspaceId));
  }

  /** Shows those who watch what the contract of a call says that they see of it. */
  function show(caller: Caller, shows: NonNullable<Contract['shows']>, input: Record<string, unknown>): void {
    const { agent_id, workspace_id } = caller;
    const { instance_id } = input;
    const name = typeof instance_id === 'string' ? instance_id : agent_id;
    if (shows === 'status') {
      // The contract that shows a status is that of its report, and the hub has parsed the input.
      const { status, capabilities = [], metadata } = input as ParsedInputOf<'update_agent_status'>;
      const said = metadata === undefined ? {} : { metadata };
      statuses.noticed(caller, { name, status, capabilities, ...said });
    }
    if (shows === 'event') {
      // As with a status.
      const { event_type, data, thread_id: threadId } = input as ParsedInputOf<'report_event'>;
      const update = updates.make('event', agent_id, undefined, { body: { name, event_type, data } });
      const except = new Set([roster.session(caller)]);
      statuses.publish(workspace_id, update, { threadId, except }).catch(onFault);
    }
    ring(workspace_id);
  }

  const watched: Hub = {
    call(caller, name, input, context) {
      const { shows }: Contract = CONTRACTS[name];
      const answer = opened().call(caller, name, input, context);
      if (shows === undefined) return answer;
      return answer.then((result) => {
        show(caller, shows, fieldsOf(input));
        return result;
      });
    },
    acceptForLater: (...call) => hub.acceptForLater(...call),
  };

  function join(link: Link): void {
    roster.join(link);
    const { workspace_id, agent_id } = link.caller;
    questions.deliver(workspace_id, agent_id);
    // Who is connected elsewhere is rung for there.
    options.feed.ringHere(agentsTopic(workspace_id));
  }

  /** True when its agent has no other connection. */
  function leave(link: Link): boolean {
    const last = roster.leave(link);
    questions.lost(link);
    if (last) broker.gone(link.caller);
    options.feed.ringHere(agentsTopic(link.caller.workspace_id));
    return last;
  }

  /** An agent that has come to another node meanwhile is not gone. */
  async function goneFromHere({ caller }: Link): Promise<void> {
    const node = await otherNodes?.find(caller, caller.agent_id, '');
    if (node === undefined && roster.of(caller.workspace_id).get(caller.agent_id) === undefined)
      statuses.gone(caller);
  }

  /** Whoever wakes passed it by while nothing was known of this. */
  function foundElsewhere(link: Link): void {
    if (mayTake(link)) options.arrivals.elsewhere(link.caller);
  }

  if (options.nodes !== undefined)
    otherNodes = createOtherNodes(options.nodes, {
      roster,
      join(link) {
        join(link);
        foundElsewhere(link);
      },
      leave: (link) => void leave(link),
      changed(link) {
        questions.deliver(link.caller.workspace_id, link.caller.agent_id);
        options.feed.ringHere(agentsTopic(link.caller.workspace_id));
        foundElsewhere(link);
      },
      command: (request) => broker.commandHere(request),
      isAsking: (caller, target, id) => questions.asked(caller, target, id) !== undefined,
      answer: (caller, answer) => broker.answerHere(caller, answer),
      settle: ({ agent, id, status }) => tell.settle(agent, id, status),
      show({ workspace_id, update, except, threadId, watching, answers, unseen }) {
        const has = new Set(except.map((session) => roster.own(session)));
        const agent = { workspace_id, agent_id: update.from };
        if (answers !== undefined)
          for (const session of tell.settle(agent, answers.id, answers.status))
            has.add(roster.session(session));
        const to = { except: has, threadId, ...(watching === undefined ? {} : { watching }) };
        if (unseen !== true) statuses.publishHere(workspace_id, update, to).catch(onFault);
      },
      hears: (...which) => options.log.hears(...which) || fanOut.hears(...which),
    });

  return {
    ...broker,
    tell,
    join(link) {
      join(link);
      otherNodes?.joined(link);
      // Before it registers, and should that be refused, it takes what it is known to take.
      if (mayTake(link)) options.arrivals.connected(link.caller);
    },
    leave(link) {
      fanOut.unfollow(link);
      const own = roster.own(link.caller);
      const last = leave(link);
      // One that its session has replaced here is known no more.
      if (own === undefined || own === link) otherNodes?.left(link);
      if (!last) return;
      if (otherNodes === undefined) statuses.gone(link.caller);
      else goneFromHere(link).catch(onFault);
    },
    isAsked: (agent, id) =>
      (id === undefined
        ? questions.open(agent.workspace_id, agent.agent_id, 'status_request').length > 0
        : questions.has(agent, id)) || otherNodes?.isAsked(agent, id) === true,
    async registered(caller, status) {
      const link = roster.own(caller);
      if (link === undefined) return;
      link.registered = true;
      link.takes = status.capabilities;
      otherNodes?.changed(link);
      await statuses.keep(caller, status);
      statuses.noticed(caller, status);
      questions.deliver(caller.workspace_id, caller.agent_id);
      if (link.takes.length > 0) options.arrivals.connected(caller);
    },
    session: (caller) => roster.own(caller),
    mailboxNode(caller) {
      const link = roster.own(caller) === undefined ? roster.session(caller) : undefined;
      return link?.how === 'http' ? link.node : undefined;
    },
    takers: () =>
      roster
        .local()
        .filter(mayTake)
        .map(({ caller }) => sessionName(caller)),
    agents: (workspaceId) => roster.agents(workspaceId),
    watch: (link) => roster.watch(link),
    follow: (...which) => fanOut.follow(...which),
    unfollow(link, threadId) {
      fanOut.unfollow(link, threadId);
      if (threadId === undefined) roster.unwatch(link);
    },
    counts: (workspaceId) => questions.counts(workspaceId),
    open(given) {
      gate = given;
      return watched;
    },
    links: {
      of: (workspaceId) => roster.of(workspaceId),
      session: (name) => roster.connection(name),
      get size() {
        return roster.size + (otherNodes?.size ?? 0);
      },
    },
    hears: (...which) =>
      options.log.hears(...which) || fanOut.hears(...which) || (otherNodes?.hears(...which) ?? false),
    ring,
    commander: createCommander(broker, newId),
    get asked() {
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

/** True for a connection on which commands may go out: a worker's, until it says that it takes none. */
function mayTake({ caller, takes }: Link): boolean {
  return takes === undefined ? caller.role === 'worker' : takes.length > 0;
}

function sessionName({ workspace_id, agent_id, session_id }: Caller): HeardSession {
  return { workspace_id, agent_id, session_id };
}
