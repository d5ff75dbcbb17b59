import { randomUUID } from 'node:crypto';

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { answerFlows } from './answer-flows-contract.ts';
import { allowForBrowsers, type Desk, openDesk, type Screen } from './desk.ts';
import { misfits } from './misfits.ts';
import { card, scene } from './scene.ts';
import { steerFlows } from './steer-flows-contract.ts';
import { threadFlows } from './thread-flows-contract.ts';
import { visit } from './visit.ts';
import { type Engine, openWebKitGtk, openWpe, type Size } from './webkit/engines.ts';
import { createWebKitView, type WebKitView } from './webkit/webkit-view.ts';

allowForBrowsers();

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  // Somebody must be there, or the page shows the first steps.
  await scene(desk, 'host');
});
afterAll(async () => {
  await desk.close();
});

/** All pages in one browser at each of the sizes, and all flows at the first. */
function tenFlows(name: string, open: () => Promise<Engine>, sizes: Partial<Record<Screen, Size>>): void {
  let engine: Engine;
  let page: WebKitView;
  beforeAll(async () => {
    engine = await open();
    page = createWebKitView(engine.session);
    await page.goto(await desk.link());
    await page.locator('.line-sign.line-live').waitFor();
  });
  afterEach(async () => {
    expect(await page.troubles()).toEqual([]);
  });
  // The other browser would draw all that happens in this one.
  afterAll(() => page.goto('about:blank'));
  const seats = (Object.entries(sizes) as [Screen, Size][]).map(([screen, size]) => ({
    on: `${screen} of ${size.width} by ${size.height}`,
    name: `${name}-${screen}`,
    screen,
    device: /^linux-safari-[0-9a-f]{8}$/,
    page: async () => {
      await engine.resize(size);
      return page;
    },
  }));
  const first = seats.slice(0, 1);
  answerFlows(() => desk, first);
  steerFlows(() => desk, first);
  threadFlows(() => desk, first);

  test.each(seats.map((seat) => [seat.on, seat] as const))(
    'on a %s every page fits, a finger hits all that can be tapped, and sheets and fields look as they should',
    async (_, { page: sized, name: own, screen }) => {
      await sized();
      await shelve(`Shelf of ${own}`);
      const { agent, thread_id } = await scene(desk, `shown-${own}`);
      const { ask } = await agent.raise_ask({
        thread_id,
        kind: 'approval',
        prompt: 'May I?',
        command: 'make',
      });
      const found: Record<string, unknown> = {};
      for (const [path, sign] of [
        ['/now', '.ask'],
        ['/threads', '.thread-row'],
        [`/t/${thread_id}`, '.entry'],
        ['/agents', '.card'],
        [`/agents/shown-${own}`, 'h1'],
        ['/know', '.tree-toggle'],
        ['/search', 'input[type=search]'],
        ['/log', '.log-row'],
        ['/system', '.row'],
      ] as const) {
        await visit(page, `${desk.hub.url}${path}`);
        await page.locator(sign).first().waitFor();
        const faults = (await page.evaluate(misfits(screen))) as string[];
        if (faults.length > 0) found[path] = faults;
      }
      expect(found).toEqual({});
      await visit(page, `${desk.hub.url}/search`);
      await page.locator('input[type=search]').waitFor();
      // The field stands in a frame of ours; a second one of the browser's would lie inside it.
      expect(
        await page.evaluate(`getComputedStyle(document.querySelector('input[type=search]')).appearance`),
      ).toBe('none');
      await visit(page, `${desk.hub.url}/now`);
      await card(page, `shown-${own}`).getByRole('button', { name: 'More ways to answer' }).tap();
      await page.getByRole('dialog').waitFor();
      const veil = `getComputedStyle(document.querySelector('dialog[open]'), '::backdrop').backgroundColor`;
      expect(await page.evaluate(veil)).toMatch(/^rgba\(\d+, \d+, \d+, 0\.[3-6]\d*\)$/);
      await agent.withdraw_ask({ ask_id: ask.ask_id });
    },
  );
}

/** A document with another below it. */
async function shelve(title: string): Promise<void> {
  const editor = desk.agent('editor', 'orchestrator');
  const content = { mime_type: 'text/markdown', body: 'Short.' } as const;
  const top = randomUUID();
  await editor.create_document({ document_id: top, parent_id: 'root', content, metadata: { title } });
  await editor.create_document({
    document_id: randomUUID(),
    parent_id: top,
    content,
    metadata: { title: 'Below' },
  });
}

describeWith(['webkitgtk', 'xvfb'], 'the dashboard in WebKitGTK', () => {
  // WPE goes through the flows on a tablet.
  tenFlows('gtk', openWebKitGtk, {
    phone: { width: 390, height: 844 },
    tablet: { width: 820, height: 1180 },
  });
});

describeWith(['wpewebkit'], 'the dashboard in WPE WebKit 2.38', () => {
  tenFlows('wpe', openWpe, { tablet: { width: 800, height: 600 } });
});
