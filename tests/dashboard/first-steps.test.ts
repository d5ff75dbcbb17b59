import { expect, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, openDesk, press, SIZES } from './desk.ts';

allowForBrowsers();

describeWith(['chromium'], 'the first minute at the desk', () => {
  test.each(SIZES)('on a %s: three steps turn green by themselves, and are put away', async (screen) => {
    const desk = await openDesk();
    try {
      const page = await desk.signedIn(screen);
      const step = (title: string) => page.locator('.step', { hasText: title });
      await page.getByText('Three steps').waitFor();
      expect(await page.locator('.step-done').count()).toBe(0);
      expect(await page.locator('.code-line code').innerText()).toMatch(
        /parley\b.* init claude --workspace w1$/,
      );
      expect(await step('Say hello').getByRole('button').isDisabled()).toBe(true);

      const agent = desk.agent('claude');
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
      const other = await (await desk.context('tablet')).newPage();
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
    } finally {
      await desk.close();
    }
  });
});
