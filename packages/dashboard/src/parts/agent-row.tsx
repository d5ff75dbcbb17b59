import type { AgentView } from '@parley/protocol';

import { justProdded, maySteer, prod, threadOf } from '../data/actions.ts';
import { tick } from '../data/state.ts';
import { ago } from '../time.ts';
import { troubleOf } from '../words.ts';
import { Avatar, StateChip } from './avatar.tsx';
import { Icon } from './icon.tsx';
import { later } from './later.tsx';

const DismissError = later(async () => (await import('./dismiss-error.tsx')).DismissError, null);

/** An agent that does not get on, why, since when, and the way to call it. */
export function TroubleRow({ agent }: { agent: AgentView }) {
  const { agent_id, state, since, unread, failure } = agent;
  return (
    <div class="row trouble" data-agent={agent_id}>
      <a class="row-main" href={`/agents/${encodeURIComponent(agent_id)}`} data-row>
        <Avatar name={agent_id} />
        <span class="row-text">
          <span class="row-title">{agent_id}</span>
          <span class="row-line row-lines">
            {[troubleOf(agent), unread > 0 ? `${unread} unread` : '']
              .filter((part) => part !== '')
              .join(' · ')}
          </span>
        </span>
        <span class="row-end">
          <StateChip state={state} />
          <span class="meta">{ago(failure?.at ?? since)}</span>
        </span>
      </a>
      {failure !== undefined && maySteer() ? <DismissError agent={agent} /> : null}
      <ProdButton agentId={agent_id} />
    </div>
  );
}

/** Calls upon an agent in its newest thread; rests for a while after it was used. */
export function ProdButton({ agentId, threadId }: { agentId: string; threadId?: string }) {
  const resting = justProdded(agentId, tick.value);
  const place = threadId ?? threadOf(agentId)?.thread_id;
  if (!maySteer() || place === undefined) return null;
  return (
    <button
      type="button"
      class="button"
      disabled={resting}
      data-key="p"
      onClick={() => void prod(agentId, place)}
    >
      <Icon name="bolt" /> {resting ? 'Prodded' : 'Prod'}
    </button>
  );
}
