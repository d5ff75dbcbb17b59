import type { Live } from '@parley/core';
import { type Caller, LiveError } from '@parley/protocol';

/** Refuses the name of another who is connected; whether any other name is an instance of the caller the rules decide. */
export function mustBeOwn(
  { links }: Pick<Live, 'links'>,
  { workspace_id, agent_id }: Caller,
  agentId: string,
  field = 'payload.agentId',
): void {
  if (agentId !== agent_id && links.of(workspace_id).has(agentId))
    throw new LiveError('UNAUTHORIZED', `agentId: ${agentId} is the name of another agent`, { field });
}
