import { type Agent, canonicalJson } from '@parley/protocol';

import type {
  Command,
  Loaded,
  Needs,
  RecordCommand,
  RecordResponse,
  RegisterAgent,
  ReportEvent,
  Rule,
  UpdateAgentStatus,
} from '../commands.ts';
import { append, refuseObserver } from '../draft.ts';
import { CALLS_NOBODY, settleCalls } from '../participation/calls.ts';
import { checkSpeaking } from '../participation/speaking.ts';
import type { PutRecord } from '../records.ts';
import { admit, journalId } from '../threads/access.ts';
import { failureAfterEvent, failureAfterStatus } from './failure.ts';
import { bindInstance, instanceNeeds } from './instances.ts';
import { journalEntry } from './journal.ts';

/** What there is to know of the caller, and of the instance that it names. */
const needsCaller = ({ thread_id, caller, input }: RegisterAgent | ReportEvent): Needs => ({
  thread: thread_id,
  record: { kind: 'agent', key: caller.agent_id },
  ...instanceNeeds(input.instance_id),
});

const registerAgent: Rule<RegisterAgent> = {
  needs: needsCaller,
  decide({ located, record, records: kept }, command) {
    const { caller, now } = command;
    const { instance_id, ...input } = command.input;
    const known = record?.agent;
    const bound = bindInstance(kept, known, caller, instance_id);
    const at = new Date(now).toISOString();
    const registration = known?.registration;
    const changed = registration === undefined || canonicalJson(registration) !== canonicalJson(input);
    const value: Agent = {
      ...(known ?? unknownAgent(command)),
      registration: input,
      registered_at: at,
      capabilities: input.capabilities,
      last_seen: at,
      ...bound.instances,
    };
    const records = [putAgent(command, value), ...bound.records];
    const { drops } = bound;
    const result = { agent_id: caller.agent_id, registered_at: at, changed };
    if (!changed) return { changes: [], records, drops, result };
    const { change } = journalEntry(located, caller.agent_id, command, {
      type: 'agent.registered',
      kind: 'system',
      body: `${input.name} registered as ${input.type}`,
      metadata: { registration: input },
    });
    return { changes: [change], records, drops, result };
  },
};

const updateAgentStatus: Rule<UpdateAgentStatus> = {
  needs: ({ caller, input }) => ({
    record: { kind: 'agent', key: caller.agent_id },
    ...instanceNeeds(input.instance_id),
  }),
  decide({ record, records: kept }, command) {
    const { status, capabilities, metadata, instance_id } = command.input;
    const bound = bindInstance(kept, record?.agent, command.caller, instance_id);
    const at = new Date(command.now).toISOString();
    const known = record?.agent ?? unknownAgent(command);
    const value: Agent = {
      ...known,
      status,
      reported_at: at,
      last_seen: at,
      ...(capabilities === undefined ? {} : { capabilities }),
      // Of one who has gone, the last known stays.
      metadata: metadata ?? (status === 'offline' ? (known.metadata ?? {}) : lasting(known.metadata)),
      ...bound.instances,
    };
    if (!saysTheSame(known, value)) value.status_since = at;
    const failed = failureAfterStatus(known, value, at);
    const records = [putAgent(command, { ...value, ...failed }), ...bound.records];
    return { changes: [], records, drops: bound.drops, result: { ok: true, recorded_at: at } };
  },
};

const reportEvent: Rule<ReportEvent> = {
  needs: needsCaller,
  decide({ located, record, records: kept }, command) {
    const { caller, now } = command;
    const { event_type, data, instance_id } = command.input;
    const bound = bindInstance(kept, record?.agent, caller, instance_id);
    const content = {
      type: 'message',
      kind: 'event',
      body: textOf(data) ?? event_type,
      metadata: {
        event_type,
        agent_id: caller.agent_id,
        ...(instance_id === undefined ? {} : { instance_id }),
        data,
      },
    } as const;
    const journal = command.thread_id === journalId(caller.workspace_id, caller.agent_id);
    if (!journal) {
      refuseObserver(caller.role, 'report to');
      admit(located, caller);
      checkSpeaking(located, caller);
    }
    const { entry, change } = journal
      ? journalEntry(located, caller.agent_id, command, content)
      : append(admit(located, caller), command, content);
    // It tells how work goes on: where it names nobody it calls nobody.
    const calls = journal ? CALLS_NOBODY : settleCalls(change.thread, entry);
    const at = new Date(now).toISOString();
    const known = record?.agent ?? unknownAgent(command);
    const last_event = {
      event_type,
      text: content.body.slice(0, 200),
      at,
      ...(journal ? {} : { thread_id: command.thread_id }),
    };
    const value: Agent = {
      ...known,
      last_seen: at,
      last_event,
      ...failureAfterEvent(known, last_event),
      ...bound.instances,
    };
    const { thread_id, message_id, seq } = entry;
    return {
      changes: [change],
      records: [putAgent(command, value), ...bound.records],
      drops: bound.drops,
      result: { thread_id, message_id, seq, created_at: entry.created_at, ...calls },
    };
  },
};

const recordCommand: Rule<RecordCommand> = {
  needs: ({ thread_id }) => ({ thread: thread_id }),
  decide({ located }, command) {
    const { of_agent, ...metadata } = command.input;
    const { entry, change } = journalEntry(located, of_agent, command, {
      type: 'agent.command',
      kind: 'system',
      body: metadata.command,
      to: of_agent,
      metadata,
    });
    return { changes: [change], result: { message_id: entry.message_id, seq: entry.seq } };
  },
};

const recordResponse: Rule<RecordResponse> = {
  needs: ({ thread_id }) => ({ thread: thread_id }),
  decide({ located }, command) {
    const { agent_id } = command.caller;
    const { success, error_code } = command.input;
    const { entry, change } = journalEntry(located, agent_id, command, {
      type: 'agent.response',
      kind: 'system',
      body: success ? 'done' : `failed: ${error_code ?? 'unknown'}`,
      metadata: command.input,
    });
    return { changes: [change], result: { message_id: entry.message_id, seq: entry.seq } };
  },
};

export const agentRules = {
  register_agent: registerAgent,
  update_agent_status: updateAgentStatus,
  report_event: reportEvent,
  record_command: recordCommand,
  record_response: recordResponse,
};

/** Whoever speaks for the first time is in the registry from then on. */
export function putHeard(record: Loaded['record'], command: Command): PutRecord {
  const last_seen = new Date(command.now).toISOString();
  return putAgent(command, { ...(record?.agent ?? unknownAgent(command)), last_seen });
}

function unknownAgent({ caller, now }: Command): Agent {
  const at = new Date(now).toISOString();
  return {
    agent_id: caller.agent_id,
    workspace_id: caller.workspace_id,
    capabilities: [],
    status: 'online',
    status_since: at,
    last_seen: at,
  };
}

function putAgent({ caller }: Command, value: Agent): PutRecord {
  const { agent_id, workspace_id } = caller;
  return { kind: 'agent', workspace_id, key: agent_id, mark: value.status, owner: agent_id, value };
}

/** Words of a status report that hold for that report alone; the others stand until they are said anew. */
const PASSING: readonly string[] = ['waiting', 'rateLimitedUntil', 'currentTask', 'error'];

function lasting(metadata: Agent['metadata']): NonNullable<Agent['metadata']> {
  const kept = Object.entries(metadata ?? {}).filter(([name]) => !PASSING.includes(name));
  return Object.fromEntries(kept);
}

/** True when an agent tells nothing new of what it is at. */
function saysTheSame(a: Agent, b: Agent): boolean {
  return a.status === b.status && PASSING.every((name) => a.metadata?.[name] === b.metadata?.[name]);
}

function textOf(data: Record<string, unknown>): string | undefined {
  for (const key of ['message', 'text', 'summary', 'result', 'error', 'taskId']) {
    const value = data[key];
    if (typeof value === 'string' && value !== '') return value.slice(0, 2_000);
  }
  return undefined;
}
