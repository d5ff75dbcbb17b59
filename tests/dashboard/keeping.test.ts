import { randomUUID } from 'node:crypto';

import type { Client } from '@parley/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { newPage } from '../knowledge/envelope-client.ts';
import { describeWith } from '../tools/describe-with.ts';
import { deadLetter } from './dead-letter.ts';
import { allowForBrowsers, type Desk, openDesk, PATIENCE_MS, PERSON } from './desk.ts';

allowForBrowsers();

describeWith(['chromium'], 'what a person keeps in order from the dashboard', () => {
  let desk: Desk;
  let page: Page;
  let person: Client;
  beforeAll(async () => {
    desk = await openDesk();
    person = desk.agent(PERSON, 'operator');
    page = await desk.signedIn('tablet', { reducedMotion: 'reduce' });
  });
  afterAll(async () => {
    await desk.close();
  });

  /** A thread of an agent with a person. */
  async function scene(name: string): Promise<{ agent: Client; thread_id: string }> {
    const agent = desk.agent(name);
    await agent.register_agent({ name });
    await agent.heartbeat_session({ runtime: 'codex_cli', status: 'idle' });
    const { thread_id } = await agent.create_thread({ title: `Work of ${name}`, participants: [PERSON] });
    return { agent, thread_id };
  }

  test('the buttons of the system page stand where they stay, however late its parts are answered', async () => {
    const late = {
      hub: 0,
      slo: 800,
      list_devices: 400,
      list_passkeys: 700,
      list_approval_rules: 600,
      channels: 200,
    };
    for (const [name, ms] of Object.entries(late))
      await page.route(`**/v1/${name}`, (route) => setTimeout(() => void route.continue(), ms));
    await page.goto(`${desk.hub.url}/system`);
    const place = (name: string) => page.getByRole('button', { name, exact: true }).boundingBox();
    const shown = page.getByRole('button', { name: 'Add', exact: true });
    await shown.waitFor();
    const first = [await place('Sign one in'), await place('Add')];
    await page.getByText('Error budget left').waitFor();
    await page.waitForTimeout(1_000);
    expect([await place('Sign one in'), await place('Add')]).toEqual(first);
    await page.unrouteAll({ behavior: 'wait' });
  });

  test('[KNOW-3] dead letters say why; one is tried again and done, one given up again, one is past its time', async () => {
    const parent = newPage();
    const expired = await deadLetter(desk, randomUUID(), { ttl_sec: 1 });
    const saved = await deadLetter(desk, parent.document_id);
    const hopeless = await deadLetter(desk, randomUUID());
    const { document_id, ...rest } = parent as { document_id: string };
    await person.create_document({ document_id, ...rest } as never);
    const { delivery } = await person.get_delivery({ delivery_id: expired });
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(delivery.expires_at)), PATIENCE_MS);
    await page.goto(`${desk.hub.url}/log`);
    await page.getByRole('button', { name: 'Dead letters' }).tap();
    const row = (id: string) => page.locator('.letter', { hasText: id });
    await row(saved).getByText('NOT_FOUND').waitFor();
    await row(saved)
      .getByRole('button', { name: /^Try again:/ })
      .tap();
    await row(saved).getByText('Carried out.').waitFor();
    await page.getByRole('button', { name: 'Try all shown again' }).tap();
    await row(expired).getByText('It has expired').waitFor();
    await row(hopeless).getByText('given up again: NOT_FOUND').waitFor();
    expect((await person.get_delivery({ delivery_id: saved })).delivery).toMatchObject({
      status: 'done',
      redrives: 1,
    });
    expect((await person.get_delivery({ delivery_id: expired })).delivery.status).toBe('dead');
  });

  test('the error budget and the present of the hub are figures that can be read', async () => {
    await page.goto(`${desk.hub.url}/system`);
    await page
      .locator('.facts', { hasText: 'Search index' })
      .getByText(/Up to date|behind/)
      .waitFor();
    const figure = (name: string) => page.locator('.figure', { hasText: name });
    await figure('Error budget left').getByRole('meter').waitFor();
    await figure('Dead letters, 24 h').getByText('Show dead letters').waitFor();
    await figure('Answered, p95').getByText('promised 1,000 ms').waitFor();
    await figure('Entries per second').locator('polyline').waitFor({ state: 'attached' });
    await vi.waitFor(async () => {
      const drawn = await figure('Event loop at work').locator('polyline').getAttribute('points');
      expect(drawn?.split(' ').length).toBeGreaterThan(1);
    }, PATIENCE_MS);
  });

  test('the log and the state of the hub are shown while something happens all the time', async () => {
    const { agent, thread_id } = await scene('chatterbox');
    await page.goto(`${desk.hub.url}/log`);
    const over = new AbortController();
    // A single message would be pushed off the page before anybody could see it.
    let word = 'no';
    const chatter = (async () => {
      for (let i = 0; !over.signal.aborted; i++)
        await agent.post_message({ thread_id, schema_version: 1, body: `${i}: the ${word} word among many` });
    })();
    try {
      for (word of ['first', 'second']) {
        await page.getByText(`the ${word} word among many`).first().waitFor({ timeout: PATIENCE_MS });
      }
      await page.goto(`${desk.hub.url}/system`);
      await page
        .locator('.facts', { hasText: 'Search index' })
        .getByText(/Up to date|behind/)
        .waitFor();
    } finally {
      over.abort();
      await chatter;
    }
  });

  test('a settled thread becomes a document under the chosen parent', async () => {
    const parent = newPage() as { document_id: string; metadata: { title: string } };
    parent.metadata.title = 'What we learned';
    await person.create_document(parent as never);
    const { agent, thread_id } = await scene('learner');
    await agent.post_message({ thread_id, schema_version: 1, body: 'The cache was stale.' });
    await person.update_thread_status({ thread_id, status: 'resolved', reason: 'settled' });
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    await page.getByRole('button', { name: 'More about this thread' }).tap();
    await page.getByRole('button', { name: /^Make a document/ }).tap();
    await page.locator('.picker').getByText('What we learned').tap();
    await page.getByRole('button', { name: 'Make the document' }).tap();
    await page.waitForURL(/\/know\/[0-9a-f-]{36}$/);
    await page.getByText('The cache was stale.').first().waitFor();
    const document_id = new URL(page.url()).pathname.slice('/know/'.length);
    const { document } = await person.get_document({ document_id });
    expect(document.parent_id).toBe(parent.document_id);
  });

  test('an agent is muted for a quarter of an hour, and the thread says until when', async () => {
    const { thread_id } = await scene('loud');
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    await page.getByRole('button', { name: /participants: show them/ }).tap();
    const sheet = page.getByRole('dialog');
    await sheet.getByRole('button', { name: 'Mute loud' }).tap();
    await sheet.getByRole('button', { name: '15 min' }).tap();
    await sheet.getByText(/muted until \d\d:\d\d/).waitFor();
    const { muted, muted_until, updated_at } = await person.get_thread({ thread_id });
    expect(muted).toEqual(['loud']);
    expect(Date.parse(muted_until?.['loud'] ?? '') - Date.parse(updated_at)).toBe(900_000);
  });

  test('[HUB-W4] an agent is left alone, and a person who insists holds the button and says why', async () => {
    const { agent, thread_id } = await scene('sleeper');
    await agent.heartbeat_session({ runtime: 'codex_cli', status: 'offline' });
    await person.post_message({ thread_id, schema_version: 1, body: 'Are you there?' });
    await page.goto(`${desk.hub.url}/agents/sleeper`);
    await page.getByRole('button', { name: 'Leave alone' }).tap();
    await page.getByRole('button', { name: /^For an hour/ }).tap();
    await page.getByRole('button', { name: 'Undo it for sleeper' }).waitFor();
    const quiet = async () => (await person.list_quiet({})).quiet;
    expect(await quiet()).toMatchObject([{ agent_id: 'sleeper', by: PERSON }]);

    await page.getByText('Try anyway').tap();
    await page.getByRole('button', { name: 'Force' }).tap();
    const held = page.getByRole('button', { name: 'Hold for a second to wake it' });
    expect(await held.isDisabled()).toBe(true);
    await page.getByLabel('Why').fill('the site is down');
    // A tap is not enough.
    await held.tap();
    expect(await page.getByRole('dialog').isVisible()).toBe(true);
    await held.focus();
    await page.keyboard.down('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.up('Enter');
    await vi.waitFor(async () => {
      const { entries } = await person.read_log({ limit: 200 });
      const reported = JSON.stringify(entries);
      expect(reported).toContain('the site is down');
      expect(reported).toContain(`"operator":"${PERSON}"`);
    }, PATIENCE_MS);
    await page.getByRole('button', { name: 'Undo it for sleeper' }).tap();
    await page.getByText('No. A message that calls it wakes it.').waitFor();
    expect(await quiet()).toEqual([]);
  });
});
