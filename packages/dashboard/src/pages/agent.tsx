import type { AgentView, OutputOf } from '@parley/protocol';
import { useEffect, useState } from 'preact/hooks';

import { maySteer, wake } from '../data/actions.ts';
import { call, wordsOf } from '../data/api.ts';
import { agentById, agents, conversations, waiting } from '../data/state.ts';
import { AgentCommands } from '../parts/agent-commands.tsx';
import { ProdButton } from '../parts/agent-row.tsx';
import { AgentScreen, SCREEN_COMMAND } from '../parts/agent-screen.tsx';
import { AgentQuiet } from '../parts/agent-quiet.tsx';
import { AskCard } from '../parts/ask-card.tsx';
import { Avatar, StateChip } from '../parts/avatar.tsx';
import { Exact } from '../parts/exact.tsx';
import { ForceWake } from '../parts/force-wake.tsx';
import { Icon } from '../parts/icon.tsx';
import { Journal } from '../parts/journal.tsx';
import { Empty, Section, useTitle } from '../parts/page.tsx';
import { ThreadRow } from '../parts/thread-row.tsx';
import { goBack } from '../router.ts';
import { ago, fullTime } from '../time.ts';
import { folderOf, makeOf, plainTimes } from '../words.ts';

type Session = OutputOf<'list_sessions'>['sessions'][number];

/** One agent: what it is at and why, how it can be reached, what it does. */
export function AgentPage({ id }: { id: string }) {
  const agent = agentById.value.get(id);
  useTitle(id);
  return (
    <div class="page scroll" tabIndex={-1}>
      <div class="column">
        <header class="bar bar-plain">
          <button
            type="button"
            class="button-quiet icon-button"
            aria-label="Back"
            onClick={() => goBack('/agents')}
          >
            <Icon name="back" />
          </button>
          <Avatar name={id} size="l" />
          <div class="bar-title">
            <h1>{id}</h1>
            <p class="meta">{agent === undefined ? '' : makeOf(agent)}</p>
          </div>
          {agent === undefined ? null : <StateChip state={agent.state} />}
        </header>
        {agent !== undefined ? (
          <Agent agent={agent} />
        ) : agents.value === undefined ? (
          <div class="skeleton" />
        ) : (
          <Empty title={`No agent called ${id} is known here.`}>
            <a href="/agents">All agents</a>
          </Empty>
        )}
      </div>
    </div>
  );
}

function Agent({ agent }: { agent: AgentView }) {
  const { agent_id, state, reason, since } = agent;
  const rows = waiting.value.filter(({ ask }) => ask.agent_id === agent_id);
  const own = conversations.value.filter(({ participants }) => participants.includes(agent_id)).slice(0, 6);
  return (
    <>
      <p class={`standing chip-${state}`}>
        <span>
          <Exact text={plainTimes(reason)} />
        </span>
        <span class="meta">for {ago(since)}</span>
      </p>
      {maySteer() ? (
        <div class="button-row" data-agent={agent_id}>
          <ProdButton agentId={agent_id} />
          <button type="button" class="button" data-key="w" onClick={() => void wake(agent_id)}>
            <Icon name="bell" /> Wake
          </button>
          <ForceWake agentId={agent_id} />
          <AgentCommands agent={agent} />
        </div>
      ) : null}
      {rows.length === 0 ? null : (
        <Section title="Needs you" count={rows.length}>
          <div class="stack">
            {rows.map((row) => (
              <AskCard key={row.ask.ask_id} row={row} />
            ))}
          </div>
        </Section>
      )}
      <Facts agent={agent} />
      <AgentQuiet agentId={agent_id} />
      {agent.capabilities.includes(SCREEN_COMMAND) && agent.connected.length > 0 ? (
        <AgentScreen agentId={agent_id} />
      ) : null}
      {own.length === 0 ? null : (
        <Section title="Threads">
          <div class="list">
            {own.map((thread) => (
              <ThreadRow key={thread.thread_id} thread={thread} />
            ))}
          </div>
        </Section>
      )}
      <Journal agentId={agent_id} />
    </>
  );
}

function Facts({ agent }: { agent: AgentView }) {
  const [sessions, set] = useState<Session[]>([]);
  const [failed, fail] = useState<string | undefined>();
  useEffect(() => {
    call('list_sessions', { of_agent: agent.agent_id }).then(
      (answer) => set(answer.sessions),
      (error: unknown) => fail(wordsOf(error)),
    );
  }, [agent.agent_id, agent.last_seen]);
  const facts: [string, string | undefined][] = [
    ['Folder', folderOf(agent)],
    ['Connected by', agent.connected.length === 0 ? 'no open connection' : agent.connected.join(', ')],
    ['Last seen', `${ago(agent.last_seen)} (${fullTime(agent.last_seen)})`],
    ['Unread', String(agent.unread)],
    ['Takes commands', agent.capabilities.length === 0 ? 'any' : agent.capabilities.join(', ')],
    [
      'Last event',
      agent.last_event === undefined
        ? undefined
        : `${agent.last_event.event_type.replaceAll('_', ' ')}: ${agent.last_event.text}`,
    ],
  ];
  return (
    <Section title="Facts">
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      <dl class="facts">
        {facts.map(([name, value]) =>
          value === undefined ? null : (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
        )}
        {sessions.map((session) => (
          <div key={session.session_id}>
            <dt>Session</dt>
            <dd>
              <span class="mono">{session.session_id}</span>
              <span class="meta">
                {session.runtime.replaceAll('_', ' ')} · {session.management_mode} · {session.status} ·{' '}
                {session.resumable ? 'can be resumed' : 'cannot be resumed'} · heartbeat{' '}
                {ago(session.last_heartbeat_at)}
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
