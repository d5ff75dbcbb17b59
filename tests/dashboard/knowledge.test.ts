import { randomUUID } from 'node:crypto';

import type { Client } from '@parley/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import {
  allowForBrowsers,
  type Desk,
  openDesk,
  PATIENCE_MS,
  PERSON,
  press,
  type Screen,
  SCREENS,
} from './desk.ts';
import { ENDS, openPages } from './open-pages.ts';
import { hostileWords } from './hostile-words.ts';

allowForBrowsers();

describeWith(['chromium'], 'flow 9: knowledge in a real browser', () => {
  let desk: Desk;
  let editor: Client;
  let pages: Record<Screen, Page>;
  beforeAll(async () => {
    desk = await openDesk();
    editor = desk.agent('editor', 'orchestrator');
    await editor.register_agent({ name: 'editor' });
    pages = await openPages(desk);
  });
  afterAll(async () => {
    await desk.close();
  });

  /** A document made for one test. */
  async function write(title: string, body: string, parent_id = 'root'): Promise<string> {
    const document_id = randomUUID();
    await editor.create_document({
      document_id,
      parent_id,
      content: { mime_type: 'text/markdown', body },
      metadata: { title },
    });
    return document_id;
  }

  const update = (document_id: string, body: string) =>
    editor.update_document({ document_id, patch: { content: { body } }, update_mask: ['content.body'] });

  const bodyOf = async (document_id: string) =>
    (await editor.get_document({ document_id })).document.content.body;

  const open = async (page: Page, path: string): Promise<void> => {
    await page.goto(`${desk.hub.url}${path}`);
    // On a phone the tree is there, and hidden, beside a document.
    await page.locator('.doc:visible, .tree-row:visible').first().waitFor();
  };

  test('a document is written, changed, moved, deleted and restored from a tablet', async () => {
    const page = pages.tablet;
    await open(page, '/know');
    await page.getByRole('link', { name: 'New document' }).tap();
    await page.getByLabel('Title', { exact: true }).fill('Release');
    await page.getByLabel(/^Tags/).fill('runbook, release');
    await page.getByLabel(/^Text/).fill('Tag it. Push it.');
    await page.getByRole('button', { name: 'Save' }).tap();
    await page.getByRole('heading', { name: 'Release', level: 1 }).waitFor();
    const id = /\/know\/([\w-]+)/.exec(page.url())?.[1] ?? '';
    expect((await editor.get_document({ document_id: id })).document).toMatchObject({
      created_by: PERSON,
      metadata: { title: 'Release', tags: ['runbook', 'release'] },
    });
    await page.getByRole('link', { name: 'Edit' }).tap();
    await page.getByLabel(/^Text/).fill('Tag it. Push it. Tell them.');
    await page.reload();
    expect(await page.getByLabel(/^Text/).inputValue()).toBe('Tag it. Push it. Tell them.');
    await page.getByRole('button', { name: 'Save' }).tap();
    await page.getByText('revision 2').first().waitFor();
    const parent = await write('Runbooks', '');
    const menu = page.getByRole('button', { name: 'More about this document' });
    await menu.tap();
    await page.getByRole('button', { name: /^Move/ }).tap();
    await page.locator('.picker').getByRole('button', { name: 'Runbooks', exact: true }).tap();
    await page.getByRole('button', { name: 'Move it here' }).tap();
    await page.locator('.crumbs').getByRole('link', { name: 'Runbooks' }).waitFor();
    expect((await editor.list_documents({ parent_id: parent })).documents).toMatchObject([
      { document_id: id },
    ]);
    await menu.tap();
    await page.getByRole('button', { name: /^Delete\b/ }).tap();
    await page.getByLabel('Why, for the record').fill('out of date');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).tap();
    const row = page.locator('.row', { hasText: 'Release' });
    await row.getByText('out of date').waitFor();
    await row.getByRole('button', { name: 'Restore' }).tap();
    await page.getByRole('heading', { name: 'Release', level: 1 }).waitFor();
    expect(await bodyOf(id)).toBe('Tag it. Push it. Tell them.');
  });

  test('somebody was faster: both texts are shown, nothing is lost, and what does not touch is brought together', async () => {
    const page = pages.desktop;
    const id = await write('Shared', 'first\n\nmiddle\n\nlast');
    await open(page, `/know/${id}/edit`);
    const text = page.getByLabel(/^Text/);
    await text.fill('first\n\nmiddle\n\nlast, by me');
    await page.route('**/v1/update_document', async (route) => {
      await update(id, 'first, by them\n\nmiddle\n\nlast');
      await route.continue();
    });
    await page.getByRole('button', { name: 'Save' }).click();
    const conflict = page.locator('.conflict');
    await conflict.getByText('editor was faster').waitFor();
    await page.unroute('**/v1/update_document');
    expect(await conflict.locator('.sides > div').nth(0).innerText()).toContain('last, by me');
    expect(await conflict.locator('.sides > div').nth(1).innerText()).toContain('first, by them');
    await page.reload();
    expect(await text.inputValue()).toBe('first\n\nmiddle\n\nlast, by me');
    await page.getByRole('button', { name: 'Save' }).click();
    await conflict.getByRole('button', { name: 'Bring both together' }).click();
    await conflict.waitFor({ state: 'detached' });
    expect(await bodyOf(id)).toBe('first, by them\n\nmiddle\n\nlast');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('revision 3').first().waitFor();
    expect(await bodyOf(id)).toBe('first, by them\n\nmiddle\n\nlast, by me');
  });

  test.each(ENDS)(
    'on a %s: where both changed the same line a person decides, and is told while he still types',
    async (screen) => {
      const page = pages[screen];
      const id = await write(`Contested ${screen}`, 'the number is 1');
      await open(page, `/know/${id}/edit`);
      await page.getByLabel(/^Text/).fill('the number is 2');
      await update(id, 'the number is 3');
      const conflict = page.locator('.conflict');
      await conflict.getByText('editor was faster').waitFor();
      expect(await conflict.getByRole('button', { name: 'Bring both together' }).count()).toBe(0);
      await press(conflict.getByRole('button', { name: 'Go on with mine' }), screen);
      await press(page.getByRole('button', { name: 'Save' }), screen);
      await page.getByText('revision 3').first().waitFor();
      expect(await bodyOf(id)).toBe('the number is 2');
    },
  );

  test('the history shows what changed, and an older revision comes back as a new one', async () => {
    const page = pages.tablet;
    const id = await write('Chronicle', 'one\ntwo words\nthree');
    await update(id, 'one\ntwo other words\nthree');
    await open(page, `/know/${id}`);
    await page.getByRole('link', { name: 'revision 2' }).tap();
    await page.locator('.diff ins', { hasText: 'other' }).waitFor();
    const first = page.locator('.revision', { hasText: 'wrote it' });
    await first.locator('summary').tap();
    await first.getByRole('button', { name: 'Bring this one back' }).tap();
    await page.getByText('revision 3').first().waitFor();
    expect(await bodyOf(id)).toBe('one\ntwo words\nthree');
  });

  test.each(ENDS)(
    'on a %s: search leads to the passage itself, from the documents and from the search over everything',
    async (screen) => {
      const page = pages[screen];
      const bird = { tablet: 'kingfisher', phone: 'nightjar', desktop: 'wagtail' }[screen];
      const filler = Array.from({ length: 60 }, (_, i) => `Paragraph ${i} speaks of something else.`).join(
        '\n\n',
      );
      const title = `About the ${bird}`;
      await write(title, `${filler}\n\n## Nests\n\nThe ${bird} nests in a burrow.\n\n## Others\n\n${filler}`);
      await open(page, '/know');
      await page.getByRole('searchbox').fill(`where does the ${bird} nest`);
      await page.locator('.answer', { hasText: bird }).waitFor();
      await press(page.locator('a.row', { hasText: `${bird} nests` }).first(), screen);
      const found = page.locator('.block-found', { hasText: bird });
      await found.waitFor();
      await vi.waitFor(async () => expect((await found.boundingBox())?.y).toBeGreaterThan(0), PATIENCE_MS);
      expect((await found.boundingBox())?.y).toBeLessThan(SCREENS[screen].viewport.height);
      await page.goto(`${desk.hub.url}/search?q=${bird}`);
      await press(page.locator('a.row', { hasText: title }).filter({ hasText: 'burrow' }).first(), screen);
      await found.waitFor();
    },
  );

  test('[C-LOCAL-08] words of a document can do nothing, and a hostile one does not hold up the page', async () => {
    const page = pages.desktop;
    // Nothing listens there, and nothing is asked of it.
    const canary = 'http://127.0.0.1:9';
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    const words = [...hostileWords(canary), `[[<img src="${canary}/x">]]`, 'The end.'];
    const short = words.filter((text) => text.length < 1_000);
    for (const [title, texts] of Object.entries({
      Hostile: short,
      Long: words.filter((text) => text.length >= 1_000),
    })) {
      const id = await write(
        title,
        `${texts.join('\n\n# Part\n\n').slice(0, 120_000)}\n\n# Last\n\nThe end of it.`,
      );
      await open(page, `/know/${id}`);
      await page.getByText('The end of it.').waitFor();
      expect(
        await page.locator('.doc-body :is(img, script, svg, form, iframe, object, style, base)').count(),
      ).toBe(0);
      expect(await page.evaluate('window.hit')).toBeUndefined();
    }
    expect(asked.filter((url) => url.startsWith(canary))).toEqual([]);
  });

  test('a device that may only look can read all and change nothing', async () => {
    const id = await write('Look only', 'Read me.');
    const { code } = await desk.agent(PERSON, 'operator').pair_device({ read_only: true });
    const page = await (await desk.context('tablet')).newPage();
    await page.goto(`${desk.hub.url}/know/${id}`);
    await page.getByLabel('Code').fill(code);
    await page.getByRole('button', { name: 'Sign in' }).tap();
    await page.getByText('Read me.').waitFor();
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0);
    await page.getByRole('button', { name: 'More about this document' }).tap();
    // Only when the menu is there does it tell anything that it has no such entry.
    await page.getByRole('button', { name: /^History/ }).waitFor();
    expect(await page.getByRole('button', { name: /^Delete\b/ }).count()).toBe(0);
  });
});
