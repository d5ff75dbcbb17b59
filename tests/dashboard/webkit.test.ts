import { afterAll, afterEach, beforeAll, expect } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { answerFlows } from './answer-flows-contract.ts';
import { allowForBrowsers, type Desk, openDesk, type Screen } from './desk.ts';
import { scene } from './scene.ts';
import { steerFlows } from './steer-flows-contract.ts';
import { threadFlows } from './thread-flows-contract.ts';
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

/** All flows in one browser, at each of the sizes. */
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
  const seats = (Object.entries(sizes) as [Screen, Size][]).map(([screen, size]) => ({
    on: `${screen} of ${size.width} by ${size.height}`,
    name: `${name}-${screen}`,
    screen,
    device: /^linux-safari-[0-9a-f]{8}$/,
    async page() {
      await engine.resize(size);
      return page;
    },
  }));
  answerFlows(() => desk, seats);
  steerFlows(() => desk, seats);
  threadFlows(() => desk, seats);
}

describeWith(['webkitgtk', 'xvfb'], 'the dashboard in WebKitGTK', () => {
  tenFlows('gtk', openWebKitGtk, {
    tablet: { width: 820, height: 1180 },
    phone: { width: 390, height: 844 },
  });
});

describeWith(['wpewebkit'], 'the dashboard in WPE WebKit 2.38', () => {
  tenFlows('wpe', openWpe, { tablet: { width: 800, height: 600 } });
});
