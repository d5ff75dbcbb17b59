import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { openReceiver, type Receiver } from '../notify/receiver.ts';
import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, type Desk, openBrowser, openDesk, PATIENCE_MS, PERSON } from './desk.ts';

allowForBrowsers();

describeWith(['chromium'], 'notifications in the dashboard', () => {
  let desk: Desk;
  let receiver: Receiver;
  let page: Page;
  beforeAll(async () => {
    receiver = await openReceiver();
    // The lean one has no push, and shows no notifications.
    await openBrowser('whole');
    desk = await openDesk({
      settings: { 'notify.allowed_hosts': JSON.stringify([receiver.host]), 'notify.grace_ms': 0 },
    });
    page = await desk.signedIn('phone', { permissions: ['notifications'], serviceWorkers: 'allow' });
  });
  afterAll(async () => {
    await desk.close();
    await receiver.close();
  });

  /** What stands above grows while its lists arrive: a tap that went beside it is made again, as a person would. */
  async function openSheet(): Promise<void> {
    const sheet = page.getByRole('dialog');
    await vi.waitFor(async () => {
      if (!(await sheet.isVisible())) await page.getByRole('button', { name: 'Add', exact: true }).tap();
      await sheet.waitFor({ timeout: 2_000 });
    }, PATIENCE_MS);
  }

  test('a channel is added, tried, changed and removed on a phone', async () => {
    await page.goto(`${desk.hub.url}/system`);
    await openSheet();
    await page.getByLabel('Address of the topic').fill(`${receiver.url}/my-topic`);
    await page.getByLabel('Name', { exact: true }).fill('My phone');
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).tap();
    const row = page.locator('.row', { hasText: 'My phone' });
    await row.getByRole('button', { name: 'Test' }).tap();
    await page.getByText('Sent to My phone.').waitFor();
    expect(receiver.received[0]?.body.toString()).toContain('my-topic');
    expect(await page.content()).not.toContain('my-topic');
    await row.getByRole('button', { name: 'Settings of My phone' }).tap();
    await page.getByLabel('Resolved threads').check();
    await page.getByLabel(/^Quiet hours/).check();
    await page.getByRole('button', { name: 'Save' }).tap();
    await row.getByText('quiet 22:00–07:00').waitFor();
    const { channels } = await desk.agent(PERSON, 'operator').list_channels({});
    expect(channels).toMatchObject([
      {
        wants: ['ask', 'trouble', 'mention', 'finished'],
        quiet: { from: '22:00', time_zone: expect.any(String) },
      },
    ]);
    receiver.answer(403);
    await row.getByRole('button', { name: 'Test' }).tap();
    await page.getByText('My phone: it answered 403').waitFor();
    await row.getByRole('button', { name: 'Settings of My phone' }).tap();
    await page.getByRole('button', { name: 'Remove' }).tap();
    await row.waitFor({ state: 'detached' });
  });

  test('the secret of a webhook is shown once', async () => {
    await page.goto(`${desk.hub.url}/system`);
    await openSheet();
    await page.getByRole('button', { name: 'Webhook' }).tap();
    await page.getByLabel('Address').fill(`${receiver.url}/hook`);
    await page.getByRole('dialog').getByRole('button', { name: 'Add' }).tap();
    const secret = await page.locator('.sheet .code-line code').innerText();
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    await page.keyboard.press('Escape');
    await page.locator('.row', { hasText: 'webhook at' }).waitFor();
    expect(await page.content()).not.toContain(secret);
  });

  test('a push is shown by the worker with its text and tag, and a newer one takes its place', async () => {
    await page.goto(`${desk.hub.url}/now`);
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)');
    // No push service can be reached from here: the browser is handed the message as if one had brought it.
    const session = await page.context().newCDPSession(page);
    const registration = new Promise<string>((resolve) => {
      session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        const found = registrations.find(({ scopeURL }) => scopeURL.startsWith(desk.hub.url));
        if (found !== undefined) resolve(found.registrationId);
      });
    });
    await session.send('ServiceWorker.enable');
    const registrationId = await registration;
    const push = (title: string) =>
      session.send('ServiceWorker.deliverPushMessage', {
        origin: desk.hub.url,
        registrationId,
        data: JSON.stringify({
          web_push: 8030,
          notification: {
            title,
            body: 'git push --force',
            tag: 'ask_1',
            navigate: `${desk.hub.url}/agents`,
            data: { path: '/agents' },
          },
          app_badge: 2,
        }),
      });
    const shown = () =>
      page.evaluate<string[][]>(
        `navigator.serviceWorker.ready.then((one) => one.getNotifications()).then((all) => all.map(({ title, body, tag, data }) => [title, body, tag, data.path]))`,
      );
    // A worker that is just starting may miss one: a push service would bring it again.
    const until = (title: string) =>
      vi.waitFor(
        async () => {
          await push(title);
          expect((await shown())[0]?.[0]).toBe(title);
        },
        { timeout: PATIENCE_MS, interval: 500 },
      );
    await until('builder · ~/src/app');
    expect(await shown()).toEqual([['builder · ~/src/app', 'git push --force', 'ask_1', '/agents']]);
    await until('Approved by kim');
    expect(await shown()).toHaveLength(1);
  });

  test('a browser whose push service does not answer says so, and nothing is kept', async () => {
    await page.goto(`${desk.hub.url}/system`);
    const row = page.locator('.row', { hasText: 'Push to this device' });
    await row.getByRole('button', { name: 'Turn on' }).tap();
    await page.locator('.toast').waitFor();
    const { channels } = await desk.agent(PERSON, 'operator').list_channels({});
    expect(channels.filter(({ kind }) => kind === 'push')).toEqual([]);
  });
});
