import { createClient } from '@parley/client';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, type Desk, openDesk, PERSON, press, SIZES } from './desk.ts';

allowForBrowsers();

describeWith(['chromium'], 'the first minute at the desk', () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await openDesk();
  });
  afterAll(() => desk.close());

  test.each(SIZES)('on a %s: three steps turn green by themselves, and are put away', async (screen) => {
    // Nobody has been in a workspace of its own.
    const workspace = `first-${screen}`;
    const client = (agent: string, role: string) =>
      createClient({
        url: desk.hub.url,
        token: desk.signer.token({ agent, workspace, role, session: `${agent}-${screen}` }),
      });
    const context = await desk.context(screen);
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const { key } = await client(PERSON, 'operator').pair_device();
    await page.goto(`${desk.hub.url}/#k=${key}`);
    const step = (title: string) => page.locator('.step', { hasText: title });
    await page.getByText('Three steps').waitFor();
    expect(await page.locator('.step-done').count()).toBe(0);
    expect(await page.locator('.code-line code').innerText()).toMatch(
      new RegExp(`parley\\b.* init claude --workspace ${workspace}$`),
    );
    expect(await step('Say hello').getByRole('button').isDisabled()).toBe(true);

    const agent = client('claude', 'worker');
    await agent.register_agent({ name: 'claude' });
    await page.locator('.step-done', { hasText: 'claude is here.' }).waitFor();

    await press(page.getByRole('button', { name: 'Start a thread with claude' }), screen);
    await page.locator('.message', { hasText: 'Hello @claude' }).waitFor();
    const [thread] = (await agent.list_threads({})).threads;
    expect(thread?.title).toBe('Hello');
    await page.goBack();
    await page.locator('.step-done', { hasText: 'Say hello' }).waitFor();

    await press(page.getByRole('button', { name: 'Show the code' }), screen);
    const code = page.locator('.pair-code', { hasText: /^[A-Z0-9]{4}-[A-Z0-9]{4}$/ });
    await code.waitFor();
    // Where the address is of this machine alone, the way to others is served by the hub itself.
    const way = page.getByRole('dialog').getByRole('link', { name: 'another machine' });
    expect(await way.getAttribute('href')).toBe('/docs/remote');
    const further = await desk.context('tablet');
    onTestFinished(() => further.close());
    const other = await further.newPage();
    await other.goto(desk.hub.url);
    await other.getByLabel('Code').fill(await code.innerText());
    await other.getByRole('button', { name: 'Sign in' }).tap();
    await page.locator('.step-done', { hasText: 'is signed in.' }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await press(page.getByRole('button', { name: 'Done' }), screen);
    await page.locator('.steps').waitFor({ state: 'detached' });
    await page.reload();
    await page.locator('.line-sign.line-live').waitFor();
    expect(await page.locator('.steps').count()).toBe(0);
  });
});
