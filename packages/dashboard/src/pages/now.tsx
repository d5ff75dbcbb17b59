import type { AgentView } from '@parley/protocol';
import { useState } from 'preact/hooks';

import { maySteer } from '../data/actions.ts';
import { agents, conversations, fleet, openAsks, threads, unreadThreads, waiting } from '../data/state.ts';
import { threadCounts } from '../data/thread-pages.ts';
import { go } from '../router.ts';
import { AskCard } from '../parts/ask-card.tsx';
import { TroubleRow } from '../parts/agent-row.tsx';
import { Avatar } from '../parts/avatar.tsx';
import { later } from '../parts/later.tsx';
import { together } from '../parts/together.ts';
import { stepsOpen } from '../parts/steps-open.ts';
import { Empty, Page, Section } from '../parts/page.tsx';
import { ThreadRow } from '../parts/thread-row.tsx';
import { ago } from '../time.ts';
import { byUrgency, plainTimes, STATE_WORDS, STATES } from '../words.ts';

const AskTogether = later(async () => (await import('../parts/ask-together.tsx')).AskTogether);
const FirstSteps = later(async () => (await import('../parts/first-steps.tsx')).FirstSteps);

const MANY = 8;

/** What needs a person, the most pressing first; then who does not get on, and what is new. */
export function NowPage() {
  const [reviewing, review] = useState(false);
  const loaded = agents.value !== undefined && threads.value !== undefined;
  const trouble = fleet.value
    .filter(({ state, failure }) => state === 'stuck' || failure !== undefined)
    .toSorted(byUrgency);
  const unread = unreadThreads.value;
  const fresh = loaded && fleet.value.length === 0 && conversations.value.length === 0;
  const calm = waiting.value.length === 0 && trouble.length === 0;
  if (!loaded) return <Page title="Now">{<Skeleton />}</Page>;
  if (fresh || (fleet.value.length === 0 && calm))
    return (
      <Page title="Now">
        <FirstSteps />
      </Page>
    );
  return (
    <Page title="Now" aside={<Fleet />}>
      {stepsOpen.value ? <FirstSteps /> : null}
      <FleetCounts />
      {waiting.value.length === 0 ? null : (
        <Section
          title="Needs you"
          count={openAsks.value}
          action={
            maySteer() && together(waiting.value).length > 1 ? (
              <button type="button" class="button" onClick={() => review(true)}>
                Answer {together(waiting.value).length} together
              </button>
            ) : undefined
          }
        >
          <div class="stack">
            {waiting.value.map((row) => (
              <AskCard
                key={row.ask.ask_id}
                row={row}
                onAnswerInThread={
                  threads.value?.get(row.ask.thread_id)?.journal_of === undefined
                    ? () => go(`/t/${row.ask.thread_id}?reply=${row.ask.message_id}`)
                    : undefined
                }
              />
            ))}
          </div>
        </Section>
      )}
      {reviewing ? <AskTogether onClose={() => review(false)} /> : null}
      {calm ? (
        <Empty title="Nobody waits for you.">
          <p>Requests appear here the moment an agent raises one.</p>
        </Empty>
      ) : null}
      {trouble.length === 0 ? null : (
        <Section title="Stuck or failing" count={trouble.length}>
          <div class="list">
            {trouble.map((agent) => (
              <TroubleRow key={agent.agent_id} agent={agent} />
            ))}
          </div>
        </Section>
      )}
      {unread.length === 0 ? null : (
        <Section
          title="Unread"
          count={Math.max(unread.length, threadCounts.value?.unread ?? 0)}
          action={<a href="/threads?f=unread">All threads</a>}
        >
          <div class="list">
            {unread.slice(0, MANY).map((thread) => (
              <ThreadRow key={thread.thread_id} thread={thread} />
            ))}
          </div>
        </Section>
      )}
    </Page>
  );
}

function FleetCounts() {
  const counts = countStates(fleet.value);
  return (
    <nav class="fleet" aria-label="Agents by state">
      {STATES.filter((state) => counts[state] > 0).map((state) => (
        <a key={state} class={`fleet-count chip-${state}`} href={`/agents?f=${state}`}>
          <span class={`dot dot-${state}`} aria-hidden="true" />
          <b>{counts[state]}</b> {STATE_WORDS[state].toLowerCase()}
        </a>
      ))}
    </nav>
  );
}

function countStates(list: readonly AgentView[]): Record<AgentView['state'], number> {
  const counts = { needs_you: 0, stuck: 0, error: 0, working: 0, idle: 0, offline: 0 };
  for (const { state } of list) counts[state]++;
  return counts;
}

/** Everybody at a glance, for screens that have room. */
function Fleet() {
  return (
    <Section title="Agents" count={fleet.value.length}>
      <div class="list list-plain">
        {fleet.value.toSorted(byUrgency).map(({ agent_id, state, since, reason }) => (
          <a key={agent_id} class="row row-main row-small" href={`/agents/${encodeURIComponent(agent_id)}`}>
            <Avatar name={agent_id} size="s" state={state} />
            <span class="row-text">
              <span class="row-title">{agent_id}</span>
              <span class="row-line">
                {state === 'idle' || state === 'offline' ? STATE_WORDS[state] : plainTimes(reason)}
              </span>
            </span>
            <span class="meta">{ago(since)}</span>
          </a>
        ))}
      </div>
    </Section>
  );
}

/** The page before anything is known: its shape, so that nothing jumps. */
export function Skeleton() {
  return (
    <div class="stack" aria-busy="true" aria-label="Loading">
      {[0, 1, 2].map((i) => (
        <div key={i} class="skeleton" />
      ))}
    </div>
  );
}
