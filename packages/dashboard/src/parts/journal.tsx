import { type OutputOf, type ThreadEvent, plainWords } from '@parley/protocol';
import { useEffect, useState } from 'preact/hooks';

import { read } from '../data/api.ts';
import { agentById, me, threads } from '../data/state.ts';
import { whenTime, fullTime } from '../time.ts';
import { reportedAs } from '../words.ts';
import { Icon } from './icon.tsx';
import { Section } from './page.tsx';
import { describeAny } from './journal-words.ts';
import { WakeLadder } from './wake-ladder.tsx';

const SHOWN = 30;

/** What an agent reported and was told, the newest first. */
export function Journal({ agentId }: { agentId: string }) {
  const [events, set] = useState<ThreadEvent[]>([]);
  const seen = agentById.value.get(agentId)?.last_seen;
  const journal = [...(threads.value?.values() ?? [])].find(({ journal_of }) => journal_of === agentId);
  useEffect(() => {
    let gone = false;
    void load(agentId).then(
      (found) => (gone ? undefined : set(found)),
      () => {},
    );
    return () => {
      gone = true;
    };
  }, [agentId, seen, journal?.last_seq]);
  if (events.length === 0) return null;
  return (
    <>
      <WakeLadder events={events} />
      <Section title="Journal">
        <ul class="journal">
          {events.map((event) => {
            const { icon, text, tone } = wordsFor(event);
            return (
              <li key={event.id} class={`quiet quiet-${tone}`}>
                <Icon name={icon} size={16} />
                <span>{text}</span>
                <time class="meta" dateTime={event.ts} title={fullTime(event.ts)}>
                  {whenTime(event.ts)}
                </time>
              </li>
            );
          })}
        </ul>
      </Section>
    </>
  );
}

function wordsFor(event: ThreadEvent): Pick<ReturnType<typeof describeAny>, 'icon' | 'text' | 'tone'> {
  if (event.type !== 'message') return describeAny(event, me.value?.agent_id ?? '');
  const kind = reportedAs(event) || 'said';
  const bad = kind === 'error' || kind === 'task_failed';
  return {
    icon: bad ? 'warn' : kind === 'task_completed' ? 'check' : 'info',
    tone: bad ? 'bad' : 'plain',
    text: `${kind.replaceAll('_', ' ')}: ${plainWords(String(event.content))}`,
  };
}

async function load(agentId: string): Promise<ThreadEvent[]> {
  const { journal_thread_id } = await read<OutputOf<'get_agent'>>(
    `/v1/agents/${encodeURIComponent(agentId)}`,
  );
  if (journal_thread_id === null) return [];
  const { last_seq } = await read<OutputOf<'get_thread'>>(`/v1/threads/${journal_thread_id}`);
  const path = `/v1/threads/${journal_thread_id}/events?since_seq=${Math.max(0, last_seq - SHOWN)}&limit=${SHOWN}`;
  return (await read<{ events: ThreadEvent[] }>(path)).events.toReversed();
}
