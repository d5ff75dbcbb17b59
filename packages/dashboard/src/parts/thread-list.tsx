import { conversations, threads, type ThreadRow as Row, typed, unreadThreads } from '../data/state.ts';
import { place } from '../router.ts';
import { Empty } from './page.tsx';
import { CodeLine } from './code-line.tsx';
import { Segments } from './segments.tsx';
import { ThreadRow } from './thread-row.tsx';

const FILTERS: Record<string, (thread: Row) => boolean> = {
  '': ({ status }) => status !== 'resolved' && status !== 'closed',
  unread: ({ unread, status }) => unread > 0 && status !== 'closed',
  blocked: ({ status, disputed }) => status === 'blocked' || disputed,
  resolved: ({ status }) => status === 'resolved' || status === 'closed',
};

/** The threads, newest activity first, by the filter in the address. */
export function ThreadList({ current, path = '/threads' }: { current?: string | undefined; path?: string }) {
  const filter = place.value.query.get('f') ?? '';
  const wanted = FILTERS[filter] ?? (() => true);
  // The one that is open beside the list stays in it.
  const shown = conversations.value.filter((one) => one.thread_id === current || wanted(one));
  const blocked = conversations.value.filter(FILTERS['blocked'] ?? (() => true)).length;
  return (
    <>
      {path === '/threads' ? (
        <Segments
          path={path}
          value={filter}
          label="Which threads"
          options={[
            ['', 'Open'],
            ['unread', 'Unread', unreadThreads.value.length],
            ['blocked', 'Blocked', blocked],
            ['resolved', 'Done'],
          ]}
        />
      ) : null}
      {shown.length === 0 && threads.value !== undefined ? (
        <Empty title={filter === '' ? 'No thread is open.' : 'None of that kind.'}>
          {filter === '' ? <CodeLine text={typed('thread new "Hello" --with claude,codex')} /> : null}
        </Empty>
      ) : (
        <div class="list">
          {shown.map((thread) => (
            <ThreadRow key={thread.thread_id} thread={thread} current={thread.thread_id === current} />
          ))}
        </div>
      )}
    </>
  );
}
