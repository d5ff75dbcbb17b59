import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { answerFlows } from './answer-flows-contract.ts';
import { allowForBrowsers, type Desk, openDesk, PATIENCE_MS, PERSON, type Screen, SIZES } from './desk.ts';
import { bodies, card, say, scene } from './scene.ts';
import { steerFlows } from './steer-flows-contract.ts';
import { threadFlows } from './thread-flows-contract.ts';
import { visit } from './visit.ts';

allowForBrowsers();

/** Two keys, and again where the machine took too long between them, as a person would. */
const goByKeys = (page: Page, key: string, path: string): Promise<void> =>
  vi.waitFor(
    async () => {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.waitForURL(`**${path}`, { timeout: 1_000 });
    },
    { timeout: PATIENCE_MS, interval: 1_000 },
  );

const BLANK = 'about:blank';

describeWith(['chromium'], 'the dashboard in a real browser', () => {
  let desk: Desk;
  const pages = {} as Record<Screen, Page>;
  beforeAll(async () => {
    desk = await openDesk();
    // Somebody must be there, or the page shows the first steps.
    await scene(desk, 'host');
    // As people have it, with the app's own worker between page and hub.
    for (const screen of SIZES) pages[screen] = await desk.signedIn(screen, { serviceWorkers: 'allow' });
  });
  afterAll(async () => {
    await desk.close();
  });

  /** The page of one size; the others show nothing meanwhile, or each would draw all that happens. */
  async function only(screen: Screen): Promise<Page> {
    for (const other of SIZES)
      if (other !== screen && pages[other].url() !== BLANK) await pages[other].goto(BLANK);
    return pages[screen];
  }

  const seats = SIZES.map((screen) => ({
    on: screen,
    name: screen,
    screen,
    device: /^linux-chrome-[0-9a-f]{8}$/,
    page: () => only(screen),
  }));
  for (const seat of seats) {
    answerFlows(() => desk, [seat]);
    steerFlows(() => desk, [seat]);
    threadFlows(() => desk, [seat]);
  }

  test('an ask that was answered elsewhere says so, and a second answer is not sent', async () => {
    const { agent } = await scene(desk, 'twice');
    await visit(pages.tablet, `${desk.hub.url}/now`);
    await visit(pages.phone, `${desk.hub.url}/now`);
    const { ask } = await agent.raise_ask({ kind: 'approval', prompt: 'May I?', command: 'make release' });
    const [here, there] = [card(pages.tablet, 'twice'), card(pages.phone, 'twice')];
    await Promise.all([here.waitFor(), there.waitFor()]);
    await desk
      .agent('lee', 'operator')
      .answer_ask({ ask_id: ask.ask_id, decision: 'denied', reason: 'not now' });
    for (const one of [here, there]) {
      await one.getByText('Denied by lee: not now').waitFor();
      expect(await one.getByRole('button', { name: 'Approve once' }).count()).toBe(0);
    }
  });

  test('the first verdict stands when two devices answer at the same moment', async () => {
    const page = await only('tablet');
    const { agent } = await scene(desk, 'race');
    await visit(page, `${desk.hub.url}/now`);
    const { ask } = await agent.raise_ask({ kind: 'approval', prompt: 'May I?', command: 'make race' });
    const one = card(page, 'race');
    await one.waitFor();
    // The stream is held up, so that this device does not know yet what the other has said.
    await page.route('**/v1/answer_ask', async (route) => {
      await desk.agent('lee', 'operator').answer_ask({ ask_id: ask.ask_id, decision: 'denied' });
      await route.continue();
    });
    await one.getByRole('button', { name: 'Approve once' }).tap();
    await one.getByText('Denied by lee').waitFor();
    await page.unroute('**/v1/answer_ask');
    expect((await agent.wait_for_ask({ ask_id: ask.ask_id, timeout_ms: 60_000 })).ask.verdict).toMatchObject({
      decision: 'denied',
      by: 'lee',
    });
  });

  test('a message that the hub refuses stays, with the reason, and goes when it is sent again', async () => {
    const page = await only('desktop');
    const { agent, thread_id } = await scene(desk, 'patient');
    await say(agent, thread_id, 'hello');
    await visit(page, `${desk.hub.url}/t/${thread_id}`);
    await page.locator('.message').first().waitFor();
    await page.route('**/v1/post_message', (route) => route.abort());
    await page.getByRole('textbox', { name: 'Message' }).fill('Over a broken line');
    await page.keyboard.press('Enter');
    await page.getByText('The hub does not answer.').waitFor();
    await page.unroute('**/v1/post_message');
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('The hub does not answer.').waitFor({ state: 'detached' });
    await vi.waitFor(
      async () =>
        expect((await bodies(agent, thread_id)).filter((body) => body === 'Over a broken line')).toHaveLength(
          1,
        ),
      PATIENCE_MS,
    );
  });

  test('a message that the hub took and whose answer was lost is there once when it is sent again', async () => {
    const page = await only('desktop');
    const { agent, thread_id } = await scene(desk, 'doubted');
    await say(agent, thread_id, 'hello');
    await visit(page, `${desk.hub.url}/t/${thread_id}`);
    await page.locator('.message').first().waitFor();
    const keys: string[] = [];
    await page.route('**/v1/post_message', async (route) => {
      keys.push((route.request().postDataJSON() as { idempotency_key: string }).idempotency_key);
      const taken = await route.fetch();
      expect(taken.status()).toBe(200);
      await (keys.length === 1 ? route.abort() : route.fulfill({ response: taken }));
    });
    await page.getByRole('textbox', { name: 'Message' }).fill('Perhaps you have it');
    await page.keyboard.press('Enter');
    await page.getByText('The hub does not answer.').waitFor();
    expect(await bodies(agent, thread_id)).toContain('Perhaps you have it');
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('The hub does not answer.').waitFor({ state: 'detached' });
    // The stream shows it before its own answer has come.
    await page.unrouteAll({ behavior: 'wait' });
    expect(keys).toHaveLength(2);
    const isIt = (body: string): boolean => body === 'Perhaps you have it';
    expect((await bodies(agent, thread_id)).filter(isIt)).toHaveLength(1);
    await vi.waitFor(
      async () => expect(await page.locator('.message', { hasText: 'Perhaps you have it' }).count()).toBe(1),
      PATIENCE_MS,
    );
  });

  test('a long thread opens at its end, jumps to any message, and holds few rows', async () => {
    const page = await only('phone');
    const { agent, thread_id } = await scene(desk, 'writer');
    for (let i = 1; i <= 240; i += 20)
      await Promise.all(Array.from({ length: 20 }, (_, k) => say(agent, thread_id, `Line ${i + k}`)));
    await agent.ack_read({ thread_id, last_read_seq: 240 });
    await desk.agent(PERSON, 'operator').ack_read({ thread_id, last_read_seq: 240 });
    await visit(page, `${desk.hub.url}/t/${thread_id}`);
    await page.locator('[data-seq="240"]').waitFor();
    expect(await page.locator('.entry').count()).toBeLessThan(60);
    await page.goto(`${desk.hub.url}/t/${thread_id}/123`);
    await page.locator('.entry-marked[data-seq="123"]').waitFor();
    await page.getByRole('button', { name: /more below/ }).tap();
    await page.locator('[data-seq="240"]').waitFor();
    await say(agent, thread_id, 'One more');
    await page.locator('.message', { hasText: 'One more' }).waitFor();
  });

  test('search finds what was said and leads to the very message', async () => {
    const page = await only('tablet');
    const { agent, thread_id } = await scene(desk, 'scribe');
    await say(agent, thread_id, 'The kingfisher migrates in October.');
    await visit(page, `${desk.hub.url}/search`);
    await vi.waitFor(async () => {
      await page.getByRole('searchbox').fill('');
      await page.getByRole('searchbox').fill('kingfisher');
      await page.locator('mark', { hasText: 'kingfisher' }).waitFor({ timeout: 1_000 });
    }, PATIENCE_MS);
    await page.locator('a.row', { hasText: 'kingfisher' }).tap();
    await page.locator('.entry-marked', { hasText: 'kingfisher' }).waitFor();
  });

  test('what became of a message is shown as evidence, not as a guess', async () => {
    const page = await only('desktop');
    const { agent, thread_id } = await scene(desk, 'reader');
    await desk
      .agent(PERSON, 'operator')
      .post_message({ thread_id, schema_version: 1, body: 'Did you see this?' });
    await agent.ack_read({ thread_id, last_read_seq: 1 });
    await visit(page, `${desk.hub.url}/t/${thread_id}`);
    await page.locator('.message', { hasText: 'Did you see this?' }).hover();
    await page.getByRole('button', { name: /Message 1 of kim/ }).click();
    await page.getByText('Durable as entry 1').waitFor();
    await page.getByText('Read by reader').waitFor();
  });

  test('[LIVE-4] the state of an agent changes on the page without a reload, and its place in the list stays', async () => {
    const page = await only('tablet');
    const { agent } = await scene(desk, 'aaron');
    await visit(page, `${desk.hub.url}/agents`);
    const one = page.locator('.card', { hasText: 'aaron' });
    await one.getByText('Idle').waitFor();
    const order = await page.locator('.card .row-title').allInnerTexts();
    await agent.update_agent_status({ status: 'busy', metadata: { currentTask: 'Counting sheep' } });
    await one.getByText('Working').waitFor();
    await one.getByText('Counting sheep').waitFor();
    expect(await page.locator('.card .row-title').allInnerTexts()).toEqual(order);
  });

  test('everything can be done by keys', async () => {
    const page = await only('desktop');
    const { agent } = await scene(desk, 'keyed');
    await visit(page, `${desk.hub.url}/system`);
    await page.getByRole('heading', { name: 'System' }).waitFor();
    await goByKeys(page, 'a', '/agents');
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
    const { ask } = await agent.raise_ask({ kind: 'approval', prompt: 'May I?', command: 'make keys' });
    await goByKeys(page, 'n', '/now');
    await card(page, 'keyed').waitFor();
    const focused = `document.activeElement?.getAttribute('data-ask') === '${ask.ask_id}'`;
    for (let i = 0; i < 20 && !(await page.evaluate<boolean>(focused)); i++) await page.keyboard.press('j');
    await page.keyboard.press('y');
    expect((await agent.wait_for_ask({ ask_id: ask.ask_id, timeout_ms: 60_000 })).ask.verdict).toMatchObject({
      decision: 'approved',
    });
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('keyed');
    await page.getByRole('option', { name: /keyed.*agent/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.getByRole('searchbox').waitFor();
  });

  test('threads are looked into, resolved and cleared of their side by keys', async () => {
    const page = await only('desktop');
    const { agent, thread_id, title } = await scene(desk, 'peeped');
    await say(agent, thread_id, 'A word to look at.');
    await visit(page, `${desk.hub.url}/now`);
    await page.locator('.thread-row', { hasText: title }).waitFor();
    await page.locator(`[data-thread="${thread_id}"]`).focus();
    await page.keyboard.press('Space');
    await page.getByRole('dialog').getByText('A word to look at.').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('u');
    await page.waitForURL('**/threads?f=unread');
    await visit(page, `${desk.hub.url}/t/${thread_id}`);
    await page.locator('.thread-side').waitFor();
    await page.locator('.message').first().waitFor();
    await page.keyboard.press('i');
    await page.locator('.thread-side').waitFor({ state: 'hidden' });
    await page.keyboard.press('i');
    await page.locator('.thread-side').waitFor();
    await page.locator('.thread-side .person-name', { hasText: 'peeped' }).focus();
    await page.keyboard.press('m');
    // Enter is for whoever has the focus, which a sheet takes once it is there.
    await page.locator('button:focus', { hasText: '15 min' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Let peeped speak again' }).waitFor();
    await page.keyboard.press('e');
    await vi.waitFor(
      async () => expect((await agent.get_thread({ thread_id })).status).toBe('resolved'),
      PATIENCE_MS,
    );
  });

  test('a device signs in by a code, is listed, and is sent away; its page shows the sign-in', async () => {
    const page = await only('desktop');
    await visit(page, `${desk.hub.url}/system`);
    await page.getByRole('button', { name: 'Sign one in' }).click();
    const code = page.locator('.pair-code', { hasText: /^[A-Z0-9]{4}-[A-Z0-9]{4}$/ });
    await code.waitFor();
    // No camera elsewhere finds this machine by its loopback address.
    await page.getByText('This address leads to this machine alone.').waitFor();
    expect(await page.getByRole('img', { name: /QR code/ }).count()).toBe(0);
    const other = await (
      await desk.context('tablet', {
        userAgent: 'Mozilla/5.0 (iPad; CPU OS 17_4) AppleWebKit/605 Version/17.4 Safari/604',
      })
    ).newPage();
    await other.goto(desk.hub.url);
    await other.getByLabel('Code').fill(await code.innerText());
    await other.getByRole('button', { name: 'Sign in' }).tap();
    await other.locator('.line-sign.line-live').waitFor();
    await page.keyboard.press('Escape');
    const row = page.locator('.row', { hasText: 'iPad · Safari' });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await other.getByRole('heading', { name: 'Sign in to Parley' }).waitFor();
    await row.waitFor({ state: 'detached' });
  });
});
