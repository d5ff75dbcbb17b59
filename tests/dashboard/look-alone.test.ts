import { afterAll, beforeAll, expect, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, type Desk, openDesk, PERSON } from './desk.ts';
import { DEVICES, examine, type Show, screenOf, seatOf, sitAt } from './shoot.ts';
import { visit } from './visit.ts';

allowForBrowsers();

const at =
  (path: string, words: string | RegExp): Show =>
  async (page, url) => {
    await visit(page, url + path);
    await page.getByText(words).first().waitFor();
  };

/** What a hub shows on which nothing has happened yet. */
const EMPTY: Record<string, Show> = {
  'empty, now': at('/now', 'Connect an agent'),
  'empty, threads': at('/threads', 'No thread is open.'),
  'empty, agents': at('/agents', 'No agent is connected yet.'),
  'empty, timeline': at('/timeline', /Nothing was recorded/),
  'empty, usage': at('/usage', /No usage was reported/),
  'empty, knowledge': at('/know', /Nothing is written down yet/),
  'empty, search': at('/search', /./),
  'empty, log': at('/log', /./),
  'empty, dead letters': at('/log?f=dead', /./),
  'empty, system': at('/system', 'Accepts writes'),
};

describeWith(['chromium'], 'the look of a hub without anything', () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await openDesk();
  });
  afterAll(() => desk.close().catch(() => {}));

  test('its pages, the way in, a device that may only look, and a hub that is away', async () => {
    const { url } = desk.hub;
    for (const device of DEVICES) {
      const stranger = await (await desk.context(screenOf(device), seatOf(device))).newPage();
      await examine(stranger, url, device, {
        'sign in': at('', 'Sign in to Parley'),
        'sign in refused': async (page) => {
          await page.getByLabel('Code').fill('ABCD-EFGH');
          await page.getByRole('button', { name: 'Sign in' }).click();
          await page.getByRole('alert').waitFor();
        },
      });
      const { key } = await desk.agent(PERSON, 'operator').pair_device({ read_only: true });
      await examine(stranger, url, device, {
        'may only look': async (page) => {
          await page.goto('about:blank');
          await page.goto(`${url}/#k=${key}`);
          await page.getByText('Connect an agent').waitFor();
        },
      });
      await stranger.context().close();
    }
    const sitting = await Promise.all(
      DEVICES.map(async (device) => ({ device, page: await sitAt(desk, device) })),
    );
    for (const { device, page } of sitting) await examine(page, url, device, EMPTY);
    const calm = desk.agent('planner');
    await calm.register_agent({ name: 'planner' });
    await calm.heartbeat_session({ runtime: 'codex_cli', status: 'idle' });
    await calm.create_thread({ title: 'Hello', participants: [PERSON] });
    for (const { device, page } of sitting)
      await examine(page, url, device, { 'now on a calm day': at('/now', 'Say hello') });
    await desk.hub.kill();
    for (const { device, page } of sitting) {
      await examine(page, url, device, {
        'no connection': async () => page.getByText('No connection to the hub.').waitFor(),
      });
      expect(await page.title()).toContain('Parley');
    }
  });
});
