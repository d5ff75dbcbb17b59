import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';

import { startHub } from '../harness/start-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { axe } from './axe.ts';
import { allowForBrowsers, type Desk, openDesk, PATIENCE_MS, PERSON, press, type Screen } from './desk.ts';
import { ENDS, openPages } from './open-pages.ts';
import { sitAtTerminal } from './terminal-desk.ts';

allowForBrowsers();

/** What would ask the terminal, set its clipboard or title, or put a link there that acts. */
const ACTING = [
  String.raw`\033[6n`,
  String.raw`\033P$qm\033\\`,
  String.raw`\033]52;c;c3RvbGVu\007`,
  String.raw`\033]0;stolen title\007`,
  String.raw`\033]8;;javascript:window.hit=1\007CLICK-ME\033]8;;\007`,
].join('');

const SHELL = ['/bin/bash', '--norc', '-i'];
const PROMPT = { PS1: 'n=\\# > ' };
const SOON = { timeout: PATIENCE_MS, interval: 100 };

/** What axe finds in the terminal; which colours stand on which, inside the screen, the program decides. */
async function faultsOf(page: Page): Promise<string[]> {
  return [
    ...(await axe(page, `{ include: [['.terminal']], exclude: [['.t-grid']] }, {}`)),
    ...(await axe(page, `{ include: [['.terminal']] }, { rules: { 'color-contrast': { enabled: false } } }`)),
  ];
}

describeWith(['chromium'], 'the screen of a session', () => {
  let desk: Desk;
  let pages: Record<Screen, Page>;
  beforeAll(async () => {
    desk = await openDesk();
    pages = await openPages(desk);
  });
  afterAll(async () => {
    await desk.close();
  });

  const button = (page: Page, label: string | RegExp): Locator => page.getByRole('button', { name: label });
  const shows = (page: Page, what: RegExp): Promise<void> =>
    vi.waitFor(async () => expect(await page.locator('pre.screen').innerText()).toMatch(what), SOON);

  /** The person at the machine must have been quiet for a moment. */
  const takeOver = (page: Page, size: Screen): Promise<void> =>
    vi.waitFor(async () => {
      await press(button(page, 'Take over'), size);
      await page.getByText('You type here,').waitFor({ timeout: 3_000 });
    }, SOON);

  async function journal(agent: string): Promise<string[]> {
    const boss = desk.agent('boss', 'operator');
    const { journal_thread_id } = await boss.get_agent({ of_agent: agent });
    const { messages } = await boss.read_messages({ thread_id: journal_thread_id ?? '', limit: 200 });
    return messages.map((message) => JSON.stringify(message));
  }

  test('[C-WAKE-14] is text on the page: nothing in it acts, and nothing is typed back', async () => {
    const script = `stty -echo; printf 'BEFORE ${ACTING} AFTER\\n'; exec cat > typed`;
    const { folder } = await sitAtTerminal(desk, 'shown', ['bash', '-c', script]);
    const typed = join(folder, 'typed');
    const page = pages.desktop;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const faults: string[] = [];
    page.on('console', (message) => faults.push(message.text()));
    await page.evaluate("navigator.clipboard.writeText('mine')");
    await page.goto(`${desk.hub.url}/agents/shown`);
    await button(page, 'Watch live').click();
    await shows(page, /BEFORE .*CLICK-ME AFTER/);
    const screen = page.locator('pre.screen');
    expect(await screen.locator('a').count()).toBe(0);
    await screen.click();
    await page.keyboard.type('nothing of this arrives\n');
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('mine');
    expect(await page.title()).not.toContain('stolen');
    expect(existsSync(typed) && readFileSync(typed, 'utf8')).toBe('');
    // The policy for styles and scripts of every page holds here too.
    expect(faults.filter((text) => /Content Security Policy|TrustedHTML/.test(text))).toEqual([]);
  });

  describe.each(ENDS)('on a %s', (size) => {
    test('is followed live and taken over; the person at the machine wins, and it is on record', async () => {
      const name = `desk-${size}`;
      const person = await sitAtTerminal(desk, name, SHELL, { env: PROMPT });
      await person.sees('n=1 >');
      const page = pages[size];
      await page.goto(`${desk.hub.url}/agents/${name}`);
      await press(button(page, 'Watch live'), size);
      await shows(page, /^n=1 >/);
      person.type(
        String.raw`printf '\033[31mred\033[0m \033[48;2;10;200;30mtrue\033[0m \346\274\242|\n'` + '\r',
      );
      await shows(page, /^red true 漢\|/m);
      const colour = (text: string, property: string): Promise<string> =>
        page
          .locator('pre.screen .t-row span', { hasText: text })
          .last()
          .evaluate(
            (element, wanted) =>
              element.ownerDocument.defaultView?.getComputedStyle(element).getPropertyValue(wanted) ?? '',
            property,
          );
      expect(await colour('red', 'color')).toBe('rgb(242, 119, 122)');
      expect(await colour('true', 'background-color')).toBe('rgb(10, 200, 30)');
      // A wide character takes the room of two.
      const width = (text: string): Promise<number> =>
        page
          .locator('pre.screen .t-row span', { hasText: text })
          .last()
          .evaluate((element) => element.getBoundingClientRect().width);
      expect((await width('漢')) / (await width('true'))).toBeCloseTo(0.5, 1);

      // Who looks sees all hundred columns; who wants to read, or types, gets letters of a readable size.
      const overhang = (): Promise<number> =>
        page.locator('.t-screen').evaluate((box) => box.scrollWidth - box.clientWidth);
      expect(await overhang()).toBe(0);
      if (size === 'phone') {
        await press(button(page, 'A+, larger'), size);
        await vi.waitFor(async () => expect(await overhang()).toBeGreaterThan(100), SOON);
        await press(button(page, 'A−, smaller'), size);
        await vi.waitFor(async () => expect(await overhang()).toBe(0), SOON);
      }

      await takeOver(page, size);
      const letters = await page
        .locator('pre.screen')
        .evaluate((one) =>
          Number.parseFloat(one.ownerDocument.defaultView?.getComputedStyle(one).fontSize ?? ''),
        );
      expect(letters).toBeGreaterThanOrEqual(9);
      await page.keyboard.type('echo from-the-page');
      await press(button(page, 'Enter'), size);
      await person.sees(/^from-the-page/m);
      await shows(page, /^from-the-page/m);
      // Ctrl of the bar holds for the next key: history, then a way back out.
      await press(button(page, 'Up'), size);
      await shows(page, /> echo from-the-page\s*$/m);
      await press(button(page, 'Ctrl').first(), size);
      await page.keyboard.type('u');
      await page.keyboard.type('cat -v');
      await page.keyboard.press('Enter');
      await press(button(page, 'Esc'), size);
      await page.keyboard.press('ArrowLeft');
      await page.keyboard.press('Control+v');
      await press(button(page, 'Tab'), size);
      await page.keyboard.press('Enter');
      await shows(page, /^\^\[\^\[\[D/m);
      await press(button(page, 'Ctrl C'), size);
      await shows(page, /^n=4 >/m);
      const folder = process.env['LOOK'];
      if (folder !== undefined) await page.screenshot({ path: `${folder}/terminal-held-${size}.png` });

      expect(await faultsOf(page)).toEqual([]);

      person.type('echo mine\r');
      await page
        .getByText('The person at the machine pressed a key: the terminal is theirs again.')
        .waitFor();
      await page.keyboard.type('echo too-late');
      await page.keyboard.press('Enter');
      await person.sees(/^mine/m);
      await shows(page, /^mine/m);
      expect((await person.screen()).join('\n')).not.toContain('too-late');
      await vi.waitFor(async () => {
        const kept = await journal(name);
        expect(kept.filter((entry) => entry.includes('"body":"terminal_lock"')).length).toBeGreaterThan(0);
        expect(kept.join('\n')).toContain(`${PERSON} had taken over the terminal for`);
        expect(kept.join('\n')).not.toContain('from-the-page');
      }, SOON);
    });
  });

  test('an editor on the other screen is driven from the page, to its last line', async () => {
    const person = await sitAtTerminal(desk, 'editing', SHELL, { env: PROMPT });
    await person.sees('n=1 >');
    const page = pages.tablet;
    await page.goto(`${desk.hub.url}/agents/editing`);
    await press(button(page, 'Watch live'), 'tablet');
    await shows(page, /^n=1 >/);
    expect(await page.locator('.t-screen').evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(0);
    await takeOver(page, 'tablet');
    await page.keyboard.type('vim -u NONE -N note.txt');
    await page.keyboard.press('Enter');
    await shows(page, /^~\s*$/m);
    expect(await page.locator('pre.screen').innerText()).not.toContain('n=1');
    await page.keyboard.type('ione');
    await press(button(page, 'Enter'), 'tablet');
    await page.keyboard.type('two');
    await press(button(page, 'Left'), 'tablet');
    await press(button(page, 'Up'), 'tablet');
    await page.keyboard.type('X');
    await press(button(page, 'Esc'), 'tablet');
    await shows(page, /^onXe\s+two/m);
    const folder = process.env['LOOK'];
    if (folder !== undefined) await page.screenshot({ path: `${folder}/terminal-vim-tablet.png` });
    await page.keyboard.type(':wq');
    await page.keyboard.press('Enter');
    await shows(page, /^n=2 >/m);
    expect(readFileSync(join(person.folder, 'note.txt'), 'utf8')).toBe('onXe\ntwo\n');
    person.resize(60, 12);
    await vi.waitFor(async () => expect(await page.locator('.t-row').count()).toBe(12), SOON);
  });

  test('it ends with its time, with the page, and at once with the device; nothing is typed after', async () => {
    const person = await sitAtTerminal(desk, 'ending', SHELL, { env: PROMPT });
    await person.sees('n=1 >');
    const boss = desk.agent('boss', 'operator');
    const page = await desk.signedIn('desktop');
    await page.goto(`${desk.hub.url}/agents/ending`);
    await button(page, 'Watch live').click();
    await takeOver(page, 'desktop');
    // Another device of the same person sees who types, and cannot take it too.
    const second = await pages.phone.context().newPage();
    await second.goto(`${desk.hub.url}/agents/ending`);
    await press(button(second, 'Watch live'), 'phone');
    await second.getByText(/You type here from elsewhere until/).waitFor();
    expect(await button(second, 'Take over').isDisabled()).toBe(true);

    const { devices } = await boss.list_devices({ limit: 100 });
    const own = (await page.evaluate("fetch('/session').then((answer) => answer.json())")) as {
      device_id: string;
    };
    expect(devices.map(({ device_id }) => device_id)).toContain(own.device_id);
    await page.keyboard.type('echo be');
    await person.sees('echo be');
    await boss.revoke_device({ device_id: own.device_id });
    await page.keyboard.type('fore');
    await vi.waitFor(async () => {
      const kept = (await journal('ending')).join('\n');
      expect(kept).toMatch(
        /had taken over the terminal for \d+ s: the connection was lost, or the device was/,
      );
    }, SOON);
    expect((await person.screen()).join('\n')).not.toContain('before');
    person.type('\u0003');
    await vi.waitFor(async () => expect(await button(second, 'Take over').isDisabled()).toBe(false), SOON);
    await takeOver(second, 'phone');
    await second.close();
    await vi.waitFor(async () => {
      const ends = (await journal('ending')).filter((entry) => entry.includes('had taken over'));
      expect(ends).toHaveLength(2);
    }, SOON);
  });

  test('a session whose hub goes and comes back is seen again without a hand', async () => {
    const own = await openDesk();
    onTestFinished(() => own.close());
    const person = await sitAtTerminal(own, 'lasting', SHELL, { env: PROMPT });
    await person.sees('n=1 >');
    const page = await own.signedIn('desktop');
    await page.goto(`${own.hub.url}/agents/lasting`);
    await button(page, 'Watch live').click();
    await takeOver(page, 'desktop');
    await own.hub.kill();
    const again = await startHub({ data: own.hub.data, flags: ['--port', new URL(own.hub.url).port] });
    onTestFinished(() => again.stop().then(() => {}));
    await page.getByText(/The connection was lost|Not connected/).waitFor();
    person.type('echo still-here\r');
    await shows(page, /^still-here/m);
    await page.keyboard.type('never');
    expect((await person.screen()).join('\n')).not.toContain('never');
  });

  test('a device that may only look is not offered a terminal, and gets none', async () => {
    const person = await sitAtTerminal(desk, 'walled', SHELL, { env: PROMPT });
    await person.sees('n=1 >');
    const { key } = await desk.agent(PERSON, 'operator').pair_device({ read_only: true });
    const page = await (await desk.context('tablet')).newPage();
    await page.goto(`${desk.hub.url}/#k=${key}`);
    await page.locator('.line-sign.line-live').waitFor();
    await page.goto(`${desk.hub.url}/agents/walled`);
    await page.getByRole('heading', { name: 'Facts' }).waitFor();
    expect(await button(page, 'Watch live').count()).toBe(0);
    const outcome = await page.evaluate(`new Promise((resolve) => {
      const socket = new WebSocket(location.origin.replace('http', 'ws') + '/v1/agents/walled/terminal');
      socket.onopen = () => resolve('open');
      socket.onerror = () => resolve('refused');
    })`);
    expect(outcome).toBe('refused');
  });
});
