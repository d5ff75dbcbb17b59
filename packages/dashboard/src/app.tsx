import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

import { me, line } from './data/state.ts';
import { later } from './parts/later.tsx';
import { Nav } from './parts/nav.tsx';
import { Empty, Page } from './parts/page.tsx';
import { Toasts } from './parts/toast.tsx';
import { dismiss, overlay, peeked } from './keys.ts';
import { AskPage } from './pages/ask.tsx';
import { NowPage } from './pages/now.tsx';
import { place } from './router.ts';

/** Why the link that was followed, or the issuer, did not sign this device in. */
export const linkFault = signal<string | undefined>(undefined);

const loading = <div class="start" aria-busy="true" aria-label="Loading" />;

const SignInPage = later(async () => (await import('./pages/sign-in.tsx')).SignInPage, loading);
const ThreadsPage = later(async () => (await import('./pages/threads.tsx')).ThreadsPage);
const AgentsPage = later(async () => (await import('./pages/agents.tsx')).AgentsPage);
const KeyHelp = later(async () => (await import('./parts/key-help.tsx')).KeyHelp);
const ThreadPage = later(async () => (await import('./pages/thread.tsx')).ThreadPage);
const AgentPage = later(async () => (await import('./pages/later.ts')).AgentPage);
const TimelinePage = later(async () => (await import('./pages/later.ts')).TimelinePage);
const UsagePage = later(async () => (await import('./pages/later.ts')).UsagePage);
const KnowPage = later(async () => (await import('./pages/know.tsx')).KnowPage);
const SearchPage = later(async () => (await import('./pages/later.ts')).SearchPage);
const LogPage = later(async () => (await import('./pages/later.ts')).LogPage);
const Palette = later(async () => (await import('./parts/palette.tsx')).Palette);
const Peek = later(async () => (await import('./pages/later.ts')).Peek);
const SystemPage = later(async () => (await import('./pages/later.ts')).SystemPage);

/** The app: a way between pages, the page, and what lies above it. */
export function App() {
  if (me.value === undefined) return loading;
  if (me.value === null) return <SignInPage failed={linkFault.value} />;
  return (
    <Frame>
      <Current />
    </Frame>
  );
}

function Frame({ children }: { children: ComponentChildren }) {
  return (
    <div class="app">
      <a class="skip" href="#main" onClick={skipToMain}>
        Skip to the content
      </a>
      <Nav />
      <main id="main" class="main" tabIndex={-1}>
        {line.value === 'lost' ? (
          <p class="banner banner-lost" role="status">
            No connection to the hub. What you see may be old; what you write is kept here.
          </p>
        ) : null}
        {children}
      </main>
      {overlay.value === 'palette' ? <Palette onClose={() => dismiss('palette')} /> : null}
      {overlay.value === 'keys' ? <KeyHelp onClose={() => dismiss('keys')} /> : null}
      {peeked.value === undefined ? null : (
        <Peek key={peeked.value} id={peeked.value} onClose={() => (peeked.value = undefined)} />
      )}
      <Toasts />
    </div>
  );
}

function Current() {
  const { page, params } = place.value;
  const [first = '', second] = params;
  switch (page) {
    case 'now':
      return <NowPage />;
    case 'threads':
      return <ThreadsPage />;
    case 'thread':
      return (
        <ThreadPage id={first} seq={second === undefined || second === '' ? undefined : Number(second)} />
      );
    case 'agents':
      return <AgentsPage />;
    case 'agent':
      return <AgentPage key={first} id={first} />;
    case 'usage':
      return <UsagePage />;
    case 'timeline':
      return <TimelinePage />;
    case 'ask':
      return <AskPage key={first} id={first} />;
    case 'know':
      return <KnowPage id={first} view={second} />;
    case 'search':
      return <SearchPage />;
    case 'log':
      return <LogPage />;
    case 'system':
      return <SystemPage />;
    case 'missing':
    default:
      return (
        <Page title="Not here">
          <Empty title="There is no such page.">
            <a href="/now">Go to Now</a>
          </Empty>
        </Page>
      );
  }
}

function skipToMain(event: Event): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('#main')?.focus();
}
