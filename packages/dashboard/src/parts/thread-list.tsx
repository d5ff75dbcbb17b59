import type { ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import {
  fetchPage,
  listsBegun,
  recount,
  type ThreadCounts,
  threadPage,
  type ThreadWish,
} from '../data/thread-pages.ts';
import { threads, typed } from '../data/state.ts';
import { place } from '../router.ts';
import { plural } from '../words.ts';
import { CodeLine } from './code-line.tsx';
import { Empty } from './page.tsx';
import { ThreadRow } from './thread-row.tsx';

/** The threads, newest activity first, by what the address asks for; more of them come as one goes down. */
export function ThreadList({
  current,
  filters: Filters,
}: {
  current?: string | undefined;
  /** Where the list has the page for itself, it can be narrowed. */
  filters?: ComponentType<{ wish: ThreadWish; counts: ThreadCounts | undefined }>;
}) {
  const isPage = Filters !== undefined;
  const { query } = place.value;
  const wish: ThreadWish = {
    which: isPage ? (query.get('f') ?? '') : '',
    text: isPage ? (query.get('q') ?? '') : '',
    agent: isPage ? (query.get('agent') ?? '') : '',
    folder: isPage ? (query.get('folder') ?? '') : '',
  };
  const isNarrow = wish.text !== '' || wish.agent !== '' || wish.folder !== '';
  const key = JSON.stringify(wish);
  const { rows, reach } = threadPage(wish);
  // The one that is open beside the list stays in it.
  const open = current === undefined ? undefined : threads.value?.get(current);
  const shown = open === undefined || rows.includes(open) ? rows : [open, ...rows];
  useEffect(() => {
    const timer = setTimeout(() => void fetchPage(wish), wish.text === '' ? 0 : 180);
    return () => clearTimeout(timer);
  }, [key, listsBegun.value]);
  useEffect(() => recount(wish), [threads.value]);
  return (
    <>
      {Filters === undefined ? null : <Filters wish={wish} counts={reach?.counts} />}
      {reach?.next === undefined ? (
        <div class="skeleton" aria-busy="true" />
      ) : shown.length === 0 && reach.next === null ? (
        <Empty title={isNarrow || wish.which !== '' ? 'None of that kind.' : 'No thread is open.'}>
          {isNarrow ? (
            <a href="/threads">All threads</a>
          ) : wish.which === '' ? (
            <CodeLine text={typed('thread new "Hello" --with claude,codex')} />
          ) : null}
        </Empty>
      ) : (
        <div class="list">
          {shown.map((thread) => (
            <ThreadRow key={thread.thread_id} thread={thread} current={thread.thread_id === current} />
          ))}
        </div>
      )}
      {reach === undefined ? null : (
        <More
          key={`${key} ${String(reach.next)}`}
          wish={wish}
          shown={rows.length}
          total={totalOf(wish.which, reach.counts)}
          ended={reach.next === null}
          failed={reach.failed}
        />
      )}
    </>
  );
}

/** The end of what was fetched: when it comes into sight, more is. */
function More({
  wish,
  shown,
  total,
  ended,
  failed,
}: {
  wish: ThreadWish;
  shown: number;
  total: string | undefined;
  ended: boolean;
  failed: boolean;
}) {
  const mark = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (mark.current === null || ended || failed) return undefined;
    const watch = new IntersectionObserver(
      (seen) => {
        if (seen.some(({ isIntersecting }) => isIntersecting)) void fetchPage(wish);
      },
      { rootMargin: '600px' },
    );
    watch.observe(mark.current);
    return () => watch.disconnect();
  }, [failed]);
  return (
    <p ref={mark} class="meta list-end">
      {failed ? (
        <button type="button" class="button" onClick={() => void fetchPage(wish)}>
          The hub did not answer. Try again
        </button>
      ) : ended ? (
        shown > 20 ? (
          plural(shown, 'thread')
        ) : null
      ) : (
        `${shown.toLocaleString()}${total === undefined ? '' : ` of ${total}`}`
      )}
    </p>
  );
}

const COUNTED: Record<string, 'unread' | 'blocked' | 'done'> = {
  unread: 'unread',
  blocked: 'blocked',
  resolved: 'done',
};

function totalOf(which: string, counts: ThreadCounts | undefined): string | undefined {
  if (counts === undefined) return undefined;
  const count = counts[COUNTED[which] ?? 'open'];
  return `${count.toLocaleString()}${counts.complete ? '' : ' or more'}`;
}
