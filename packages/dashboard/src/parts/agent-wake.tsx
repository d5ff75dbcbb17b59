import type { AgentView, OutputOf } from '@parley/protocol';
import { useEffect, useState } from 'preact/hooks';

import { wake } from '../data/actions.ts';
import { call } from '../data/api.ts';
import { typed } from '../data/state.ts';
import { CodeLine } from './code-line.tsx';
import { ForceWake } from './force-wake.tsx';
import { Icon } from './icon.tsx';

type Reach = OutputOf<'check_reach'>;

/** Wakes an agent where that can work, and says what it does; where it cannot, the command that would make it so. */
export function AgentWake({ agent }: { agent: AgentView }) {
  const { agent_id, state, connected } = agent;
  const [reach, set] = useState<Reach | undefined>();
  useEffect(() => {
    let gone = false;
    call('check_reach', { of_agent: agent_id }).then(
      (found) => {
        if (!gone) set(found);
      },
      () => {},
    );
    return () => {
      gone = true;
    };
  }, [agent_id, state, connected.length]);
  const buttons = (
    <div class="button-row" data-agent={agent_id}>
      <button type="button" class="button" data-key="w" onClick={() => void wake(agent_id)}>
        <Icon name="bell" /> Wake
      </button>
      <ForceWake agentId={agent_id} />
    </div>
  );
  if (reach?.reachable !== 'no')
    return (
      <>
        {buttons}
        <p class="meta wake-note">
          {reach?.reachable === 'later'
            ? 'Wake: it reads its unread messages once it rests and nobody types at its terminal. Force: at once, without waiting for that.'
            : 'Wake: it reads its unread messages now. Force: even if it is left alone or has nothing unread.'}
        </p>
      </>
    );
  return (
    <>
      <p class="meta wake-note">
        The hub cannot wake it: its program is not running, or not where the hub can reach it. Start it with:
      </p>
      <CodeLine text={typed(commandFor(reach.runtime, agent_id))} />
      <details class="still">
        <summary>Try anyway</summary>
        {buttons}
      </details>
    </>
  );
}

function commandFor(runtime: Reach['runtime'], agentId: string): string {
  const program = runtime === 'other' ? 'PROGRAM' : runtime;
  return `run --agent ${agentId} -- ${program}`;
}
