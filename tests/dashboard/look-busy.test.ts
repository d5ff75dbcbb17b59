import { afterAll, beforeAll, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { type BusyDesk, openBusyDesk } from './busy-scene.ts';
import { allowForBrowsers } from './desk.ts';
import { DEVICES, examine, type Show, sitAt } from './shoot.ts';
import { visit } from './visit.ts';

allowForBrowsers();

/** Pages that need no more than to be opened, with what must be there then. */
const at =
  (path: string, sign: string): Show =>
  async (page, url) => {
    await visit(page, url + path);
    await page.locator(sign).first().waitFor();
  };

const pressed =
  (before: Show, name: string | RegExp, sign: string): Show =>
  async (page, url) => {
    await before(page, url);
    await page.getByRole('button', { name }).first().click();
    await page.locator(sign).first().waitFor();
  };

const scrolledTo =
  (before: Show, heading: string | RegExp): Show =>
  async (page, url) => {
    await before(page, url);
    const title = page.getByRole('heading', { name: heading });
    await title.waitFor();
    await title.scrollIntoViewIfNeeded();
  };

const system: Show = async (page, url) => {
  await visit(page, `${url}/system`);
  await page.getByText('Accepts writes').waitFor();
};

const agent = (name: string): Show => at(`/agents/${name}`, 'section:has-text("Journal")');

/** The document that is changed while somebody writes. */
const openEditor: Show = async (page, url) => {
  await visit(page, `${url}/know`);
  await page.getByRole('button', { name: 'What is below Runbooks' }).click();
  await page.getByRole('link', { name: 'Agent is stuck' }).click();
  await page.getByRole('link', { name: 'Edit' }).click();
  await page.getByRole('textbox', { name: /^Text/ }).waitFor();
};

function viewsOf(desk: BusyDesk): Record<string, Show> {
  const { asks, written, paused } = desk;
  const now = at('/now', '.ask');
  const ask = (id: string): Show => at(`/asks/${id}`, '.ask');
  const thread = (id: string, seq = ''): Show => at(`/t/${id}${seq}`, '.message');
  return {
    'now with many': now,
    'several together': pressed(now, /^Answer \d+ together/, 'dialog[open]'),
    'a request of high risk': ask(asks.high),
    'more ways for high risk': pressed(ask(asks.high), 'More ways to answer', 'dialog[open]'),
    'a request of low risk': ask(asks.low),
    'more ways for low risk': pressed(ask(asks.low), 'More ways to answer', 'dialog[open]'),
    'a form': pressed(ask(asks.form), 'Fill in', 'dialog[open] form'),
    'a choice': ask(asks.choice),
    'a request that was approved': at(`/asks/${asks.answered}`, '.verdict'),
    'a request that was denied': at(`/asks/${asks.denied}`, '.verdict'),
    'no such request': at('/asks/ask_of_nobody', '.empty'),
    'threads unread': at('/threads?f=unread', '.thread-row'),
    'threads of one agent': at('/threads?agent=atreides', '.thread-row'),
    'no thread of that kind': at('/threads?q=zebra', '.empty'),
    'a thread looked into': async (page, url) => {
      await visit(page, `${url}/threads`);
      await page.locator('.page .thread-row').first().focus();
      await page.keyboard.press('Space');
      await page.locator('.peek li').first().waitFor();
    },
    'all that is written, top': thread(written, '/1'),
    'all that is written, change': async (page, url) => {
      await thread(written, '/2')(page, url);
      await page.locator('.change-line-new').first().waitFor();
    },
    'all that is written, picture': async (page, url) => {
      await thread(written, '/3')(page, url);
      await page.locator('.message img').first().waitFor();
    },
    'all that is written, long': thread(written, '/4'),
    'all that is written, end': thread(written),
    'the requests of a thread': async (page, url) => {
      await thread(written)(page, url);
      await page.locator('.ask-strip').click();
      await page.locator('dialog[open] .ask').first().waitFor();
    },
    'a paused thread': thread(paused),
    'what to do with a thread': pressed(thread(paused), 'More about this thread', 'dialog[open]'),
    'agents at work': at('/agents', '.card'),
    'agents that fail': at('/agents?f=error', '.card'),
    'an agent that failed': agent('sisyphus'),
    'an agent that was woken': scrolledTo(agent('docs-bot'), 'Last wake'),
    'a message to an agent': pressed(agent('sisyphus'), 'Message', 'dialog[open]'),
    timeline: at('/timeline', '.timeline-track'),
    'timeline of a week': at('/timeline?f=7d', '.timeline-track'),
    'timeline as tables': pressed(at('/timeline', '.timeline-track'), 'Table', 'table'),
    'a stretch': pressed(at('/timeline', '.timeline-track'), /^executioner/, 'dialog[open]'),
    usage: at('/usage', '.usage-bar'),
    'usage as a table': pressed(at('/usage', '.usage-bar'), 'Table', 'table'),
    'usage by model': at('/usage?f=model', '.usage-bar'),
    'a new document': at('/know/new', 'textarea'),
    'a preview': async (page, url) => {
      await visit(page, `${url}/know/new`);
      await page.getByLabel('Title', { exact: true }).fill('Release 2.4');
      await page
        .getByLabel(/^Text, in Markdown/)
        .fill('## Steps\n\n1. migrate\n2. tag\n\n```sh\ngit tag 2.4\n```');
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByRole('region', { name: 'Preview of Release 2.4' }).waitFor();
    },
    'a conflict': async (page, url) => {
      await openEditor(page, url);
      const text = page.getByRole('textbox', { name: /^Text/ });
      const id = /know\/([^/]+)\/edit/.exec(page.url())?.[1] ?? '';
      await text.fill(`${await text.inputValue()}\n5. Tell whoever asked for it.`);
      const planner = desk.agent('planner', 'orchestrator');
      const { document } = await planner.get_document({ document_id: id });
      await planner.update_document({
        document_id: id,
        patch: { content: { body: `${document.content.body}\n5. Write it into the thread.` } },
        update_mask: ['content.body'],
      });
      await page.locator('.conflict').waitFor();
    },
    'deleted documents, none': at('/know/deleted', '.empty'),
    'nothing found': at('/search?q=zebra', '.empty'),
    'search before a word': at('/search', 'input'),
    'the palette with words': async (page, url) => {
      await now(page, url);
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('rev');
      await page
        .getByRole('option', { name: /reviewer/ })
        .first()
        .waitFor();
    },
    'the keys': async (page, url) => {
      await now(page, url);
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
    },
    'what failed': at('/log?f=failed', '.log-row, .empty'),
    'what was asked': at('/log?f=asks', '.log-row, .empty'),
    'system, service levels': scrolledTo(system, /Service levels/i),
    'system, devices': scrolledTo(system, /^Devices/),
    'system, keys': scrolledTo(system, /^Keys/),
    'the documentation': at('/docs', 'main'),
    'a page of the documentation': at('/docs/asks', 'main'),
  };
}

describeWith(['chromium'], 'the look of a busy day', () => {
  let desk: BusyDesk;
  beforeAll(async () => {
    desk = await openBusyDesk();
  });
  afterAll(async () => {
    await desk.close();
  });

  test.each(DEVICES)(
    'on a device for %s: nothing that axe finds, no sideways scrolling, all targets large enough',
    async (device) => {
      await examine(await sitAt(desk, device), desk.hub.url, device, viewsOf(desk));
    },
  );
});
