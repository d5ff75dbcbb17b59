import { signal } from '@preact/signals';

import { go, goBack, place } from './router.ts';

/** What lies above the page. */
export const overlay = signal<'palette' | 'keys' | undefined>(undefined);

/** The thread that is looked into without going there. */
export const peeked = signal<string | undefined>(undefined);

/** What keys do on the page that is shown; each page puts its own in and takes them out. */
export const pageKeys = new Map<string, () => void>();

/** Takes away what lies above the page; what has been called in its place meanwhile stays. */
export function dismiss(what: 'palette' | 'keys'): void {
  if (overlay.value === what) overlay.value = undefined;
}

/** How long the second key of a pair may take. */
const PAIR_MS = 900;

const GO: Record<string, string> = {
  n: '/now',
  t: '/threads',
  a: '/agents',
  i: '/timeline',
  k: '/know',
  l: '/log',
  s: '/system',
  f: '/search',
};

/** Where Escape leads from a page when nothing came before it. */
const UP: Record<string, string> = { thread: '/threads', agent: '/agents', know: '/know' };

let pairUntil = 0;

/** Makes everything reachable by keys; nothing happens while somebody types. */
export function listenToKeys(): void {
  document.addEventListener('keydown', (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      overlay.value = overlay.value === 'palette' ? undefined : 'palette';
      return;
    }
    if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
    // What was called above the page may still be on its way: what is typed for it does nothing to the page.
    if (overlay.value !== undefined) return;
    if (isTyping(event.target) || document.querySelector('dialog[open]') !== null) return;
    if (press(event.key, event.timeStamp)) event.preventDefault();
  });
}

/** `at` is when the key was pressed: a page that is busy hears of it later. */
function press(key: string, at: number): boolean {
  if (at < pairUntil) {
    pairUntil = 0;
    const path = GO[key];
    if (path !== undefined) go(path);
    return path !== undefined;
  }
  switch (key) {
    case 'g':
      pairUntil = at + PAIR_MS;
      return true;
    case 'j':
      return move(1);
    case 'k':
      return move(-1);
    case 'n':
      return follow('.row-unread[data-thread]');
    case '/':
      go('/search');
      return true;
    case '?':
      overlay.value = 'keys';
      return true;
    case 'r':
      return focusOn('[data-composer]');
    case 'y':
    case 'd':
      return pushWithin('[data-ask]', key);
    case 'p':
    case 'w':
      return pushWithin('[data-agent]', key) || pushOnPage(key);
    case 'm':
      return pushWithin('[data-agent]', key) || pushForPage(key);
    case 'e':
      return pushForPage(key) || pushOnPage(key);
    case 'i':
      return pushForPage(key);
    case 'u':
      go('/threads?f=unread');
      return true;
    case ' ':
      return peek();
    case 'c':
      return pushOnPage(key);
    case 'Escape':
      if (place.value.page === 'now') return false;
      goBack(UP[place.value.page] ?? '/now');
      return true;
    default:
      return false;
  }
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null
  );
}

/** Moves the focus to the next row of the page. */
function move(step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>('#main [data-row]')].filter(
    (row) => row.offsetParent !== null,
  );
  if (rows.length === 0) return false;
  const at = rows.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
  const next =
    rows[at < 0 ? (step === 1 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + step))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
  return true;
}

function follow(selector: string): boolean {
  const row = document.querySelector<HTMLAnchorElement>(`#main ${selector}:not([aria-current])`);
  row?.click();
  return row !== null;
}

function focusOn(selector: string): boolean {
  const field = document.querySelector<HTMLElement>(selector);
  field?.focus();
  return field !== null;
}

/** Pushes the button of a key inside the thing that has the focus. */
function pushWithin(selector: string, key: string): boolean {
  const button = document.activeElement
    ?.closest(selector)
    ?.querySelector<HTMLButtonElement>(`[data-key="${key}"]`);
  button?.click();
  return button !== null && button !== undefined;
}

function pushForPage(key: string): boolean {
  const run = pageKeys.get(key);
  run?.();
  return run !== undefined;
}

/** Looks into the thread that has the focus. */
function peek(): boolean {
  const row = document.activeElement?.closest<HTMLElement>('[data-thread]');
  peeked.value = row?.dataset['thread'];
  return peeked.value !== undefined;
}

function pushOnPage(key: string): boolean {
  const button = document.querySelector<HTMLButtonElement>(`#main [data-key="${key}"]`);
  button?.click();
  return button !== null;
}
