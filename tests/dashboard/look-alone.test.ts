import { expect, onTestFinished, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, openDesk, PERSON } from './desk.ts';
import { examine, LOOKS, seatOf, type Show, sitAt } from './shoot.ts';

allowForBrowsers();

const at =
  (path: string, words: string | RegExp): Show =>
  async (page, url) => {
    await page.goto(url + path);
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
  test.each(LOOKS)(
    'on a %s in %s: its pages, the way in, a device that may only look, and a hub that is away',
    async (seat, scheme) => {
      const desk = await openDesk();
      onTestFinished(() => desk.close().catch(() => {}));
      const { url } = desk.hub;
      const more = { bypassCSP: true, ...seatOf(seat, scheme) };
      const stranger = await (await desk.context(seat === 'phone' ? 'phone' : 'tablet', more)).newPage();
      await examine(stranger, url, seat, scheme, {
        'sign in': at('', 'Sign in to Parley'),
        'sign in refused': async (page) => {
          await page.getByLabel('Code').fill('ABCD-EFGH');
          await page.getByRole('button', { name: 'Sign in' }).click();
          await page.getByRole('alert').waitFor();
        },
      });
      const { key } = await desk.agent(PERSON, 'operator').pair_device({ read_only: true });
      await examine(stranger, url, seat, scheme, {
        'may only look': async (page) => {
          await page.goto('about:blank');
          await page.goto(`${url}/#k=${key}`);
          await page.getByText('Connect an agent').waitFor();
        },
      });
      const page = await sitAt(desk, seat, scheme, { bypassCSP: true });
      await examine(page, url, seat, scheme, EMPTY);
      const calm = desk.agent('planner');
      await calm.register_agent({ name: 'planner' });
      await calm.heartbeat_session({ runtime: 'codex_cli', status: 'idle' });
      await calm.create_thread({ title: 'Hello', participants: [PERSON] });
      await examine(page, url, seat, scheme, { 'now on a calm day': at('/now', 'Say hello') });
      await desk.hub.kill();
      await examine(page, url, seat, scheme, {
        'no connection': async () => page.getByText('No connection to the hub.').waitFor(),
      });
      expect(await page.title()).toContain('Parley');
    },
  );
});
