import type { AgentView } from '@parley/protocol';

import { attempt } from '../data/actions.ts';
import { call, newKey } from '../data/api.ts';
import { loadAgents } from '../data/replica.ts';
import { Icon } from './icon.tsx';

/** Says that a person has seen what an agent failed with; one that came meanwhile stays. */
export function DismissError({ agent }: { agent: AgentView }) {
  const { agent_id, failure } = agent;
  if (failure === undefined) return null;
  return (
    <button
      type="button"
      class="button"
      aria-label={`Dismiss the error of ${agent_id}`}
      onClick={() =>
        void attempt(
          () =>
            call('dismiss_error', {
              of_agent: agent_id,
              failed_at: failure.at,
              idempotency_key: newKey(),
            }),
          'Dismissed. It stands in the journal.',
        ).then(loadAgents)
      }
    >
      <Icon name="check" /> Dismiss
    </button>
  );
}
