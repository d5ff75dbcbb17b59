import type { Caller } from '@parley/protocol';
import { errorText } from '@parley/protocol';

import type { SessionName } from '../agents/ports.ts';
import type { Nodes } from '../nodes/nodes.ts';
import type { CommandOutcome, CommandRequest, CommandResponse, Sealed, Trouble } from './command-port.ts';
import type { Link } from './link.ts';
import type { LiveStatus, LiveUpdate } from './live-update.ts';
import { isHere, type LinkFacts, RemoteLink, SEND, type Sent, sessionOf } from './remote-link.ts';
import type { Roster } from './roster.ts';

/** What is shown to those who are connected to other nodes. */
export interface Shown {
  workspace_id: string;
  update: LiveUpdate;
  except: SessionName[];
  threadId?: string | undefined;
  watching?: boolean | undefined;
  /** The status questions that it answers: the one of this id, else all that ask how its sender is. */
  answers?: { id: string; status: LiveStatus | Sealed } | undefined;
  /** It answers questions and is shown to nobody. */
  unseen?: boolean | undefined;
}

/** An answer of an agent to what was asked of it at another node. */
export type Answer = { id: string } & ({ response: CommandResponse | Sealed } | { error: Trouble | Sealed });

/** What the live side of this node does when others ask for it. */
export interface LiveHere {
  roster: Roster;
  join(link: Link): void;
  leave(link: Link): void;
  /** Something is known of a connection that was not: what waits for it may go out. */
  changed(link: Link): void;
  command(request: CommandRequest): Promise<CommandOutcome>;
  /** True while something is open that this caller has asked under this id. */
  isAsking(caller: Caller, target: string, id: string): boolean;
  answer(caller: Caller, answer: Answer): Promise<boolean>;
  show(shown: Shown): void;
  /** Ends what was asked here how an agent is; gives the sessions that had asked. */
  settle(settled: Settled): SessionName[];
  hears(workspaceId: string, agentId: string, threadId: string): boolean;
}

/** How an agent is, told to those who have asked for it. */
interface Settled {
  agent: Pick<Caller, 'workspace_id' | 'agent_id'>;
  id: string;
  status: LiveStatus | Sealed;
}

/** The live sides of the other nodes: who is connected there is connected here. */
export interface OtherNodes {
  /** How many connections there are to them. */
  readonly size: number;
  joined(link: Link): void;
  changed(link: Link): void;
  left(link: Link): void;
  /** Hands a command to the node to which its agent is connected. */
  forward(node: string, request: CommandRequest): Promise<CommandOutcome>;
  /** The node where an agent is connected, or where this command is open; asked anew, since the copy may be behind. */
  find(caller: Caller, target: string, commandId: string): Promise<string | undefined>;
  answer(caller: Caller, answer: Answer): Promise<boolean>;
  /** True where the agent was handed a question of another node under this id, or without an id how it is. */
  isAsked(agent: Caller, id?: string): boolean;
  show(shown: Shown): void;
  /** Answers what other nodes have asked an agent here; gives the sessions that had asked. */
  settle(settled: Settled): Promise<SessionName[]>;
  hears(workspaceId: string, agentId: string, threadId: string): Promise<boolean>;
}

const PART = 'links';
const COMMAND = 'live.command';
const FIND = 'live.find';
const ANSWER = 'live.answer';
const SHOW = 'live.show';
const SETTLE = 'live.settle';
const HEARS = 'live.hears';
/** How much longer than its agent a command may take. */
const MARGIN_MS = 2_000;
const COMMAND_MS = 24 * 3_600_000;
const ASK_MS = 500;
/** How many questions of other nodes are remembered that agents were handed here. */
const MOST_PASSED = 10_000;

type Update = { is: 'here'; facts: LinkFacts } | { is: 'gone'; session: SessionName };

interface Find {
  caller: Caller;
  target: string;
  id: string;
}

/** Puts the live side on the bus. */
export function createOtherNodes({ bus, mirror, calls }: Nodes, here: LiveHere): OtherNodes {
  const { roster } = here;
  const remote = new Map<string, Map<string, RemoteLink>>();
  /** What agents were handed here for other nodes, by the id that they have seen. */
  const passed = new Map<string, { node: string; agent: string; type: LiveUpdate['type'] }>();

  const linksOf = (node: string): Map<string, RemoteLink> => {
    const known = remote.get(node) ?? new Map<string, RemoteLink>();
    remote.set(node, known);
    return known;
  };

  function enter(node: string, facts: LinkFacts): void {
    const name = keyOf(facts.caller);
    const known = linksOf(node).get(name);
    if (known !== undefined) {
      known.registered = facts.registered;
      if (facts.takes !== undefined) known.takes = facts.takes;
      return here.changed(known);
    }
    const own = roster.own(facts.caller);
    // The same session is connected here as well: the newer connection stays, and its own node closes the other.
    if (own !== undefined && (own.since > facts.since || (own.since === facts.since && bus.node > node)))
      return;
    const link = new RemoteLink(node, facts, calls);
    linksOf(node).set(name, link);
    here.join(link);
  }

  function exit(node: string, name: string): void {
    const link = linksOf(node).get(name);
    linksOf(node).delete(name);
    if (link !== undefined) here.leave(link);
  }

  mirror.add(PART, {
    snapshot: () => roster.local().map((link): Update => ({ is: 'here', facts: factsOf(link) })),
    apply(node, body) {
      // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
      const update = body as Update;
      if (update.is === 'here') enter(node, update.facts);
      else exit(node, keyOf(update.session));
    },
    forget(node) {
      for (const name of linksOf(node).keys()) exit(node, name);
      remote.delete(node);
      for (const [id, one] of passed) if (one.node === node) passed.delete(id);
    },
  });

  calls.answer(SEND, (body, { from }) => {
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    const { session, update } = body as Sent;
    const link = roster.own(session);
    if (link === undefined) throw new Error(`${session.agent_id} is not connected here`);
    if (update.type === 'command' || update.type === 'status_request') {
      const agent = agentKey(session.workspace_id, session.agent_id);
      passed.set(update.id, { node: from, agent, type: update.type });
      const [oldest] = passed.keys();
      if (passed.size > MOST_PASSED && oldest !== undefined) passed.delete(oldest);
    }
    link.send(update);
    return new Promise<void>((resolve) => link.confirm(resolve));
  });
  // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
  calls.answer(COMMAND, (body) => here.command(body as CommandRequest));
  calls.answer(FIND, (body) => {
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    const { caller, target, id } = body as Find;
    const links = (roster.of(caller.workspace_id).get(target) ?? []).filter(isHere);
    return { links: links.map(factsOf), isAsking: here.isAsking(caller, target, id) };
  });
  calls.answer(ANSWER, (body) => {
    // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
    const { caller, answer } = body as { caller: Caller; answer: Answer };
    return here.answer(caller, answer);
  });
  // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
  calls.answer(SETTLE, (body) => here.settle(body as Settled));
  // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
  calls.answer(HEARS, (body) => here.hears(...(body as [string, string, string])));
  // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
  bus.subscribe(SHOW, (body) => here.show(body as Shown));

  function tell(update: Update): void {
    mirror.tell(PART, update);
  }

  return {
    get size() {
      let all = 0;
      for (const links of remote.values()) all += links.size;
      return all;
    },
    joined: (link) => tell({ is: 'here', facts: factsOf(link) }),
    changed: (link) => tell({ is: 'here', facts: factsOf(link) }),
    left: (link) => tell({ is: 'gone', session: sessionOf(link.caller) }),
    async forward(node, request) {
      const { of_agent, timeout_ms } = request;
      const timeoutMs = timeout_ms === undefined ? COMMAND_MS : timeout_ms + MARGIN_MS;
      try {
        // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
        return (await calls.ask(node, COMMAND, request, { timeoutMs })) as CommandOutcome;
      } catch (error) {
        const message = `the node of ${of_agent} was lost in the midst: ${errorText(error)}`;
        return { outcome: 'gone', of_agent, message, timeout_ms: timeout_ms ?? 0 };
      }
    },
    async find(caller, target, id) {
      const asked: Find = { caller, target, id };
      const answers = await calls.askAll(FIND, asked, { timeoutMs: ASK_MS });
      for (const { node, answer } of answers) {
        // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
        const { links, isAsking } = answer as { links: LinkFacts[]; isAsking: boolean };
        for (const facts of links) enter(node, facts);
        if (links.length > 0 || isAsking) return node;
      }
      return undefined;
    },
    async answer(caller, answer) {
      const node = passed.get(answer.id)?.node;
      passed.delete(answer.id);
      const asked = { caller, answer };
      if (node !== undefined) return (await calls.ask(node, ANSWER, asked)) === true;
      return (await calls.askAll(ANSWER, asked)).some((one) => one.answer === true);
    },
    async settle(settled) {
      const agent = agentKey(settled.agent.workspace_id, settled.agent.agent_id);
      const nodes = new Set<string>();
      for (const one of passed.values())
        if (one.agent === agent && one.type === 'status_request') nodes.add(one.node);
      const options = { timeoutMs: ASK_MS };
      const answers = await Promise.all(
        [...nodes].map((node) => calls.ask(node, SETTLE, settled, options).catch(() => [])),
      );
      // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
      return answers.flat() as SessionName[];
    },
    isAsked({ workspace_id, agent_id }, id) {
      const agent = agentKey(workspace_id, agent_id);
      if (id !== undefined) return passed.get(id)?.agent === agent;
      for (const one of passed.values())
        if (one.agent === agent && one.type === 'status_request') return true;
      return false;
    },
    show(shown) {
      if (shown.answers !== undefined) {
        const agent = agentKey(shown.workspace_id, shown.update.from);
        for (const [id, one] of passed)
          if (one.agent === agent && one.type === 'status_request') passed.delete(id);
      }
      bus.publish(SHOW, shown);
    },
    async hears(workspaceId, agentId, threadId) {
      const answers = await calls.askAll(HEARS, [workspaceId, agentId, threadId], { timeoutMs: ASK_MS });
      return answers.some(({ answer }) => answer === true);
    },
  };
}

function factsOf({ caller, how, since, registered, takes }: Link): LinkFacts {
  return { caller: plain(caller), how, since, registered, takes };
}

/** A caller as it goes over the bus: what it may do, and not by which token. */
function plain({ workspace_id, agent_id, role, session_id, read_only }: Caller): Caller {
  return { workspace_id, agent_id, role, session_id, ...(read_only === undefined ? {} : { read_only }) };
}

function keyOf({ workspace_id, agent_id, session_id }: SessionName): string {
  return JSON.stringify([workspace_id, agent_id, session_id]);
}

function agentKey(workspaceId: string, agentId: string): string {
  return `${workspaceId} ${agentId}`;
}
