import type { Caller, OutputOf, ParsedInputOf } from '@parley/protocol';

import type { CallContext } from '../gate.ts';
import type { Connection } from '../sessions/gone.ts';
import type { Link } from './state.ts';

/** One run of one agent. */
export type SessionName = Pick<Caller, 'workspace_id' | 'agent_id' | 'session_id'>;

/** Who is connected right now, by agent. */
export interface Links {
  of(workspaceId: string): ReadonlyMap<string, readonly Link[]>;
  /** What they tell of one session. */
  session(name: SessionName): Connection;
  /** How many connections there are in all. */
  readonly size: number;
}

/** Carries a command to a connected agent and brings its answer. */
export interface Commander {
  command(
    caller: Caller,
    input: ParsedInputOf<'command_agent'>,
    context: CallContext,
  ): Promise<OutputOf<'command_agent'>>;
}
