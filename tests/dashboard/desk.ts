import { randomUUID } from 'node:crypto';

import { type Client, createClient } from '@parley/client';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { onTestFailed, vi } from 'vitest';

import { atFileEnd } from '../harness/at-file-end.ts';
import { type HubOptions, type HubProcess, startHub } from '../harness/start-hub.ts';
import { registerSigner, type Signer } from '../harness/tokens.ts';
import { requireTool, tool } from '../tools/tools.ts';
import type { Spot } from './view.ts';

const WORKSPACE = 'w1';

/** A browser on a busy machine is slow; what is waited for comes, or the test is right to fail. */
export const PATIENCE_MS = 120_000;

/** Every file with a browser says so before its tests: a worker loads this module once for many files. */
export function allowForBrowsers(): void {
  vi.setConfig({ testTimeout: 5 * PATIENCE_MS, hookTimeout: 5 * PATIENCE_MS });
}

/** The person whose devices these are. */
export const PERSON = 'kim';

/** The screens that people use. */
export const SCREENS = {
  tablet: { viewport: { width: 834, height: 1194 }, hasTouch: true, isMobile: true },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  desktop: { viewport: { width: 1440, height: 900 }, hasTouch: false, isMobile: false },
} as const;

export type Screen = keyof typeof SCREENS;

export const SIZES = Object.keys(SCREENS) as Screen[];

/** A finger on a touch screen, else the mouse. */
export const press = (target: Pick<Spot, 'click' | 'tap'>, screen: Screen): Promise<void> =>
  screen === 'desktop' ? target.click() : target.tap();

/** A hub, agents that a test scripts, and browsers that are signed in to it. */
export interface Desk {
  hub: HubProcess;
  signer: Signer;
  agent(name: string, role?: string): Client;
  /** A link that signs one browser in. */
  link(): Promise<string>;
  /** A page of a device that is signed in; it installs no worker unless it is told to, for that is half of what a sign-in costs. */
  signedIn(screen: Screen, options?: Parameters<Browser['newContext']>[0]): Promise<Page>;
  context(screen: Screen, options?: Parameters<Browser['newContext']>[0]): Promise<BrowserContext>;
  close(): Promise<void>;
}

let browser: Promise<Browser> | undefined;

/** One browser for all tests of a file: the lean one, unless the first to ask wants all that people have. */
export function openBrowser(whole: 'whole' | 'lean' = 'lean'): Promise<Browser> {
  if (browser !== undefined) return browser;
  const lean = whole === 'whole' ? undefined : tool('chromium-headless');
  const launched = chromium.launch({
    executablePath: typeof lean === 'string' ? lean : requireTool('chromium'),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    timeout: 60_000,
  });
  browser = launched;
  atFileEnd(async () => {
    browser = undefined;
    await (await launched).close();
  });
  return launched;
}

/** What a page showed when its test failed is half of the answer to why. */
function tellWhenFailed(page: Page): void {
  try {
    onTestFailed(async () => {
      const text = await page.locator('body').innerText({ timeout: 5_000 }).catch(String);
      console.error(`the page ${page.url()} showed:\n${text}`);
    });
  } catch {
    // A page of a whole file belongs to no one test.
  }
}

/** Starts a hub to look at. */
export async function openDesk(options: HubOptions & { signer?: Signer } = {}): Promise<Desk> {
  const hub = await startHub(options);
  const signer = options.signer ?? (await registerSigner('desk', { data: hub.data }));
  const contexts: BrowserContext[] = [];
  const desk: Desk = {
    hub,
    signer,
    agent: (name, role = 'worker') =>
      createClient({
        url: hub.url,
        token: signer.token({
          agent: name,
          workspace: WORKSPACE,
          role,
          session: `${name}-${randomUUID().slice(0, 8)}`,
        }),
      }),
    async link() {
      const { key } = await desk.agent(PERSON, 'operator').pair_device();
      return `${hub.url}/#k=${key}`;
    },
    async context(screen, more = {}) {
      const context = await (
        await openBrowser()
      ).newContext({ ...SCREENS[screen], locale: 'en-GB', serviceWorkers: 'block', ...more });
      context.setDefaultTimeout(PATIENCE_MS);
      contexts.push(context);
      return context;
    },
    async signedIn(screen, more) {
      const page = await (await desk.context(screen, more)).newPage();
      tellWhenFailed(page);
      await page.goto(await desk.link());
      await page.locator('.line-sign.line-live').waitFor();
      return page;
    },
    async close() {
      await Promise.all(contexts.map((context) => context.close()));
      await hub.stop();
    },
  };
  return desk;
}
