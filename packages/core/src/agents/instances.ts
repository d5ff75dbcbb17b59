import { type Agent, type Caller, ParleyError } from '@parley/protocol';

import type { Needs } from '../commands.ts';
import type { PutRecord, RecordName, RecordReader } from '../records.ts';

/** How many names the instances of one agent may have; of more the oldest is forgotten. */
const MAX_INSTANCES = 100;

/** What is to be written so that a name belongs to an agent from now on. */
interface Bound {
  instances: Pick<Agent, 'instances'>;
  records: PutRecord[];
  drops: RecordName[];
}

const NOTHING: Bound = { instances: {}, records: [], drops: [] };

/** What a rule must know to bind the name of an instance. */
export function instanceNeeds(instanceId: string | undefined): Pick<Needs, 'records'> {
  return instanceId === undefined ? {} : { records: true };
}

/**
 * Binds what an instance calls itself to the agent of its token: `atreides-001` of `atreides-agent`. The name must be
 * kin to the agent's, so that nobody takes the name of one who is yet to come, and nobody else's.
 */
export function bindInstance(
  kept: RecordReader | undefined,
  known: Agent | undefined,
  { agent_id, workspace_id }: Caller,
  instanceId: string | undefined,
): Bound {
  if (instanceId === undefined || instanceId === agent_id) return NOTHING;
  if (!isKin(instanceId, agent_id))
    throw mismatch(
      `${instanceId} is neither you, ${agent_id}, nor one of your instances, ${stemOf(agent_id)}-…`,
    );
  const isAgent =
    kept?.get('agent', instanceId) !== undefined ||
    (kept?.list({ kind: 'session', prefix: `${instanceId} `, limit: 1 }) ?? []).length > 0;
  const owner = isAgent ? instanceId : kept?.get('instance', instanceId)?.agent_id;
  if (owner !== undefined && owner !== agent_id) throw mismatch(`${instanceId} is the name of another agent`);
  const others = (known?.instances ?? []).filter((name) => name !== instanceId);
  const all = [...others, instanceId];
  const instances = { instances: all.slice(-MAX_INSTANCES) };
  const drops = all.slice(0, -MAX_INSTANCES).map((key) => ({ kind: 'instance' as const, workspace_id, key }));
  if (owner === agent_id) return { instances, records: [], drops };
  const value = { workspace_id, instance_id: instanceId, agent_id };
  const record = {
    kind: 'instance',
    workspace_id,
    key: instanceId,
    mark: '',
    owner: agent_id,
    value,
  } as const;
  return { instances, records: [record], drops };
}

/** True for a name that begins with the agent's own, or with its part before the last dash. */
function isKin(instanceId: string, agentId: string): boolean {
  return instanceId.startsWith(`${agentId}-`) || instanceId.startsWith(`${stemOf(agentId)}-`);
}

function stemOf(agentId: string): string {
  const dash = agentId.lastIndexOf('-');
  return dash > 0 ? agentId.slice(0, dash) : agentId;
}

function mismatch(message: string): ParleyError {
  return new ParleyError('CLAIM_MISMATCH', `instance_id: ${message}`, { field: 'instance_id' });
}
