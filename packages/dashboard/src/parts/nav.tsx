import { line, me, openAsks } from '../data/state.ts';
import { threadCounts } from '../data/thread-pages.ts';
import { place } from '../router.ts';
import { Icon, type IconName } from './icon.tsx';
import { Mark } from './mark.tsx';

interface Goal {
  path: string;
  word: string;
  icon: IconName;
  pages: readonly string[];
  /** Left out where there is room for five only: Search stands in the heads of the pages there, the timeline on Agents, the log on System. */
  minor?: boolean;
}

/** Where one can go. */
export const PLACES: readonly Goal[] = [
  { path: '/now', word: 'Now', icon: 'now', pages: ['now', 'ask'] },
  { path: '/threads', word: 'Threads', icon: 'threads', pages: ['threads', 'thread'] },
  { path: '/agents', word: 'Agents', icon: 'agents', pages: ['agents', 'agent'] },
  { path: '/timeline', word: 'Timeline', icon: 'timeline', pages: ['timeline', 'usage'], minor: true },
  { path: '/know', word: 'Knowledge', icon: 'know', pages: ['know'] },
  { path: '/search', word: 'Search', icon: 'search', pages: ['search'], minor: true },
  { path: '/log', word: 'Log', icon: 'log', pages: ['log'], minor: true },
  { path: '/system', word: 'System', icon: 'system', pages: ['system'] },
];

/** The way between the pages, with what waits there. */
export function Nav() {
  const { page } = place.value;
  const counts: Record<string, number> = {
    '/now': openAsks.value,
    '/threads': threadCounts.value?.unread ?? 0,
  };
  return (
    <nav class="nav" aria-label="Pages">
      <a class="nav-home" href="/now" aria-label="Parley, to what needs you">
        <Mark />
        <span>Parley</span>
      </a>
      {PLACES.map(({ path, word, icon, pages, minor }) => {
        const count = counts[path] ?? 0;
        return (
          <a
            key={path}
            class={minor === true ? 'nav-link nav-minor' : 'nav-link'}
            href={path}
            {...(pages.includes(page) ? { 'aria-current': 'page' as const } : {})}
          >
            <span class="nav-icon">
              <Icon name={icon} size={22} />
              {count > 0 ? (
                <span class={path === '/now' ? 'badge badge-needs' : 'badge'}>
                  {count > 99 ? '99+' : count}
                  <span class="sr">{path === '/now' ? ' need you' : ' unread'}</span>
                </span>
              ) : null}
            </span>
            <span class="nav-word">{word}</span>
          </a>
        );
      })}
      <a class="nav-me" href="/system">
        <span class={`line-dot line-${line.value}`} aria-hidden="true" />
        <span class="nav-me-words">
          {me.value?.agent_id}
          <span class="meta">{me.value?.read_only === true ? 'may only look' : me.value?.workspace_id}</span>
        </span>
      </a>
    </nav>
  );
}
