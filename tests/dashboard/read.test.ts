import type { Client } from '@parley/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, type Desk, openDesk, PATIENCE_MS, PERSON, type Screen, SIZES } from './desk.ts';
import { visit } from './visit.ts';

allowForBrowsers();

/** Longer than what the page takes for a moment, and for a list to be where it was sent. */
const A_WHILE_MS = 900;

/** Waits until the list has stood still for so long, by the clock of the page: on a busy machine both are late together. */
const REST = `new Promise((resolve) => {
  const places = () =>
    [...document.querySelectorAll('.entry[data-seq]')]
      .map((row) => row.dataset.seq + ' ' + row.getBoundingClientRect().top)
      .join();
  let [before, since] = [places(), performance.now()];
  const timer = setInterval(() => {
    const now = places();
    if (now !== before) [before, since] = [now, performance.now()];
    if (performance.now() - since < ${A_WHILE_MS}) return;
    clearInterval(timer);
    resolve();
  }, 100);
})`;

/** A page that tells late how long its rows are, when it is asked to: a machine with much else to do is such a one. */
const SHORT_OF_BREATH = `{
  const Prompt = ResizeObserver;
  globalThis.ResizeObserver = class extends Prompt {
    constructor(run) {
      super((...told) => (globalThis.isLate ? setTimeout(run, 125, ...told) : run(...told)));
    }
  };
}`;

describeWith(['chromium'], 'what counts as read', () => {
  let desk: Desk;
  let writer: Client;
  let person: Client;
  const pages = {} as Record<Screen, Page>;
  beforeAll(async () => {
    desk = await openDesk();
    writer = desk.agent('writer');
    person = desk.agent(PERSON, 'operator');
    await writer.register_agent({ name: 'writer' });
    for (const screen of SIZES) {
      pages[screen] = await desk.signedIn(screen);
      await pages[screen].addInitScript(SHORT_OF_BREATH);
    }
  });
  afterAll(async () => {
    await desk.close();
  });

  async function threadOf(bodies: readonly string[]): Promise<string> {
    const { thread_id } = await writer.create_thread({ title: 'To read', participants: [PERSON] });
    for (const body of bodies) await say(thread_id, body);
    return thread_id;
  }
  const say = (thread_id: string, body: string) =>
    writer.post_message({ thread_id, schema_version: 1, body });
  /** So many rows of several lines, in whatever order they arrive. */
  async function longThread(rows: number): Promise<string> {
    const thread_id = await threadOf([]);
    await Promise.all(Array.from({ length: rows }, (_, i) => say(thread_id, paragraph(i + 1))));
    return thread_id;
  }
  const cursor = async (thread_id: string): Promise<number> =>
    (await person.get_thread({ thread_id })).last_read_seq;

  /** The rows whose end is on the screen now, found without a word of the page's own reckoning. */
  const onScreen = (page: Page): Promise<number[]> =>
    page.evaluate(`(() => {
      const box = document.querySelector('.message-scroll').getBoundingClientRect();
      return [...document.querySelectorAll('.entry[data-seq]')]
        .filter((row) => {
          const { bottom } = row.getBoundingClientRect();
          return bottom > box.top + 1 && bottom <= Math.min(box.bottom, innerHeight) + 1;
        })
        .map((row) => Number(row.dataset.seq))
        .sort((a, b) => a - b);
    })()`);

  /** Opens a thread and waits until the list rests. */
  async function open(page: Page, thread_id: string, seq?: number): Promise<void> {
    await visit(page, `${desk.hub.url}/t/${thread_id}${seq === undefined ? '' : `/${seq}`}`);
    await page.locator('.entry[data-seq]').first().waitFor();
    await page.evaluate(REST);
  }

  const scrollBy = async (page: Page, part: number): Promise<void> => {
    await page.evaluate(`(() => {
      const list = document.querySelector('.message-scroll');
      list.scrollTop += list.clientHeight * ${part};
    })()`);
    await page.evaluate(REST);
  };

  /** The cursor comes to a row, and goes no further. */
  async function stands(thread_id: string, at: number): Promise<void> {
    await vi.waitFor(async () => expect(await cursor(thread_id)).toBe(at), PATIENCE_MS / 4);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await cursor(thread_id)).toBe(at);
  }

  const paragraph = (i: number) => `Line ${i}: ${'what was done and why it was done so. '.repeat(6)}`;

  // Each size is a device of its own: what one waits for, the others need not wait for after it.
  describe.concurrent.each(SIZES)('on a %s', (screen) => {
    test.sequential('the cursor stands at the last row that was on the screen, also after scrolling', async () => {
      const page = pages[screen];
      const thread_id = await longThread(40);
      await open(page, thread_id);
      const first = await onScreen(page);
      expect(first[0]).toBeLessThanOrEqual(1);
      expect(first.at(-1)).toBeLessThan(30);
      await stands(thread_id, first.at(-1) ?? 0);
      // What the page says is left agrees with where the cursor is.
      const left = 40 - (first.at(-1) ?? 0);
      await page.getByRole('button', { name: `${left} more below` }).waitFor();
      for (let i = 0; i < 2; i++) {
        await scrollBy(page, 0.6);
        await stands(thread_id, (await onScreen(page)).at(-1) ?? 0);
      }
      // Going back takes nothing back.
      const furthest = await cursor(thread_id);
      await scrollBy(page, -0.5);
      await stands(thread_id, furthest);
    });

    test.sequential('a short thread is read when it is opened, to its end', async () => {
      const thread_id = await threadOf(['One.', 'Two.']);
      await open(pages[screen], thread_id);
      expect((await onScreen(pages[screen])).at(-1)).toBe(2);
      await stands(thread_id, 2);
    });

    test.sequential('a message longer than the screen is read at its end', async () => {
      const page = pages[screen];
      const long = Array.from({ length: 120 }, (_, i) => `- step ${i + 1}`).join('\n');
      const thread_id = await threadOf(['Before.', long, 'After.']);
      await open(page, thread_id);
      await stands(thread_id, 1);
      // Also where it fills the screen, the page says that there is more.
      await scrollBy(page, 0.8);
      expect(await onScreen(page)).toEqual([]);
      await page.getByRole('button', { name: '1 more below' }).waitFor();
      for (let i = 0; i < 20 && !(await onScreen(page)).includes(2); i++) {
        expect(await cursor(thread_id)).toBe(1);
        await scrollBy(page, 0.8);
      }
      await stands(thread_id, (await onScreen(page)).at(-1) ?? 0);
      // One that comes while the person is at the end is shown from where it begins.
      await scrollBy(page, 2);
      await stands(thread_id, 3);
      await page.evaluate('isLate = true');
      await say(thread_id, long);
      await page.locator('.entry[data-seq="4"]').waitFor();
      await page.evaluate(REST);
      await page.evaluate('isLate = false');
      const top =
        await page.evaluate(`document.querySelector('.entry[data-seq="4"]').getBoundingClientRect().top
      - document.querySelector('.message-scroll').getBoundingClientRect().top`);
      expect(top).toBeGreaterThanOrEqual(-2);
      await stands(thread_id, 3);
    });

    test.sequential('a thread that grows is read as it grows, while somebody looks and is at its end', async () => {
      const page = pages[screen];
      const thread_id = await longThread(20);
      await person.ack_read({ thread_id, last_read_seq: 20 });
      await open(page, thread_id);
      await say(thread_id, 'While you look.');
      await stands(thread_id, 21);
      // Another window has the focus: nothing is read, however long it stands there.
      await page.evaluate(`document.hasFocus = () => false; dispatchEvent(new Event('blur'))`);
      await say(thread_id, 'While you look elsewhere.');
      await page.locator('.entry[data-seq="22"]').waitFor();
      await page.evaluate(REST);
      await stands(thread_id, 21);
      await page.evaluate(`document.hasFocus = () => true; dispatchEvent(new Event('focus'))`);
      await stands(thread_id, 22);
      // Something lies over it.
      await page.getByRole('button', { name: 'More about this thread' }).click();
      await page.getByRole('dialog').waitFor();
      await say(thread_id, 'Behind a sheet.');
      await page.evaluate(REST);
      await stands(thread_id, 22);
      await page.getByRole('button', { name: 'Close', exact: true }).click();
      await stands(thread_id, 23);
      // The person reads further up: what comes at the end waits.
      await scrollBy(page, -1.5);
      await say(thread_id, 'Far below.');
      await page.getByRole('button', { name: /more below/ }).waitFor();
      await page.evaluate(REST);
      await stands(thread_id, 23);
    });

    test.sequential('what was jumped over stays unread, can be gone to, or be left aside by a word', async () => {
      const page = pages[screen];
      const thread_id = await longThread(60);
      await open(page, thread_id, 50);
      await stands(thread_id, 0);
      const [top = 0] = await onScreen(page);
      const chip = page.getByRole('button', { name: /unread above/ });
      expect(await chip.innerText()).toMatch(new RegExp(`^${top - 1}\\b|^${top - 2}\\b`));
      // Past in less than a moment is not read.
      await chip.click();
      await page.evaluate(REST);
      const near = (await onScreen(page)).at(-1) ?? 0;
      await stands(thread_id, near);
      await page.evaluate("document.querySelector('.message-scroll').scrollTop = 1e6");
      await page.locator('.entry[data-seq="60"]').waitFor();
      await page.evaluate(REST);
      await stands(thread_id, near);
      await page.getByRole('button', { name: 'Mark as read' }).click();
      await stands(thread_id, 60);
    });
  });

  test('a message of which a part is still to come is not read yet', async () => {
    const page = await desk.signedIn('desktop');
    const thread_id = await threadOf(['One.', '@@ -1 +1 @@\n-a\n+b', 'Three.']);
    await open(page, await threadOf(['Without changes.']));
    // What shows changes comes over a slow line.
    let go = (): void => {};
    const slow = new Promise<void>((resolve) => (go = resolve));
    await page.route('**/*.js', async (route) => {
      await slow;
      await route.continue();
    });
    await page.evaluate(
      `history.pushState(null, '', '/t/${thread_id}'); dispatchEvent(new PopStateEvent('popstate'))`,
    );
    await page.locator('.entry[data-seq="2"]').waitFor();
    await stands(thread_id, 1);
    expect(await page.locator('.change').count()).toBe(0);
    go();
    await page.locator('.change').waitFor();
    await stands(thread_id, 3);
  });

  test('what was read while the line was down is told when it is back', async () => {
    const page = pages.desktop;
    const thread_id = await threadOf(['One.', 'Two.']);
    await page.route('**/v1/ack_read', (route) => route.abort());
    await open(page, thread_id);
    await stands(thread_id, 0);
    await page.unroute('**/v1/ack_read');
    await stands(thread_id, 2);
  });
});
