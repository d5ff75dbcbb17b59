import { type Agent, ParleyError } from '@parley/protocol';

import type { DismissError, Rule } from '../commands.ts';
import { journalEntry } from './journal.ts';

export type Failure = NonNullable<Agent['failure']>;

type LastEvent = NonNullable<Agent['last_event']>;

/** What an agent failed with last: as its record says, or as one of before implies. */
export function failureOf(agent: Agent | undefined): Failure | undefined {
  if (agent === undefined) return undefined;
  const { failure, last_event: event, status, status_since, reported_at = '', metadata } = agent;
  if (failure !== undefined) return failure;
  const reported = metadata?.['error'];
  // Records of before kept no failure: who has said since then that all is well was believed.
  if (isFailure(event) && (event.at >= reported_at || (status === 'error' && typeof reported !== 'string')))
    return byEvent(event);
  return status === 'error' ? { at: status_since, text: reasonOf(metadata) } : undefined;
}

/** The failure that nobody has dismissed yet. */
export function openFailure(agent: Agent | undefined): Failure | undefined {
  const failure = failureOf(agent);
  return failure?.dismissed === undefined ? failure : undefined;
}

/** What an agent has failed with once it has reported an event. */
export function failureAfterEvent(known: Agent, event: LastEvent): Pick<Agent, 'failure'> {
  const last = failureOf(known);
  if (!isFailure(event)) return kept(last);
  // Its status told the same a moment ago.
  if (last !== undefined && known.status === 'error' && reasonOf(known.metadata) === event.text)
    return kept(last);
  return { failure: later(last, byEvent(event)) };
}

/** What an agent has failed with once it has reported its status. */
export function failureAfterStatus(known: Agent, reported: Agent, at: string): Pick<Agent, 'failure'> {
  const last = failureOf(known);
  if (reported.status !== 'error') return kept(last);
  const text = reasonOf(reported.metadata);
  if (last !== undefined && (isRepeated(known, reported) || isTold(known, last, reported))) return kept(last);
  return { failure: later(last, { at, text }) };
}

/** True for a status that only says again what the one before it said, also across an absence. */
function isRepeated(known: Agent, { metadata }: Agent): boolean {
  const said = metadata?.['error'];
  if (known.metadata?.['error'] !== said) return false;
  return known.status === 'error' || (known.status === 'offline' && typeof said === 'string');
}

/** True where an event told the same since the last status. */
function isTold({ last_event: event, reported_at = '' }: Agent, last: Failure, { metadata }: Agent): boolean {
  const said = metadata?.['error'];
  if (event?.at !== last.at || event.at < reported_at) return false;
  return typeof said !== 'string' || said === event.text;
}

function isFailure(event: LastEvent | undefined): event is LastEvent {
  return event?.event_type === 'error' || event?.event_type === 'task_failed';
}

function byEvent({ at, text, thread_id }: LastEvent): Failure {
  return { at, text, ...(thread_id === undefined ? {} : { thread_id }) };
}

function reasonOf(metadata: Agent['metadata']): string {
  const why = metadata?.['error'] ?? metadata?.['currentTask'];
  return typeof why === 'string' ? why.slice(0, 200) : 'reports an error';
}

/** Failures are told apart by their time: a newer one has a later one, whatever the clock says. */
function later(last: Failure | undefined, next: Failure): Failure {
  if (last === undefined || last.at < next.at) return next;
  return { ...next, at: new Date(Date.parse(last.at) + 1).toISOString() };
}

const kept = (failure: Failure | undefined): Pick<Agent, 'failure'> =>
  failure === undefined ? {} : { failure };

/** Somebody has seen what an agent failed with: its journal tells who, and the agent is no longer in error. */
const dismissError: Rule<DismissError> = {
  needs: ({ thread_id, input }) => ({ thread: thread_id, record: { kind: 'agent', key: input.of_agent } }),
  decide({ located, record }, command) {
    const { of_agent } = command.input;
    const { agent_id: by, workspace_id } = command.caller;
    const agent = record?.agent;
    const failure = failureOf(agent);
    if (agent === undefined) throw new ParleyError('NOT_FOUND', `no agent ${of_agent} is known here`);
    const seen = new Date(command.input.failed_at).toISOString();
    if (failure === undefined || failure.at < seen)
      throw new ParleyError('NOT_FOUND', `${of_agent} has no error of ${seen}`);
    if (failure.at > seen)
      throw new ParleyError(
        'CONFLICT',
        `${of_agent} has failed again since then, at ${failure.at}: look at that`,
        {
          reason: 'newer_error',
        },
      );
    const { at: failed_at, dismissed } = failure;
    if (dismissed !== undefined)
      return {
        changes: [],
        result: { agent_id: of_agent, failed_at, dismissed_by: dismissed.by, dismissed_at: dismissed.at },
      };
    const { entry, change } = journalEntry(located, of_agent, command, {
      type: 'agent.error_dismissed',
      kind: 'system',
      body: `the error of ${failed_at} was dismissed`,
      metadata: { of_agent, failed_at },
    });
    const value: Agent = { ...agent, failure: { ...failure, dismissed: { by, at: entry.created_at } } };
    return {
      changes: [change],
      records: [{ kind: 'agent', workspace_id, key: of_agent, mark: agent.status, owner: of_agent, value }],
      result: { agent_id: of_agent, failed_at, dismissed_by: by, dismissed_at: entry.created_at },
    };
  },
};

export const failureRules = { dismiss_error: dismissError };
