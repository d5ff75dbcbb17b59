import { afterAll, beforeAll, expect, test } from 'vitest';

import { allowForBrowsers, type Desk, openDesk, PERSON, press, SIZES } from './desk.ts';

allowForBrowsers();

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.close());

test.each(SIZES)(
  '[BRIDGE-14] on a %s a message says who was not called and why, in its place and in its sheet',
  async (screen) => {
    const [writer, reader] = [`writer-${screen}`, `reader-${screen}`];
    const agent = desk.agent(writer);
    const { thread_id } = await agent.create_thread({ title: 'Mapper', participants: [reader, PERSON] });
    const post = (body: string, more = {}) =>
      agent.post_message({ thread_id, schema_version: 1, body, ...more });
    await post(`@${reader} please look`);
    await post('And you too', { to: reader });
    const page = await desk.signedIn(screen);
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    const first = page.locator('.message', { hasText: 'please look' });
    await first.getByText(`${reader} was not called: discussion among agents is off`).waitFor();
    expect(await page.locator('.call-line').count()).toBe(1);

    await page.getByRole('textbox', { name: 'Message' }).fill('What do you all think?');
    await press(page.getByRole('button', { name: 'Send' }), screen);
    const own = page.locator('.message', { hasText: 'What do you all think?' });
    await own.getByText('Nobody was called. Write @ and a name to call somebody.').waitFor();
    const wide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
    expect(wide).toBe(false);

    if (screen === 'desktop') await first.hover();
    await press(page.getByRole('button', { name: `Message 1 of ${writer}` }), screen);
    const sheet = page.getByRole('dialog');
    await sheet
      .getByText(
        `${reader} was not called: @${reader} by an agent calls only while discussion is on; address it with to`,
      )
      .waitFor();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    const second = page.locator('.message', { hasText: 'And you too' });
    if (screen === 'desktop') await second.hover();
    await press(page.getByRole('button', { name: `Message 2 of ${writer}` }), screen);
    await sheet.getByText(`Calls ${reader}`).waitFor();
    await sheet.getByText(`${reader} was not woken: nothing is set up that could wake it`).waitFor();
  },
);
