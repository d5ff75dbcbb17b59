import { type ThreadEvent, plainWords } from '@parley/protocol';
import { useState } from 'preact/hooks';

import { read, wordsOf } from '../data/api.ts';
import { me, threads } from '../data/state.ts';
import { copy } from '../parts/code-line.tsx';
import { DeadLetters } from '../parts/dead-letters.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Empty, Page } from '../parts/page.tsx';
import { Segments } from '../parts/segments.tsx';
import { describeAny } from '../parts/journal-words.ts';
import { useSoon } from '../parts/use-soon.ts';
import { place } from '../router.ts';
import { whenTime, fullTime } from '../time.ts';
import { reportedAs, textOf } from '../words.ts';

interface Row {
  pos: number;
  event: ThreadEvent;
}

const FILTERS: Record<string, (event: ThreadEvent) => boolean> = {
  failed: (event) => isFailure(event),
  asks: (event) => verbOf(event).startsWith('ask.'),
  steering: (event) => event.type === 'control' && !/^(?:ask|agent|document)\./.test(verbOf(event)),
  agents: (event) => verbOf(event).startsWith('agent.') || reportedAs(event) !== '',
  documents: (event) => verbOf(event).startsWith('document.'),
};

/** All that happened, the newest first: who did what, where and when; and what could not be done. */
export function LogPage() {
  const filter = place.value.query.get('f') ?? '';
  return (
    <Page title="Log">
      <Segments
        path="/log"
        value={filter}
        label="Which entries"
        options={[
          ['', 'All'],
          ['failed', 'Failures'],
          ['asks', 'Requests'],
          ['steering', 'Steering'],
          ['agents', 'Reports'],
          ['documents', 'Documents'],
          ['dead', 'Dead letters'],
        ]}
      />
      {filter === 'dead' ? <DeadLetters /> : <Entries filter={filter} />}
    </Page>
  );
}

function Entries({ filter }: { filter: string }) {
  const [rows, set] = useState<readonly Row[]>([]);
  const [next, go] = useState<number | null | undefined>();
  const [failed, fail] = useState<string | undefined>();
  const load = async (before?: number): Promise<void> => {
    try {
      const page = await read<{ entries: Row[]; next_before: number | null }>(
        `/v1/log?limit=100${before === undefined ? '' : `&before=${before}`}`,
      );
      set((known) => (before === undefined ? page.entries : [...known, ...page.entries]));
      go(page.next_before);
    } catch (error) {
      fail(wordsOf(error));
    }
  };
  const newest = Math.max(
    0,
    ...[...(threads.value?.values() ?? [])].map(({ updated_at }) => Date.parse(updated_at)),
  );
  useSoon(() => void load(), 300, 'log', newest);
  const shown = rows.filter(({ event }) => FILTERS[filter]?.(event) ?? true);
  return (
    <>
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      {next !== undefined && shown.length === 0 ? (
        <Empty
          title={
            filter === ''
              ? 'Nothing has happened yet.'
              : filter === 'failed'
                ? 'Nothing failed in what is shown.'
                : 'Nothing of that kind in what is shown.'
          }
        />
      ) : null}
      <div class="log">
        {shown.map(({ pos, event }) => (
          <LogRow key={pos} pos={pos} event={event} />
        ))}
      </div>
      {typeof next === 'number' ? (
        <button type="button" class="button button-wide" onClick={() => void load(next)}>
          Older entries
        </button>
      ) : null}
    </>
  );
}

function LogRow({ pos, event }: Row) {
  const { icon, text, tone, document } = describeRow(event);
  const thread = threads.value?.get(event.thread);
  return (
    <details class="log-row">
      <summary data-row>
        <span class={`log-icon quiet-${tone}`}>
          <Icon name={icon} size={16} />
        </span>
        <span class="log-text">{text}</span>
        <span class="log-where">{thread?.title ?? ''}</span>
        <time class="meta" dateTime={event.ts} title={fullTime(event.ts)}>
          {whenTime(event.ts)}
        </time>
      </summary>
      <pre class="command" tabIndex={0}>
        {JSON.stringify({ pos, ...event }, null, 2)}
      </pre>
      <div class="button-row">
        <button type="button" class="button" onClick={() => void copy(JSON.stringify({ pos, ...event }))}>
          <Icon name="copy" /> Copy as JSON
        </button>
        {document === undefined ? (
          <a class="button" href={`/t/${event.thread}/${event.meta.seq ?? 0}`}>
            Show it in its thread
          </a>
        ) : (
          <a class="button" href={`/know/${document}`}>
            Show the document
          </a>
        )}
      </div>
    </details>
  );
}

function describeRow(event: ThreadEvent): { icon: IconName; text: string; tone: string; document?: string } {
  if (event.type === 'control' || event.type === 'presence')
    return describeAny(event, me.value?.agent_id ?? '');
  const kind = reportedAs(event);
  const label = kind === '' ? '' : `${kind.replaceAll('_', ' ')}: `;
  return {
    icon: isFailure(event) ? 'warn' : label === '' ? 'threads' : 'flag',
    tone: isFailure(event) ? 'bad' : 'plain',
    text: `${event.from}: ${label}${plainWords(textOf(event.content)).slice(0, 200)}`,
  };
}

function verbOf({ type, content }: ThreadEvent): string {
  return type === 'control' ? (Object.keys(content ?? {})[0] ?? '') : '';
}

function isFailure(event: ThreadEvent): boolean {
  if (['error', 'task_failed'].includes(reportedAs(event)) || verbOf(event) === 'delivery.dead') return true;
  const reported = // The hub tells by its contract.
    ((event.content ?? {}) as Record<string, { success?: boolean; verdict?: { by?: string } } | undefined>)[
      verbOf(event)
    ];
  return (
    reported?.success === false || (verbOf(event) === 'ask.resolved' && reported?.verdict?.by === 'parley')
  );
}
