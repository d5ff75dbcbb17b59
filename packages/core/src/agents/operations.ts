import { type Caller, ParleyError } from '@parley/protocol';

import { operation, stamp } from '../operation.ts';
import { checkThreadScope, journalId } from '../threads/access.ts';
import { mayOverride } from '../threads/status.ts';
import { viewAgents } from './view.ts';

export const registerAgent = operation('register_agent', {
  authority: 'look',
  async run(deps, caller, { idempotency_key, ...input }) {
    const head = stamp(deps, caller, 'register_agent', idempotency_key);
    const thread_id = journalId(caller.workspace_id, caller.agent_id);
    return (await deps.log.append({ type: 'register_agent', ...head, thread_id, input })).result as never;
  },
});

export const updateAgentStatus = operation('update_agent_status', {
  authority: 'look',
  async run(deps, caller, { idempotency_key, ...input }) {
    const head = stamp(deps, caller, 'agent_status', idempotency_key);
    return (await deps.log.append({ type: 'update_agent_status', ...head, input })).result as never;
  },
});

export const reportEvent = operation('report_event', {
  authority: 'act',
  async run(deps, caller, { thread_id: thread, idempotency_key, ...input }) {
    const thread_id = thread ?? journalId(caller.workspace_id, caller.agent_id);
    checkThreadScope(thread_id, caller);
    const head = stamp(deps, caller, `event:${thread_id}`, idempotency_key);
    return (await deps.log.append({ type: 'report_event', ...head, thread_id, input })).result as never;
  },
});

export const listAgents = operation('list_agents', {
  authority: 'look',
  async run(deps, caller, { state }) {
    const agents = await viewAgents(deps, caller);
    return { agents: agents.filter((agent) => state === undefined || agent.state === state) };
  },
});

export const getAgent = operation('get_agent', {
  authority: 'look',
  async run(deps, caller, { of_agent }) {
    const [agent] = await viewAgents(deps, caller, of_agent);
    if (agent === undefined) throw new ParleyError('NOT_FOUND', `no agent ${of_agent} is known here`);
    const { workspace_id } = caller;
    const thread_id = journalId(workspace_id, of_agent);
    const query = { workspace_id, thread_id, after: 0, limit: 0, max_bytes: 0 };
    const { located } = await deps.store.page(query);
    return { ...agent, journal_thread_id: located.thread === undefined ? null : thread_id };
  },
});

export const commandAgent = operation('command_agent', {
  authority: 'act',
  async run(deps, caller, input, context) {
    requireCommander(caller);
    return deps.commander.command(caller, input, context);
  },
});

/** Refuses commands from those who only work. */
export function requireCommander(caller: Caller): void {
  if (!mayOverride(caller) || caller.read_only === true)
    throw new ParleyError('INSUFFICIENT_AUTHORITY', 'only an operator or orchestrator may command an agent');
}
