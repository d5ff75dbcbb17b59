import type { Client } from '@parley/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, type Desk, openDesk, PATIENCE_MS, PERSON, press } from './desk.ts';
import { ENDS, openPages } from './open-pages.ts';

allowForBrowsers();

const MANY = 130;

describeWith(['chromium'], 'all threads', () => {
  let desk: Desk;
  let mapper: Client;
  let tester: Client;
  let first = '';
  let pages: Record<(typeof ENDS)[number], Page>;
  beforeAll(async () => {
    desk = await openDesk();
    mapper = desk.agent('mapper');
    tester = desk.agent('tester');
    await mapper.register_agent({ name: 'mapper' });
    await mapper.update_agent_status({ status: 'online', metadata: { cwd: '/src/app' } });
    await tester.register_agent({ name: 'tester' });
    await tester.update_agent_status({ status: 'online', metadata: { cwd: '/src/other' } });
    const make = async (client: Client, title: string): Promise<string> =>
      (await client.create_thread({ title, participants: [PERSON] })).thread_id;
    first = await make(tester, 'The Ärger with the very first thread');
    for (let i = 1; i <= MANY; i += 10)
      await Promise.all(Array.from({ length: 10 }, (_, k) => make(mapper, `Item ${i + k}`)));
    const blocked = await make(tester, 'Item held up');
    await tester.update_thread_status({ thread_id: blocked, status: 'blocked', reason: 'x' });
    pages = await openPages(desk, ENDS);
  });
  afterAll(async () => {
    await desk.close();
  });

  const rows = (page: Page) => page.locator('.page .thread-row');
  const segment = (page: Page, word: string) =>
    page.getByRole('group', { name: 'Which threads' }).getByRole('button', { name: word });

  test.each(ENDS)('on a %s every thread comes as one goes down, and the hub counts them', async (screen) => {
    const page = pages[screen];
    await page.goto(`${desk.hub.url}/threads`);
    await rows(page).first().waitFor();
    // The same number as the hub says, before they are all there.
    await vi.waitFor(
      async () => expect(await segment(page, 'Open').innerText()).toMatch(new RegExp(`${MANY + 2}$`)),
      PATIENCE_MS,
    );
    expect(await segment(page, 'Blocked').innerText()).toMatch(/1$/);
    expect(await rows(page).count()).toBeLessThan(MANY);
    await vi.waitFor(async () => {
      await page.evaluate("document.querySelector('.page.scroll').scrollTop = 1e7");
      expect(await rows(page).count()).toBe(MANY + 2);
    }, PATIENCE_MS);
    const titles = await rows(page).locator('.row-title').allInnerTexts();
    expect(new Set(titles).size).toBe(MANY + 2);
    expect(titles.at(-1)).toContain('very first');
  });

  test.each(ENDS)('on a %s threads are found by words, by agent, by folder, by state', async (screen) => {
    const page = pages[screen];
    await page.goto(`${desk.hub.url}/threads`);
    await page.getByRole('searchbox', { name: 'Threads by title' }).fill('ÄRGER first');
    await vi.waitFor(async () => {
      const found = await rows(page).locator('.row-title').allInnerTexts();
      expect(found).toHaveLength(1);
      expect(found[0]).toContain('very first');
      expect(await segment(page, 'Open').innerText()).toMatch(/1$/);
    }, PATIENCE_MS);
    await page.getByRole('searchbox', { name: 'Threads by title' }).fill('');
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('tester');
    await vi.waitFor(async () => expect(await rows(page).count()).toBe(2), PATIENCE_MS);
    await press(segment(page, 'Blocked'), screen);
    await vi.waitFor(async () => expect(await rows(page).count()).toBe(1), PATIENCE_MS);
    expect(page.url()).toContain('agent=tester');
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('');
    await press(segment(page, 'Open'), screen);
    await page.getByRole('combobox', { name: 'Folder' }).selectOption('/src/other');
    await vi.waitFor(async () => expect(await rows(page).count()).toBe(2), PATIENCE_MS);
    // The address keeps it.
    await page.reload();
    await vi.waitFor(async () => expect(await rows(page).count()).toBe(2), PATIENCE_MS);
  });

  test.each(ENDS)('on a %s a jump finds a thread that no list has shown yet', async (screen) => {
    const page = pages[screen];
    await page.goto(`${desk.hub.url}/now`);
    await page.locator('.line-sign.line-live').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /thread/ }).fill('very first');
    await press(page.getByRole('option', { name: /very first thread/ }), screen);
    await page.waitForURL('**/t/**');
    await page.getByRole('heading', { name: 'The Ärger with the very first thread' }).waitFor();
  });

  test('a request, a message that was found and what was used name a thread that no list has shown yet', async () => {
    await tester.post_message({ thread_id: first, schema_version: 1, body: 'A capybara was here.' });
    const { ask } = await tester.raise_ask({ thread_id: first, kind: 'question', prompt: 'Which one?' });
    await tester.report_usage({ model: 'm', input_tokens: 7, output_tokens: 7, thread_id: first });
    // Nor is it among what is unread.
    const person = desk.agent(PERSON, 'operator');
    const { last_seq } = await person.get_thread({ thread_id: first });
    await person.ack_read({ thread_id: first, last_read_seq: last_seq });
    // Other pages need not draw each of what follows.
    for (const size of ENDS) await pages[size].goto('about:blank');
    // What was said last makes a thread the newest: others come after it.
    for (let at = 0; at < 60; at += 10)
      await Promise.all(
        Array.from({ length: 10 }, (_, k) =>
          mapper.create_thread({ title: `Later ${at + k}`, participants: [PERSON] }),
        ),
      );
    const title = 'The Ärger with the very first thread';
    const page = pages.phone;
    await page.goto(`${desk.hub.url}/now`);
    await page.locator(`[data-ask="${ask.ask_id}"]`).getByRole('link', { name: title }).waitFor();
    await page.goto(`${desk.hub.url}/usage?f=thread`);
    await page.locator('.usage-bars li', { hasText: title }).waitFor();
    await page.goto(`${desk.hub.url}/search?q=capybara`);
    await page.locator('.row', { hasText: `in ${title}` }).waitFor();
    await tester.withdraw_ask({ ask_id: ask.ask_id });
  });

  test('what is narrowed to stays true while things happen', async () => {
    const page = pages.desktop;
    await page.goto(`${desk.hub.url}/threads?agent=tester`);
    await vi.waitFor(async () => expect(await rows(page).count()).toBe(2), PATIENCE_MS);
    const { thread_id } = await tester.create_thread({ title: 'Just begun', participants: [PERSON] });
    await vi.waitFor(async () => {
      expect(await rows(page).count()).toBe(3);
      expect(await segment(page, 'Open').innerText()).toMatch(/3$/);
    }, PATIENCE_MS);
    await tester.update_thread_status({ thread_id, status: 'resolved', reason: 'done' });
    await vi.waitFor(async () => {
      expect(await rows(page).count()).toBe(2);
      expect(await segment(page, 'Open').innerText()).toMatch(/2$/);
      expect(await segment(page, 'Done').innerText()).toMatch(/1$/);
    }, PATIENCE_MS);
  });
});
