import { type AgentView, LIMITS, ParleyError } from '@parley/protocol';

import { operation, stamp } from '../operation.ts';
import type { AgentPorts, ConversationPorts, RecordPorts } from '../ports.ts';
import { checkThreadScope, journalId } from '../threads/access.ts';
import { stillThere } from './forget.ts';
import { requireCommander } from './require-commander.ts';
import { listAgentStates } from './state-operation.ts';
import { agentNames, viewAgents, type ViewPorts } from './view.ts';

const registerAgent = operation('register_agent', {
  authority: 'look',
  async run(deps: RecordPorts, caller, { idempotency_key, ...input }) {
    const head = stamp(deps, caller, 'register_agent', idempotency_key);
    const thread_id = journalId(caller.workspace_id, caller.agent_id);
    return (await deps.log.append({ type: 'register_agent', ...head, thread_id, input })).result;
  },
});

const updateAgentStatus = operation('update_agent_status', {
  authority: 'look',
  async run(deps: RecordPorts, caller, { idempotency_key, ...input }) {
    const head = stamp(deps, caller, 'agent_status', idempotency_key);
    return (await deps.log.append({ type: 'update_agent_status', ...head, input })).result;
  },
});

const reportEvent = operation('report_event', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { thread_id: thread, idempotency_key, ...input }) {
    const thread_id = thread ?? journalId(caller.workspace_id, caller.agent_id);
    checkThreadScope(thread_id, caller);
    const head = stamp(deps, caller, `event:${thread_id}`, idempotency_key);
    return (await deps.log.append({ type: 'report_event', ...head, thread_id, input })).result;
  },
});

const listAgents = operation('list_agents', {
  authority: 'look',
  async run(deps: ViewPorts, caller, { state, limit, after }) {
    const agents: AgentView[] = [];
    let bytes = 0;
    let past = after;
    for (let page = 0; page < MOST_PAGES; page++) {
      const names = await agentNames(deps, { workspace_id: caller.workspace_id, past, limit: limit + 1 });
      for (const agent of await viewAgents(deps, caller, names.slice(0, limit))) {
        if (state !== undefined && agent.state !== state) continue;
        bytes += JSON.stringify(agent).length;
        if (agents.length === limit || (agents.length > 0 && bytes > LIMITS.page_bytes))
          return { agents, next_after: agents.at(-1)?.agent_id ?? null };
        agents.push(agent);
      }
      if (names.length <= limit) return { agents, next_after: null };
      past = names[limit - 1];
      if (agents.length === limit) break;
    }
    return { agents, next_after: past ?? null };
  },
});

/** How many pages are looked at for agents in one state. */
const MOST_PAGES = 10;

const getAgent = operation('get_agent', {
  authority: 'look',
  async run(deps: ViewPorts, caller, { of_agent }) {
    const { workspace_id } = caller;
    const thread_id = journalId(workspace_id, of_agent);
    const query = { workspace_id, thread_id, after: 0, limit: 0, max_bytes: 0 };
    const [[agent], { located }] = await Promise.all([
      viewAgents(deps, caller, [of_agent]),
      deps.store.page(query),
    ]);
    if (agent === undefined) throw new ParleyError('NOT_FOUND', `no agent ${of_agent} is known here`);
    return { ...agent, journal_thread_id: located.thread === undefined ? null : thread_id };
  },
});

const commandAgent = operation('command_agent', {
  authority: 'act',
  async run(deps: AgentPorts, caller, input, context) {
    requireCommander(caller);
    return deps.commander.command(caller, input, context);
  },
});

const forgetAgent = operation('forget_agent', {
  authority: 'act',
  async run(
    deps: RecordPorts & ConversationPorts & AgentPorts,
    caller,
    { idempotency_key, of_agent, reason },
  ) {
    if (caller.role !== 'operator' || caller.read_only === true)
      throw new ParleyError('INSUFFICIENT_AUTHORITY', 'only an operator may take an agent off the list');
    const { workspace_id } = caller;
    if ((deps.links.of(workspace_id).get(of_agent) ?? []).length > 0)
      throw stillThere(of_agent, 'is connected');
    if (deps.presence.ofAgent(workspace_id, of_agent).length > 0)
      throw stillThere(of_agent, 'is present in a thread');
    const head = stamp(deps, caller, `forget:${of_agent}`, idempotency_key);
    const { result } = await deps.log.append({
      type: 'forget_agent',
      ...head,
      thread_id: journalId(workspace_id, of_agent),
      input: {
        of_agent,
        ...(reason === undefined ? {} : { reason }),
        offline_after_ms: deps.patience.offlineAfterMs,
      },
    });
    return result;
  },
});

const dismissError = operation('dismiss_error', {
  authority: 'act',
  async run(deps: RecordPorts, caller, { idempotency_key, ...input }) {
    if (caller.role !== 'operator' || caller.read_only === true)
      throw new ParleyError('INSUFFICIENT_AUTHORITY', 'only an operator may dismiss an error');
    const { of_agent } = input;
    const head = stamp(deps, caller, `dismiss:${of_agent}`, idempotency_key);
    const thread_id = journalId(caller.workspace_id, of_agent);
    return (await deps.log.append({ type: 'dismiss_error', ...head, thread_id, input })).result;
  },
});

/** By name: the table of operations takes them from here. */
export const agentOperations = {
  register_agent: registerAgent,
  update_agent_status: updateAgentStatus,
  report_event: reportEvent,
  list_agents: listAgents,
  get_agent: getAgent,
  list_agent_states: listAgentStates,
  command_agent: commandAgent,
  forget_agent: forgetAgent,
  dismiss_error: dismissError,
};
