import { type ThreadEvent, plainWords } from '@parley/protocol';
import { useEffect, useState } from 'preact/hooks';

import { read, wordsOf } from '../data/api.ts';
import { threads } from '../data/state.ts';
import { whenTime } from '../time.ts';
import { textOf } from '../words.ts';
import { Sheet } from './sheet.tsx';

const SHOWN = 6;

/** The end of a thread, without going there. */
export function Peek({ id, onClose }: { id: string; onClose: () => void }) {
  const thread = threads.value?.get(id);
  const [events, set] = useState<readonly ThreadEvent[]>([]);
  const [failed, fail] = useState<string | undefined>();
  useEffect(() => {
    const since = Math.max(0, (thread?.last_seq ?? 0) - SHOWN * 2);
    read<{ events: ThreadEvent[] }>(
      `/v1/threads/${encodeURIComponent(id)}/events?since_seq=${since}&limit=50`,
    ).then(
      (page) =>
        set(page.events.filter(({ type }) => type === 'message' || type === 'task' || type === 'result')),
      (error: unknown) => fail(wordsOf(error)),
    );
  }, [id, thread?.last_seq]);
  return (
    <Sheet title={thread?.title ?? 'A thread'} onClose={onClose} wide>
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      <ol class="peek">
        {events.slice(-SHOWN).map((event) => (
          <li key={event.id}>
            <b>{event.from}</b> <span class="meta">{whenTime(event.ts)}</span>
            <p dir="auto">{plainWords(textOf(event.content)).slice(0, 400)}</p>
          </li>
        ))}
      </ol>
      <a class="button-primary button-wide" href={`/t/${id}`} onClick={onClose}>
        Open
      </a>
    </Sheet>
  );
}
