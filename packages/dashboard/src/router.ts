import { fieldsOf } from '@parley/protocol';
import { computed, signal } from '@preact/signals';

/** The pages, by the shape of their address. */
const ROUTES = [
  ['now', /^\/(?:now)?$/],
  ['threads', /^\/threads$/],
  ['thread', /^\/t\/([^/]+)(?:\/(\d+))?$/],
  ['agents', /^\/agents$/],
  ['agent', /^\/agents\/([^/]+)$/],
  ['usage', /^\/usage$/],
  ['timeline', /^\/timeline$/],
  ['ask', /^\/asks\/([^/]+)$/],
  ['know', /^\/know(?:\/([^/]+))?(?:\/(edit|history))?$/],
  ['search', /^\/search$/],
  ['log', /^\/log$/],
  ['system', /^\/system$/],
] as const;

type PageName = (typeof ROUTES)[number][0] | 'missing';

/** Which page is shown, and of what. */
export interface Place {
  page: PageName;
  params: readonly string[];
  query: URLSearchParams;
}

const address = signal(location.pathname + location.search);

export const place = computed<Place>(() => {
  const [path = '/', search = ''] = address.value.split('?');
  const query = new URLSearchParams(search);
  for (const [page, shape] of ROUTES) {
    const match = shape.exec(path);
    if (match !== null) return { page, params: match.slice(1).map((part) => decode(part)), query };
  }
  return { page: 'missing', params: [], query };
});

/** Goes to a page of the app. */
export function go(path: string, how: 'push' | 'replace' = 'push'): void {
  if (path === address.value) return;
  if (how === 'push') history.pushState({ inside: true }, '', path);
  else history.replaceState(history.state, '', path);
  address.value = path;
}

/** Goes back to where the person came from, or up where they came from elsewhere. */
export function goBack(up: string): void {
  if (fieldsOf(history.state)['inside'] === true) history.back();
  else go(up, 'replace');
}

/** Lets the app's own links change the page without loading it anew. */
export function followLinks(): void {
  addEventListener('popstate', () => (address.value = location.pathname + location.search));
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link === null || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    if (link.origin !== location.origin || link.target !== '' || link.hasAttribute('download')) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}

function decode(text: string | undefined): string {
  try {
    return decodeURIComponent(text ?? '');
  } catch {
    return text ?? '';
  }
}
