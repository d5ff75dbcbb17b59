import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

import { line } from '../data/state.ts';
import { Icon } from './icon.tsx';

/** The frame of a plain page: its title, what can be done there, and a column of content. */
export function Page({
  title,
  actions,
  children,
  aside,
  wide = false,
}: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
  aside?: ComponentChildren;
  /** For cards, which use the room that lines of text do not need. */
  wide?: boolean;
}) {
  useTitle(title);
  return (
    <div class="page scroll" tabIndex={-1}>
      <div class={aside !== undefined ? 'column column-aside' : wide ? 'column column-wide' : 'column'}>
        <header class="page-head">
          <h1>{title}</h1>
          <LineSign />
          <div class="page-actions">
            <a class="button-quiet icon-button head-search" href="/search" aria-label="Search">
              <Icon name="search" />
            </a>
            {actions}
          </div>
        </header>
        <div class="page-main">{children}</div>
        {aside === undefined ? null : <aside class="page-aside">{aside}</aside>}
      </div>
    </div>
  );
}

/** Names the page for the tab and for those who hear it. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Parley`;
  }, [title]);
}

const LINE_WORDS = { connecting: 'Connecting', live: 'Live', lost: 'No connection' } as const;

/** Says whether what is shown is the present. */
function LineSign() {
  return (
    <span class={`line-sign line-${line.value}`} role="status">
      <span class="line-dot" aria-hidden="true" />
      {LINE_WORDS[line.value]}
    </span>
  );
}

/** A titled part of a page. */
export function Section({
  title,
  count,
  children,
  action,
}: {
  title: string;
  count?: number | undefined;
  children: ComponentChildren;
  action?: ComponentChildren;
}) {
  return (
    <section class="section">
      <header class="section-head">
        <h2>
          {title}
          {count === undefined ? null : <span class="section-count">{count}</span>}
        </h2>
        {action}
      </header>
      {children}
    </section>
  );
}

/** What a list without rows says: why, and what to do next. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
