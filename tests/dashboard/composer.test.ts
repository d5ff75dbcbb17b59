import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';

import { allowForBrowsers, type Desk, openDesk, PATIENCE_MS, PERSON, press } from './desk.ts';
import { ENDS, openPages } from './open-pages.ts';

allowForBrowsers();

describe('writing, calling, jumping and signing in, also where answers come late', () => {
  let desk: Desk;
  let pages: Record<(typeof ENDS)[number], Page>;
  beforeAll(async () => {
    desk = await openDesk();
    pages = await openPages(desk, ENDS);
  });
  afterAll(() => desk.close());

  const thread = async (title: string): Promise<string> => {
    const input = { title, participants: ['builder', 'bulldozer', PERSON] };
    return (await desk.agent('builder').create_thread(input)).thread_id;
  };
  /** Another tab of the desktop, which ends with its test. */
  async function tab(): Promise<Page> {
    const page = await pages.desktop.context().newPage();
    onTestFinished(() => page.close());
    return page;
  }
  const bodies = async (thread_id: string): Promise<string[]> =>
    (await desk.agent('builder').read_messages({ thread_id })).messages.map(({ body }) => body);

  test.each(ENDS)(
    'on a %s Enter sends, Shift+Enter begins a line, a name may stand anywhere',
    async (screen) => {
      const thread_id = await thread(`Writing on a ${screen}`);
      const page = pages[screen];
      await page.goto(`${desk.hub.url}/t/${thread_id}`);
      const field = page.getByRole('textbox', { name: 'Message' });
      await field.focus();
      await page.keyboard.type('first line');
      await page.keyboard.press('Shift+Enter');
      await page.keyboard.type('ask @bul');
      await press(page.getByRole('option', { name: 'bulldozer' }), screen);
      await vi.waitFor(
        async () => expect(await field.inputValue()).toBe('first line\nask @bulldozer '),
        PATIENCE_MS,
      );
      await page.keyboard.type('about it');
      expect(await bodies(thread_id)).toEqual([]);
      await page.keyboard.press('Enter');
      await vi.waitFor(
        async () => expect(await bodies(thread_id)).toEqual(['first line\nask @bulldozer about it']),
        PATIENCE_MS,
      );
      expect(await field.inputValue()).toBe('');
    },
  );

  test('who types on at once after a name keeps the order of the letters', async () => {
    const thread_id = await thread('Writing quickly');
    const page = await tab();
    // A screen that draws seldom.
    await page.addInitScript('window.requestAnimationFrame = (draw) => setTimeout(draw, 1_000)');
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.focus();
    await page.keyboard.type('ask @bul');
    await page.getByRole('option', { name: 'bulldozer' }).click();
    await page.keyboard.type('about it', { delay: 150 });
    await vi.waitFor(
      async () => expect(await field.inputValue()).toBe('ask @bulldozer about it'),
      PATIENCE_MS,
    );
  });

  test('a key that comes right after Escape is heard', async () => {
    const page = await tab();
    // The sheet moves away, as it does for most people.
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await page.goto(`${desk.hub.url}/agents`);
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
    // A page that has much else to do.
    await page.evaluate(
      'setInterval(() => { for (const at = performance.now(); performance.now() - at < 45;); }, 50)',
    );
    for (let i = 0; i < 4; i++) {
      await page.keyboard.press('?');
      await page.getByRole('heading', { name: 'Keys' }).waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('/');
      await page.waitForURL('**/search', { timeout: PATIENCE_MS / 4 });
      await page.goBack();
      await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
    }
  });

  test('the palette does what can be done here, and finds documents', async () => {
    const thread_id = await thread('To be settled');
    await desk.agent(PERSON, 'operator').create_document({
      document_id: '5b0c8a52-9f6e-4a55-b7a2-1d1f0c7b8a99',
      parent_id: 'root',
      metadata: { title: 'Zebra crossing' },
      content: { mime_type: 'text/markdown', body: 'stripes' },
    });
    // The index follows the log.
    await vi.waitFor(async () => {
      const { context } = await desk.agent(PERSON, 'operator').query_knowledge({ query: 'Zebra' });
      expect(context).not.toEqual([]);
    }, PATIENCE_MS);
    const page = pages.desktop;
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    const palette = page.getByRole('dialog').getByRole('combobox');
    await page.keyboard.press('Control+k');
    await palette.fill('Resolve');
    await page
      .getByRole('option', { name: /Resolve/ })
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
    await vi.waitFor(async () => {
      const found = await desk.agent('builder').get_thread({ thread_id });
      expect(found.status).toBe('resolved');
    }, PATIENCE_MS);
    await page.keyboard.press('Control+k');
    await palette.fill('Zebra');
    await page.getByRole('option', { name: /Zebra crossing/ }).click();
    await page.waitForURL('**/know/5b0c8a52-9f6e-4a55-b7a2-1d1f0c7b8a99');
  });

  test('the palette has room for a document and an action where many agents and threads have the word', async () => {
    const word = 'quokka';
    for (let at = 0; at < 7; at++) {
      await desk.agent(`${word}-${at}`).register_agent({ name: `${word}-${at}` });
      await desk
        .agent(`${word}-${at}`)
        .create_thread({ title: `The ${word} of thread ${at}`, participants: [PERSON] });
    }
    await desk.agent(PERSON, 'operator').create_document({
      document_id: '5b0c8a52-9f6e-4a55-b7a2-1d1f0c7b8a98',
      parent_id: 'root',
      metadata: { title: 'Feeding' },
      content: { mime_type: 'text/markdown', body: `What a ${word} eats.` },
    });
    const page = pages.desktop;
    await page.goto(`${desk.hub.url}/agents`);
    await page.locator('.card', { hasText: `${word}-6` }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill(word);
    const option = (name: RegExp) => page.getByRole('option', { name });
    await option(/Feeding/).waitFor();
    await option(/Prod quokka/)
      .first()
      .waitFor();
    await option(/The quokka of thread/)
      .first()
      .waitFor();
    expect(await option(/^.*quokka-\d\s*agent$/).count()).toBeGreaterThan(1);
  });

  test('a link that is pasted into an open sign-in tab signs it in', async () => {
    const page = await (await desk.context('tablet')).newPage();
    await page.goto(desk.hub.url);
    const field = page.getByLabel('Code');
    await field.waitFor();
    const link = await desk.link();
    await page.evaluate(`{
      const data = new DataTransfer();
      data.setData('text', ${JSON.stringify(link)});
      document
        .querySelector('.code-field')
        .dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    }`);
    await page.locator('.line-sign.line-live').waitFor();
  });

  test.each(ENDS)(
    '[BRIDGE-14] on a %s a message says who was not called and why, in its place and in its sheet',
    async (screen) => {
      const [writer, reader] = [`writer-${screen}`, `reader-${screen}`];
      const agent = desk.agent(writer);
      const { thread_id } = await agent.create_thread({ title: 'Mapper', participants: [reader, PERSON] });
      const post = (body: string, more = {}) =>
        agent.post_message({ thread_id, schema_version: 1, body, ...more });
      await post(`@${reader} please look`);
      await post('And you too', { to: reader });
      const page = pages[screen];
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

  test('[BRIDGE-14] that a message called nobody is said also where the stream tells of it before its answer comes', async () => {
    const builder = desk.agent('builder');
    const participants = ['reviewer', PERSON];
    const { thread_id } = await builder.create_thread({ title: 'Late answers', participants });
    const page = await tab();
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
    const page = await tab();
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
    const page = await tab();
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
    // Other pages need not draw each of what follows.
    for (const size of ENDS) await pages[size].goto('about:blank');
    const begin = async (at: number): Promise<void> => {
      const newer = await builder.create_thread({ title: `Newer ${at}`, participants: [] });
      await builder.post_message({ thread_id: newer.thread_id, schema_version: 1, body: 'unread' });
    };
    for (let at = 0; at < 50; at += 10)
      await Promise.all(Array.from({ length: 10 }, (_, k) => begin(at + k)));
    await begin(50);
    const page = await tab();
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
