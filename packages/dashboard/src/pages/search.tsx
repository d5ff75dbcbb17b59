import type { OutputOf } from '@parley/protocol';
import { useEffect, useRef, useState } from 'preact/hooks';

import { Passages, useKnowledge } from '../knowledge/results.tsx';
import { call, wordsOf } from '../data/api.ts';
import { threadNamed } from '../data/replica.ts';
import { conversations, fleet } from '../data/state.ts';
import { findTitles } from '../data/thread-pages.ts';
import { Avatar, StateChip } from '../parts/avatar.tsx';
import { Icon } from '../parts/icon.tsx';
import { Empty, Page, Section } from '../parts/page.tsx';
import { Snippet } from '../parts/snippet.tsx';
import { ThreadRow } from '../parts/thread-row.tsx';
import { go, place } from '../router.ts';
import { ago } from '../time.ts';
import { makeOf } from '../words.ts';

/** How many threads are shown whose titles have the words. */
const TITLES = 8;

type Found = OutputOf<'search_messages'>;

/** What a search by words may have left out. */
const LEFT_OUT: Partial<Record<Found['missing'][number], string>> = {
  changes: 'The newest messages are not indexed yet.',
  older_matches: 'Very many messages have these words; only the newest were compared. Add a rarer word.',
  words: 'Only the first 16 different words were looked for.',
};

/** Searches what was said and written down, and who and what there is. */
export function SearchPage() {
  const query = place.value.query.get('q') ?? '';
  const field = useRef<HTMLInputElement>(null);
  const [found, set] = useState<Found | undefined>();
  const [failed, fail] = useState<string | undefined>();
  useEffect(() => field.current?.focus(), []);
  useEffect(() => {
    let gone = false;
    if (query.trim() === '') return set(undefined);
    const timer = setTimeout(() => {
      void findTitles(query.trim().slice(0, 200), TITLES).catch(() => {});
      call('search_messages', { query, limit: 30 }).then(
        (answer) => {
          if (gone) return;
          set(answer);
          fail(undefined);
        },
        (error: unknown) => (gone ? undefined : fail(wordsOf(error))),
      );
    }, 180);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [query]);
  const { found: known } = useKnowledge(query, 5);
  const low = query.trim().toLowerCase();
  const agents =
    low === ''
      ? []
      : fleet.value
          .filter(({ agent_id, name }) => `${agent_id} ${name}`.toLowerCase().includes(low))
          .slice(0, 8);
  const titles =
    low === ''
      ? []
      : conversations.value
          .filter(({ title }) => low.split(/\s+/).every((word) => title.toLowerCase().includes(word)))
          .slice(0, TITLES);
  return (
    <Page title="Search">
      <label class="search">
        <Icon name="search" />
        <span class="sr">Search for</span>
        <input
          ref={field}
          type="search"
          value={query}
          placeholder="Words, “phrases”, a thread, an agent, a document"
          autocomplete="off"
          onInput={(event) => go(`/search?q=${encodeURIComponent(event.currentTarget.value)}`, 'replace')}
        />
      </label>
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      {low === '' ? (
        <Empty title="Everything that was said or written down, in one place.">
          <p>
            Try a word, a <code>"whole phrase"</code>, or the name of an agent.
          </p>
        </Empty>
      ) : null}
      {agents.length === 0 ? null : (
        <Section title="Agents" count={agents.length}>
          <div class="list">
            {agents.map((agent) => (
              <a
                key={agent.agent_id}
                class="row row-main"
                href={`/agents/${encodeURIComponent(agent.agent_id)}`}
                data-row
              >
                <Avatar name={agent.agent_id} size="s" />
                <span class="row-text">
                  <span class="row-title">{agent.agent_id}</span>
                  <span class="row-line">{makeOf(agent)}</span>
                </span>
                <StateChip state={agent.state} />
              </a>
            ))}
          </div>
        </Section>
      )}
      {titles.length === 0 ? null : (
        <Section title="Threads" count={titles.length}>
          <div class="list">
            {titles.map((thread) => (
              <ThreadRow key={thread.thread_id} thread={thread} />
            ))}
          </div>
        </Section>
      )}
      {low === '' || (known?.context.length ?? 0) === 0 ? null : (
        <Section
          title="Documents"
          count={known?.context.length}
          action={<a href={`/know?q=${encodeURIComponent(query)}`}>Ask the documents</a>}
        >
          <Passages found={known?.context ?? []} query={query} />
        </Section>
      )}
      {found === undefined || low === '' ? null : (
        <Section title="Messages" count={found.hits.length}>
          {found.hits.length === 0 ? <Empty title="No message has these words." /> : null}
          <div class="list">
            {found.hits.map(({ message, snippet }) => (
              <a
                key={message.message_id}
                class="row row-main"
                href={`/t/${message.thread_id}/${message.seq}`}
                data-row
              >
                <Avatar name={message.sender_agent_id} size="s" />
                <span class="row-text">
                  <span class="row-title">
                    {message.sender_agent_id}{' '}
                    <span class="meta">in {threadNamed(message.thread_id)?.title ?? 'a thread'}</span>
                  </span>
                  <span class="row-line row-lines">
                    <Snippet text={snippet} query={query} />
                  </span>
                </span>
                <span class="meta">{ago(message.created_at)}</span>
              </a>
            ))}
          </div>
          {found.missing.map((word) => (word in LEFT_OUT ? <p class="meta">{LEFT_OUT[word]}</p> : null))}
        </Section>
      )}
    </Page>
  );
}
