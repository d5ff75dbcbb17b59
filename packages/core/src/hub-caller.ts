import { type Caller, HUB_NAME } from '@parley/protocol';

/** The hub as a caller: what it does of itself stands in the log under its own name. */
export function hubCaller(workspace_id: string): Caller {
  return { agent_id: HUB_NAME, workspace_id, role: 'orchestrator', session_id: 'hub' };
}
