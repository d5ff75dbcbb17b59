import { previews, type ThreadRow as Row } from '../data/state.ts';
import { ago } from '../time.ts';
import { plural, STATUS_WORDS } from '../words.ts';
import { Icon } from './icon.tsx';

/** A thread in a list: how it stands, what was said last, when, and how much of it is new. */
export function ThreadRow({ thread, current = false }: { thread: Row; current?: boolean }) {
  const { thread_id, title, status, unread, paused, side_of, updated_at, disputed } = thread;
  const last = previews.value.get(thread_id);
  return (
    <a
      class={`row row-main thread-row${current ? ' row-current' : ''}${unread > 0 ? ' row-unread' : ''}`}
      href={`/t/${thread_id}`}
      data-row
      data-thread={thread_id}
      {...(current ? { 'aria-current': 'page' as const } : {})}
    >
      <span class={`status-bar status-${status}`} aria-hidden="true" />
      <span class="row-text">
        <span class="row-title">
          {side_of === undefined ? null : <Icon name="side" size={16} />}
          <span dir="auto">{title}</span>
        </span>
        <span class="row-line">
          {status === 'active' && paused !== true ? null : (
            <span class={`status-word status-${status}`}>
              {paused === true ? 'Paused' : STATUS_WORDS[status]}
            </span>
          )}
          {disputed ? <span class="status-word status-blocked">Open finding</span> : null}
          {last === undefined ? (
            <span>{plural(thread.participants.length, 'participant')}</span>
          ) : (
            <span>
              <b>{last.agent_id}</b> <bdi>{last.text}</bdi>
            </span>
          )}
        </span>
      </span>
      <span class="row-end">
        <span class="meta">{ago(last?.at ?? updated_at)}</span>
        {unread > 0 ? (
          <span class="badge">
            {unread > 999 ? '999+' : unread}
            <span class="sr"> unread</span>
          </span>
        ) : null}
      </span>
    </a>
  );
}
