import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { allowForBrowsers, type Desk, openDesk, PATIENCE_MS, PERSON, press, SIZES } from './desk.ts';

allowForBrowsers();

describe('writing, jumping and signing in', () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await openDesk();
  });
  afterAll(() => desk.close());

  const thread = async (title: string): Promise<string> => {
    const input = { title, participants: ['builder', 'bulldozer', PERSON] };
    return (await desk.agent('builder').create_thread(input)).thread_id;
  };
  const bodies = async (thread_id: string): Promise<string[]> =>
    (await desk.agent('builder').read_messages({ thread_id })).messages.map(({ body }) => body);

  test.each(SIZES)(
    'on a %s Enter sends, Shift+Enter begins a line, a name may stand anywhere',
    async (screen) => {
      const thread_id = await thread(`Writing on a ${screen}`);
      const page = await desk.signedIn(screen);
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
    const page = await desk.signedIn('desktop');
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
    const page = await desk.signedIn('desktop');
    for (let i = 0; i < 10; i++) {
      await page.goto(`${desk.hub.url}/agents`);
      await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
      // A page that has much else to do.
      await page.evaluate(
        'setInterval(() => { for (const at = performance.now(); performance.now() - at < 45;); }, 50)',
      );
      await page.keyboard.press('?');
      await page.getByRole('heading', { name: 'Keys' }).waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('/');
      await page.waitForURL('**/search', { timeout: PATIENCE_MS / 4 });
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
    const page = await desk.signedIn('desktop');
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
    const page = await desk.signedIn('tablet');
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
});
