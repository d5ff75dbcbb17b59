import type { Caller, OutputOf, ParsedInputOf } from '@parley/protocol';

import type { CallContext } from '../operation.ts';
import type { Link } from './state.ts';

/** Who is connected right now, by agent. */
export interface Links {
  of(workspaceId: string): ReadonlyMap<string, readonly Link[]>;
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
