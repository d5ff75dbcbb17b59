import { type OutputOf, plainWords } from '@parley/protocol';
import { useState } from 'preact/hooks';

import { maySteer } from '../data/actions.ts';
import { call, wordsOf } from '../data/api.ts';
import type { ThreadRow } from '../data/state.ts';
import { plainTimes } from '../words.ts';
import { Icon } from './icon.tsx';
import { Section } from './page.tsx';
import { Invite, Participants } from './participants.tsx';
import { useSoon } from './use-soon.ts';

type Summary = OutputOf<'summarize_thread'>;

/** What stands beside a thread: its people, what is open, its side channels. */
export function ThreadPanel({ thread, onSide }: { thread: ThreadRow; onSide: () => void }) {
  const { thread_id, side_channels = [], side_of, last_seq } = thread;
  const [reported, set] = useState<{ of: string; summary: Summary | string } | undefined>();
  const load = (): void => {
    const tell = (summary: Summary | string): void => set({ of: thread_id, summary });
    call('summarize_thread', { thread_id }).then(tell, (error: unknown) => tell(wordsOf(error)));
  };
  useSoon(load, 400, thread_id, last_seq);
  const summary = reported?.of === thread_id ? reported.summary : undefined;
  const known = typeof summary === 'object' ? summary : undefined;
  return (
    <div class="panel">
      <Section title="Participants" count={thread.participants.length}>
        <Participants thread={thread} />
        {maySteer() && thread.status !== 'closed' ? <Invite thread={thread} /> : null}
      </Section>
      <Section title="Summary">
        <p class="summary">
          {typeof summary === 'string' ? summary : plainTimes(plainWords(known?.summary ?? '', 'lines'))}
        </p>
      </Section>
      {known === undefined || known.open_items.length === 0 ? null : (
        <Section title="Open" count={known.open_items.length}>
          <ul class="open-items">
            {known.open_items.map((item) => (
              <li key={item.message_id}>
                <a href={`/t/${thread_id}/${item.seq}`}>
                  <span class="meta">
                    {[item.kind, item.severity, item.by].filter((part) => part !== undefined).join(' · ')}
                  </span>
                  <bdi>{item.text}</bdi>
                </a>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="Side channels" count={side_channels.length}>
        {side_of === undefined ? null : (
          <a class="panel-link" href={`/t/${side_of}`}>
            <Icon name="back" size={16} /> To the main thread
          </a>
        )}
        {side_channels.map((side) => (
          <a key={side.thread_id} class="panel-link" href={`/t/${side.thread_id}`}>
            <Icon name="side" size={16} />
            <span>
              {side.title}
              <span class="meta">{side.closed_at === undefined ? side.owner : `${side.owner}, closed`}</span>
            </span>
          </a>
        ))}
        {side_of === undefined && maySteer() && thread.status !== 'closed' ? (
          <button type="button" class="button" onClick={onSide}>
            <Icon name="plus" /> Open one
          </button>
        ) : null}
      </Section>
    </div>
  );
}
