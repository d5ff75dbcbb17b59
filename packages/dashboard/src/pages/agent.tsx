import { type AgentView, type OutputOf, readAll } from '@parley/protocol';
import { useEffect, useState } from 'preact/hooks';

import { maySteer } from '../data/actions.ts';
import { call, wordsOf } from '../data/api.ts';
import { agentById, agents, conversations, waiting } from '../data/state.ts';
import { fetchThreadsOf } from '../data/thread-pages.ts';
import { AgentCommands } from '../parts/agent-commands.tsx';
import { ProdButton } from '../parts/agent-row.tsx';
import { AgentScreen, SCREEN_COMMAND } from '../parts/agent-screen.tsx';
import { AgentQuiet } from '../parts/agent-quiet.tsx';
import { AgentTell } from '../parts/agent-tell.tsx';
import { AgentWake } from '../parts/agent-wake.tsx';
import { AskCard } from '../parts/ask-card.tsx';
import { Avatar, StateChip } from '../parts/avatar.tsx';
import { DismissError } from '../parts/dismiss-error.tsx';
import { Exact } from '../parts/exact.tsx';
import { Icon } from '../parts/icon.tsx';
import { Journal } from '../parts/journal.tsx';
import { Empty, Section, useTitle } from '../parts/page.tsx';
import { ThreadRow } from '../parts/thread-row.tsx';
import { goBack } from '../router.ts';
import { ago, agoWords, fullTime } from '../time.ts';
import { folderOf, makeOf, plainTimes, STATE_WORDS } from '../words.ts';

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

/** How many threads of an agent are shown. */
const OWN_THREADS = 6;

function Agent({ agent }: { agent: AgentView }) {
  const { agent_id, state, reason, since, failure, meanwhile } = agent;
  useEffect(() => void fetchThreadsOf(agent_id, OWN_THREADS).catch(() => {}), [agent_id]);
  // A session that is away for a moment comes back: what is looked at stays on the page.
  const hasScreen = agent.capabilities.includes(SCREEN_COMMAND) && state !== 'offline';
  const rows = waiting.value.filter(({ ask }) => ask.agent_id === agent_id);
  const own = conversations.value
    .filter(({ participants }) => participants.includes(agent_id))
    .slice(0, OWN_THREADS);
  return (
    <>
      <p class={`standing chip-${state}`}>
        <span>
          <Exact text={plainTimes(reason)} />
        </span>
        <span class="meta">{ago(since) === 'now' ? 'just now' : `for ${ago(since)}`}</span>
      </p>
      {failure === undefined ? null : (
        <p class="meta failure">
          {state === 'error' ? '' : `Failed: ${failure.text}. `}
          {meanwhile === undefined || meanwhile.state === 'idle'
            ? 'It stands here until somebody dismisses it.'
            : `Since then: ${STATE_WORDS[meanwhile.state].toLowerCase()}, ${plainTimes(meanwhile.reason)}. The error stands here until somebody dismisses it.`}{' '}
          {failure.thread_id === undefined ? null : <a href={`/t/${failure.thread_id}`}>Where it failed</a>}
        </p>
      )}
      {maySteer() ? (
        <div class="button-row" data-agent={agent_id}>
          <DismissError agent={agent} />
          <ProdButton agentId={agent_id} />
          <AgentTell agent={agent} />
          <AgentCommands agent={agent} />
        </div>
      ) : null}
      {maySteer() ? <AgentWake agent={agent} /> : null}
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
      {maySteer() && hasScreen ? <AgentScreen agentId={agent_id} /> : null}
      {own.length === 0 ? null : (
        <Section
          title="Threads"
          action={<a href={`/threads?agent=${encodeURIComponent(agent_id)}`}>All of them</a>}
        >
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

/** How many sessions of an agent are shown. */
const MAX_SESSIONS = 200;

function Facts({ agent }: { agent: AgentView }) {
  const [sessions, set] = useState<Session[]>([]);
  const [failed, fail] = useState<string | undefined>();
  useEffect(() => {
    readAll(
      (place) => call('list_sessions', { ...place, of_agent: agent.agent_id }),
      (page) => page.sessions,
      MAX_SESSIONS,
    ).then(set, (error: unknown) => fail(wordsOf(error)));
  }, [agent.agent_id, agent.last_seen]);
  const facts: [string, string | undefined][] = [
    ['Folder', folderOf(agent)],
    ['Connected by', agent.connected.length === 0 ? 'no open connection' : agent.connected.join(', ')],
    ['Last seen', `${agoWords(agent.last_seen)} (${fullTime(agent.last_seen)})`],
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
                {agoWords(session.last_heartbeat_at)}
              </span>
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}
