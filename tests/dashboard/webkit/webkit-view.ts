import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { PATIENCE_MS } from '../desk.ts';
import type { Role, Spot, View, Words } from '../view.ts';
import { type Session, WebDriverError } from './webdriver.ts';

/** A page in WebKit, and what went wrong in it since somebody last asked. */
export interface WebKitView extends View {
  troubles(): Promise<string[]>;
}

type Pattern = { text: string } | { source: string; flags: string };

type Step =
  | { by: 'css'; css: string }
  | { by: 'role'; role: Role; name?: Pattern; level?: number }
  | { by: 'label'; label: Pattern }
  | { by: 'text'; text: Pattern }
  | { by: 'hasText'; hasText: Pattern }
  | { by: 'first' };

/** How WebDriver names an element: one key, whose value is the name. */
type Element = Record<string, string>;

interface Found {
  count: number;
  element?: Element;
  shown?: boolean;
  enabled?: boolean;
  text?: string;
  value?: string;
  checked?: boolean;
  box?: string;
}

const source = readFileSync(new URL('find-in-page.mjs', import.meta.url), 'utf8');
const LOOK = `${source.replace(/^export /m, '')}\nreturn look(arguments[0]);`;

/** Keeps what a page complains of from here on; what happened while it loaded shows by what is not there. */
const LISTEN = `
const kept = (window.troubles = []);
addEventListener('error', (event) => kept.push('error: ' + event.message));
addEventListener('unhandledrejection', (event) => kept.push('rejected: ' + event.reason));
addEventListener('securitypolicyviolation', (event) => kept.push('policy: ' + event.violatedDirective));
const { error } = console;
console.error = (...words) => (kept.push('console: ' + words.join(' ')), error.apply(console, words));`;

const OPTION = `return [...arguments[0].options].find(({ value, label }) => [value, label].includes(arguments[1]));`;

const TO_THE_MIDDLE = 'arguments[0].scrollIntoView({ block: "center" });';

/** Soon at first, then less often: each look searches the page. */
const POLL_MS = { first: 50, longest: 250 };

/** What a browser says when a page moved under the hand. */
const MOVED = ['element click intercepted', 'stale element reference', 'element not interactable'];

const pattern = (words: Words): Pattern =>
  typeof words === 'string' ? { text: words } : { source: words.source, flags: words.flags };

/** The one page of a session, in the words of the flows. */
export function createWebKitView(session: Session): WebKitView {
  let past: string[] = [];
  const keep = async (): Promise<void> => {
    past.push(...((await session.run('return (window.troubles ?? []).splice(0);')) as string[]));
  };
  async function troubles(): Promise<string[]> {
    await keep();
    const all = past;
    past = [];
    return all;
  }
  async function load(path: string, body: object): Promise<void> {
    await keep();
    await session.call('POST', path, body);
    await session.run(LISTEN);
  }
  return {
    ...lookups(session, []),
    troubles,
    goto: (url) => load('/url', { url }),
    reload: () => load('/refresh', {}),
    evaluate: (expression) => session.run(`return ${expression}`),
  };
}

function lookups(session: Session, steps: readonly Step[]) {
  const then = (...more: Step[]): Spot => spot(session, [...steps, ...more]);
  return {
    getByRole: (role: Role, { name, level }: { name?: Words; level?: number } = {}) =>
      then({
        by: 'role',
        role,
        ...(name === undefined ? {} : { name: pattern(name) }),
        ...(level === undefined ? {} : { level }),
      }),
    getByLabel: (label: Words) => then({ by: 'label', label: pattern(label) }),
    getByText: (text: Words) => then({ by: 'text', text: pattern(text) }),
    locator: (css: string, { hasText }: { hasText?: Words } = {}) =>
      then({ by: 'css', css }, ...having(hasText)),
  };
}

const having = (words: Words | undefined): Step[] =>
  words === undefined ? [] : [{ by: 'hasText', hasText: pattern(words) }];

function spot(session: Session, steps: readonly Step[]): Spot {
  async function look(): Promise<Found> {
    const found = await unlessMoved(() => session.run(LOOK, steps) as Promise<Found>);
    // It went between the look and the answer.
    return found ?? look();
  }

  /** Waits until it is as it must be, and says in the end what was seen instead. */
  async function until(isReady: (found: Found) => boolean | Promise<boolean>): Promise<Found> {
    const deadline = performance.now() + PATIENCE_MS;
    for (let pause = POLL_MS.first; ; pause = Math.min(POLL_MS.longest, 1.5 * pause)) {
      const found = await look();
      if (await isReady(found)) return found;
      if (performance.now() > deadline) {
        const page = await session.run('return location.href + "\\n" + document.body.innerText');
        throw new Error(`${JSON.stringify(steps)} is ${JSON.stringify(found)} on ${String(page)}`);
      }
      await sleep(pause);
    }
  }

  const once = () => until(({ count }) => count === 1);
  const shown = () => until(({ count, shown: is }) => count === 1 && is === true);

  /** Does something to it once it is there, can be used, and stands still. */
  async function use(work: (element: Element) => Promise<unknown>): Promise<void> {
    let before: string | undefined;
    await until(async ({ count, shown: is, enabled, element, box }) => {
      const still = box === before;
      before = box;
      if (count !== 1 || is !== true || enabled !== true || element === undefined || !still) return false;
      const done = await unlessMoved(() => work(element).then(() => true));
      if (done === undefined) await unlessMoved(() => session.run(TO_THE_MIDDLE, element));
      return done === true;
    });
  }

  const order = (element: Element, command: 'click' | 'value', body = {}) =>
    session.call('POST', `/element/${Object.values(element)[0]}/${command}`, body);
  const click = () => use((element) => order(element, 'click'));

  return {
    ...lookups(session, steps),
    first: () => spot(session, [...steps, { by: 'first' }]),
    filter: ({ hasText }) => spot(session, [...steps, ...having(hasText)]),
    async waitFor({ state = 'visible' } = {}) {
      await (state === 'visible' ? shown() : until(({ count }) => count === 0));
    },
    count: async () => (await look()).count,
    innerText: async () => (await once()).text ?? '',
    inputValue: async () => (await once()).value ?? '',
    tap: click,
    click,
    fill: (text) =>
      use(async (element) => {
        await session.run('arguments[0].focus(); arguments[0].select();', element);
        await order(element, 'value', { text });
      }),
    selectOption: (value) =>
      use(async (element) => order((await session.run(OPTION, element, value)) as Element, 'click')),
    async check() {
      if ((await shown()).checked !== true) await click();
    },
  };
}

/** What the work comes to; nothing where the page moved under the hand, which then has touched nothing. */
async function unlessMoved<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WebDriverError && MOVED.includes(error.word)) return undefined;
    throw error;
  }
}
