import type { AgentView } from '@parley/protocol';

import { agents, fleet, typed } from '../data/state.ts';
import { Avatar, StateChip } from '../parts/avatar.tsx';
import { CodeLine } from '../parts/code-line.tsx';
import { Exact } from '../parts/exact.tsx';
import { Icon } from '../parts/icon.tsx';
import { Empty, Page, Section } from '../parts/page.tsx';
import { Segments } from '../parts/segments.tsx';
import { place } from '../router.ts';
import { ago } from '../time.ts';
import { byName, folderOf, makeOf, STATE_WORDS, STATES, plainTimes, troubleOf } from '../words.ts';
import { Skeleton } from './now.tsx';

/** Every agent, by the folder it works in and then by name: a change of state recolours and never moves. */
export function AgentsPage() {
  const filter = place.value.query.get('f') ?? '';
  const shown = fleet.value.filter(({ state }) => filter === '' || state === filter);
  const counts = new Map(
    STATES.map((state) => [state, fleet.value.filter((agent) => agent.state === state).length]),
  );
  const folders = [...new Set(shown.map((agent) => folderOf(agent) ?? ''))].toSorted((a, b) =>
    a === '' ? 1 : b === '' ? -1 : byName(a, b),
  );
  return (
    <Page
      title="Agents"
      wide
      actions={
        <a class="button" href="/timeline">
          <Icon name="timeline" /> Timeline
        </a>
      }
    >
      <Segments
        path="/agents"
        value={filter}
        label="Which agents"
        options={[
          ['', 'All', fleet.value.length] as const,
          ...STATES.filter((state) => (counts.get(state) ?? 0) > 0 || state === filter).map(
            (state) => [state, STATE_WORDS[state], counts.get(state) ?? 0] as const,
          ),
        ]}
      />
      {agents.value === undefined ? <Skeleton /> : null}
      {agents.value !== undefined && shown.length === 0 ? (
        <Empty title={filter === '' ? 'No agent is connected yet.' : 'No agent is in this state.'}>
          {filter === '' ? <CodeLine text={typed('init claude')} /> : null}
        </Empty>
      ) : null}
      {folders.map((folder) => (
        <Section
          key={folder}
          title={folder === '' ? (folders.length > 1 ? 'No folder reported' : 'All agents') : folder}
        >
          <div class="cards">
            {shown
              .filter((agent) => (folderOf(agent) ?? '') === folder)
              .toSorted((a, b) => byName(a.agent_id, b.agent_id))
              .map((agent) => (
                <AgentCard key={agent.agent_id} agent={agent} />
              ))}
          </div>
        </Section>
      ))}
    </Page>
  );
}

function AgentCard({ agent }: { agent: AgentView }) {
  const { agent_id, state, reason, since, unread, metadata = {} } = agent;
  const cost = metadata['cost_usd'];
  return (
    <a class="card" href={`/agents/${encodeURIComponent(agent_id)}`} data-row data-agent={agent_id}>
      <span class="card-head">
        <Avatar name={agent_id} />
        <span class="row-text">
          <span class="row-title">{agent_id}</span>
          <span class="row-line">{makeOf(agent)}</span>
        </span>
        <StateChip state={state} />
      </span>
      <span class="card-reason">
        <Exact text={state === 'error' ? troubleOf(agent) : plainTimes(reason)} />
      </span>
      <span class="card-foot meta">
        <span>{ago(since) === 'now' ? 'just now' : `for ${ago(since)}`}</span>
        {unread > 0 ? <span>{unread} unread</span> : null}
        {typeof cost === 'number' ? <span>${cost.toFixed(2)}</span> : null}
      </span>
    </a>
  );
}
