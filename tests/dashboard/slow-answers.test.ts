import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { allowForBrowsers, type Desk, openDesk, PERSON } from './desk.ts';

allowForBrowsers();

describe('a desk whose answers come late', () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await openDesk();
  });
  afterAll(() => desk.close());

  test('[BRIDGE-14] that a message called nobody is said also where the stream tells of it before its answer comes', async () => {
    const builder = desk.agent('builder');
    const participants = ['reviewer', PERSON];
    const { thread_id } = await builder.create_thread({ title: 'Late answers', participants });
    const page = await desk.signedIn('desktop');
    await page.addInitScript(`
      const ask = window.fetch;
      window.held = new Promise((resolve) => (window.release = resolve));
      window.fetch = async (...asked) => {
        const answer = await ask(...asked);
        if (String(asked[0]).endsWith('/v1/post_message')) await window.held;
        return answer;
      };`);
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('What do you all think?');
    await page.keyboard.press('Enter');
    const own = page.locator('.entry[data-seq="1"]', { hasText: 'What do you all think?' });
    await own.waitFor();
    await page.evaluate('window.release()');
    await own.getByText('Nobody was called. Write @ and a name to call somebody.').waitFor();
    expect(await page.locator('.message', { hasText: 'What do you all think?' }).count()).toBe(1);
  });

  test('a page that the screen does not draw is brought up to date all the same', async () => {
    const builder = desk.agent('builder');
    const { thread_id } = await builder.create_thread({ title: 'No pictures', participants: [PERSON] });
    const page = await desk.signedIn('desktop');
    await page.addInitScript('window.requestAnimationFrame = () => 0');
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    // The first may come with a page that is fetched, the others come on the stream.
    for (const body of ['are you there?', 'really there?', 'still there?']) {
      await builder.post_message({ thread_id, schema_version: 1, body });
      await page.locator('.message', { hasText: body }).waitFor();
    }
  });

  test('why an answer did not arrive stays in sight when the list of requests comes in after it', async () => {
    const { ask } = await desk
      .agent('builder')
      .raise_ask({ kind: 'approval', prompt: 'May I?', command: 'npm test', cwd: '~/src/app' });
    const page = await desk.signedIn('desktop');
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/v1/list_asks', async (route) => {
      await held;
      await route.continue();
    });
    await page.route('**/v1/answer_ask', (route) => route.abort());
    await page.goto(`${desk.hub.url}/asks/${ask.ask_id}`);
    await page.locator('.ask').getByRole('button', { name: 'Approve' }).click();
    const failed = page.locator('.ask').getByText('Nothing was decided.');
    await failed.waitFor();
    const listed = page.waitForResponse('**/v1/list_asks');
    release();
    await (await listed).finished();
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 300))');
    expect(await failed.isVisible()).toBe(true);
  });

  test('a thread that is none of the newest stays open when the lists come in after it', async () => {
    const builder = desk.agent('builder');
    const { thread_id } = await builder.create_thread({ title: 'An old one', participants: [] });
    await builder.post_message({ thread_id, schema_version: 1, body: 'still here' });
    for (let at = 0; at < 51; at++) {
      const newer = await builder.create_thread({ title: `Newer ${at}`, participants: [] });
      await builder.post_message({ thread_id: newer.thread_id, schema_version: 1, body: 'unread' });
    }
    const page = await desk.signedIn('desktop');
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/v1/list_threads', async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    await page.getByText('still here').first().waitFor();
    release();
    await page.getByText('Newer 50').first().waitFor();
    expect(await page.locator('.message', { hasText: 'still here' }).count()).toBe(1);
  });
});
