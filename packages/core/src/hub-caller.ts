import { type Caller, HUB_NAME } from '@parley/protocol';

/** Where that stands which is of the whole hub; no workspace may bear the name. */
export const OWN_WORKSPACE = '(hub)';

/** The hub as a caller: what it does of itself stands in the log under its own name. */
export function hubCaller(workspace_id: string): Caller {
  return { agent_id: HUB_NAME, workspace_id, role: 'orchestrator', session_id: 'hub' };
}
