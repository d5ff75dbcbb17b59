import type { AgentEvent, AgentRegistration, AgentStatus, OutputOf } from '@parley/protocol';

import type { Base, InThread } from '../command.ts';
import type { Placed } from '../results.ts';
import type { AgentStateRecord } from './stretch.ts';

/** Which instance of an agent speaks, where it says so. */
interface OfInstance {
  instance_id?: string | undefined;
}
/** `thread_id` of all that concerns an agent and no other thread is the agent's journal. */
export type RegisterAgent = InThread<
  'register_agent',
  AgentRegistration & OfInstance,
  OutputOf<'register_agent'>
>;
export type UpdateAgentStatus = Base<
  'update_agent_status',
  AgentStatus & OfInstance,
  OutputOf<'update_agent_status'>
>;
export type ReportEvent = InThread<'report_event', AgentEvent & OfInstance, OutputOf<'report_event'>>;
export type RecordCommand = InThread<
  'record_command',
  {
    of_agent: string;
    command_id: string;
    command: string;
    parameters?: Record<string, unknown>;
    opaque?: boolean;
    correlation_id?: string;
  },
  Placed
>;
export type RecordResponse = InThread<
  'record_response',
  { command_id: string; success: boolean; error_code?: string; execution_ms: number },
  Placed
>;
/** An agent that is gone is taken off the list; `thread_id` is its journal. */
export type ForgetAgent = InThread<
  'forget_agent',
  {
    of_agent: string;
    reason?: string;
    /** Silence after which one reads offline. */
    offline_after_ms: number;
  },
  OutputOf<'forget_agent'>
>;
/** Somebody has seen what an agent failed with; `thread_id` is its journal. */
export type DismissError = InThread<
  'dismiss_error',
  { of_agent: string; failed_at: string },
  OutputOf<'dismiss_error'>
>;
/** The hub's own notes of what agents were at: what ends, what begins, and what is kept no longer. */
export type NoteAgentStates = Base<
  'note_agent_states',
  { states: readonly AgentStateRecord[]; drops: readonly string[] }
>;
/** The hub's own housekeeping: a program that was run once and not seen since then; another is left alone. */
export type ForgetOnce = InThread<
  'forget_once',
  { of_agent: string; offline_after_ms: number; before: string }
>;

/** What changes agents. */
export type AgentCommands =
  | RegisterAgent
  | UpdateAgentStatus
  | ReportEvent
  | RecordCommand
  | RecordResponse
  | ForgetAgent
  | DismissError
  | NoteAgentStates
  | ForgetOnce;
