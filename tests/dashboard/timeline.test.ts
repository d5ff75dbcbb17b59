import { randomUUID } from 'node:crypto';

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { type PastState, writePast } from '../harness/past-states.ts';
import { freshFolder } from '../harness/start-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { deadLetter } from './dead-letter.ts';
import { allowForBrowsers, type Desk, openDesk, press, type Screen } from './desk.ts';
import { DEVICES, examine, hold, screenOf, type Show, sitAt } from './shoot.ts';
import { visit } from './visit.ts';

allowForBrowsers();

const LIMIT = {
  waits_for: { what: 'rate_limit', until: new Date(Date.now() - 3_600_000).toISOString() },
} as const;
const asked = (id: string) => ({ waits_for: { what: 'answer', ask_id: `ask_${id}` } }) as const;

const turns = (count: number): PastState[] =>
  Array.from({ length: count }, (_, i): PastState => [i % 2 === 0 ? 'working' : 'idle', 11 + ((i * 7) % 23)]);
const PAST: Record<string, readonly PastState[]> = {
  'reviewer-1': [
    ['idle', 300, 'nothing to do'],
    ['working', 240, 'reviews the profile mapper'],
    ['needs_you', 90, 'asks to run: git push --force', asked('01')],
    ['working', 180, 'reviews the profile mapper'],
    ['idle', 400, 'nothing to do'],
    ['working', 130, 'codex session is active'],
  ],
  'reviewer-2': [...turns(60)],
  builder: [
    ['offline', 200, 'process gone'],
    ['working', 300, 'builds the release'],
    ['error', 160, 'the tests of the store fail: 3 of 412', { thread_id: 'th_1' }],
    ['working', 220, 'builds the release'],
    ['stuck', 120, 'rate-limited until later', LIMIT],
    ['working', 200, 'builds the release'],
  ],
  'docs-bot': [
    ['working', 500, 'writes the index'],
    ['stuck', 75, 'silent for 75 min in the middle of work'],
    ['offline', 865, 'silent; no connection and no heartbeat'],
  ],
  executioner: [
    ['idle', 900, 'nothing to do'],
    ['needs_you', 540, 'asks to run: npm run migrate', asked('02')],
  ],
  gone: [['offline', 1_440, 'process gone']],
};

describeWith(['chromium'], 'the timeline', () => {
  let desk: Desk;
  beforeAll(async () => {
    const data = freshFolder();
    await writePast(data, 'w1', PAST);
    desk = await openDesk({
      data,
      settings: { 'sessions.offline_after_ms': 3_600_000, 'sessions.stuck_after_ms': 3_600_000 },
    });
    for (const name of Object.keys(PAST).filter((one) => one !== 'gone'))
      await desk
        .agent(name)
        .heartbeat_session({ runtime: 'codex', status: name === 'docs-bot' ? 'offline' : 'active' });
    await desk.agent('gone').heartbeat_session({ runtime: 'codex', status: 'offline' });
    const builder = desk.agent('builder');
    const { thread_id } = await builder.create_thread({ title: 'Profile mapper review loop' });
    const tokens = (input: number, cached: number, output: number) => ({
      input_tokens: input,
      cached_input_tokens: cached,
      output_tokens: output,
      reasoning_tokens: Math.floor(output / 3),
    });
    await builder.report_usage({
      model: 'claude-x',
      ...tokens(900_000, 700_000, 60_000),
      cost_usd: 1.84,
      thread_id,
    });
    await builder.report_usage({ model: 'claude-x', ...tokens(200_000, 90_000, 30_000), cost_usd: 0.61 });
    await desk.agent('reviewer-1').report_usage({ model: 'gpt-5.5', ...tokens(640_000, 320_000, 41_000) });
    await desk.agent('reviewer-2').report_usage({ model: 'other', ...tokens(120_000, 0, 9_000) });
    await desk.agent('docs-bot').report_usage({ cost_usd: 0.042 });
    await deadLetter(desk, randomUUID());
  });
  afterAll(async () => {
    await desk.close();
  });

  const pages: Partial<Record<Screen, Promise<Page>>> = {};
  /** A page as people have it, under its own policy; a tablet serves for a phone. */
  async function pageAt(seat: 'tablet' | 'phone' | 'desktop'): Promise<Page> {
    const screen = seat === 'desktop' ? 'desktop' : 'tablet';
    const page = await (pages[screen] ??= desk.signedIn(screen));
    await hold(page, seat, 'light');
    return page;
  }

  async function open(page: Page, how = ''): Promise<void> {
    await visit(page, `${desk.hub.url}/timeline${how}`);
    await page.locator('.timeline-track').first().waitFor();
  }

  test.each(DEVICES)(
    'on a device for %s: the picture, a stretch and the tables are whole, and axe finds nothing',
    async (device) => {
      const page = await sitAt(desk, device);
      const { url } = desk.hub;
      const screen = screenOf(device);
      const at =
        (how: string): Show =>
        async () => {
          await visit(page, `${url}/timeline${how}`);
          await page.locator('.timeline-track').first().waitFor();
        };
      await examine(page, url, device, {
        'timeline 24h': at(''),
        'timeline 1h': at('?f=1h'),
        'timeline 7d': at('?f=7d'),
        'a stretch': async () => {
          await open(page);
          await press(page.getByRole('button', { name: /^executioner/ }), screen);
          await page.getByRole('dialog').waitFor();
        },
        'timeline table': async () => {
          await page.keyboard.press('Escape');
          await press(page.getByRole('button', { name: 'Table' }), screen);
          await page.getByRole('table').first().waitFor();
        },
        usage: async () => {
          await visit(page, `${url}/usage`);
          await page.locator('.usage-bar').first().waitFor();
        },
        'usage table': async () => {
          await press(page.getByRole('button', { name: 'Table' }), screen);
          await page.getByRole('table').waitFor();
        },
        'service levels': async () => {
          await visit(page, `${url}/system`);
          const tell = page.getByRole('button', { name: 'Show as a table' });
          await tell.scrollIntoViewIfNeeded();
          await press(tell, screen);
          await page.getByRole('table').waitFor();
        },
      });
    },
  );

  test('a tap on a stretch tells why it was so, what was waited for, and leads there', async () => {
    const page = await pageAt('tablet');
    await open(page);
    const track = page.getByRole('button', { name: /^executioner: needs you 9 h/ });
    const box = await track.boundingBox();
    // Nine of 24 hours before now it began to ask.
    await track.tap({ position: { x: (box?.width ?? 0) * 0.8, y: 20 } });
    const sheet = page.getByRole('dialog');
    await expect.poll(() => sheet.innerText()).toContain('asks to run: npm run migrate');
    expect(await sheet.innerText()).toMatch(/Waited for\s+an answer/);
    expect(await sheet.getByRole('link', { name: 'The request' }).getAttribute('href')).toBe('/asks/ask_02');
    await sheet.getByRole('button', { name: 'Before' }).tap();
    await expect.poll(() => sheet.innerText()).toContain('nothing to do');
    expect(await sheet.getByRole('button', { name: 'Before' }).isDisabled()).toBe(true);
  });

  test('the table tells the same to those who do not see the picture, and keys lead to it', async () => {
    const page = await pageAt('desktop');
    await open(page);
    await page.getByRole('button', { name: 'Table' }).focus();
    await page.keyboard.press('Enter');
    const [sums, all] = [page.getByRole('table').first(), page.getByRole('table').nth(1)];
    await sums.waitFor();
    const row = (name: string) => sums.getByRole('row', { name: new RegExp(`^${name} `) }).innerText();
    expect(await row('builder')).toMatch(/2 h\t2 h 40 min\t12 h/);
    expect(await all.innerText()).toContain('the tests of the store fail: 3 of 412');
    expect(await all.innerText()).toContain('its rate limit, until');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement?.getAttribute("role")')).toBe('region');
  });

  test('usage tells who said what it cost, and what nobody said, in the picture and in the table', async () => {
    const page = await pageAt('tablet');
    await visit(page, `${desk.hub.url}/usage`);
    const line = (name: string) => page.locator('.usage-bars li', { hasText: name }).innerText();
    await page.locator('.usage-bars li').first().waitFor();
    expect(await line('builder')).toContain('1.1m in (790k cached), 90k out · $2.45 reported');
    expect(await line('reviewer-2')).toContain('120k in (0 cached), 9k out · cost not reported');
    expect(await line('docs-bot')).toContain('tokens not reported · $0.042 reported');
    await page.getByRole('button', { name: 'Threads' }).tap();
    await expect.poll(() => line('Profile mapper')).toContain('$1.84 reported');
    await page.getByRole('button', { name: 'Table' }).tap();
    const all = page.getByRole('row', { name: /^All / });
    expect(await all.innerText()).toMatch(/All\t5\t1,860,000\t1,110,000\t140,000\t/);
  });

  test('service levels begin with their history, as lines and as a table', async () => {
    const page = await pageAt('desktop');
    await visit(page, `${desk.hub.url}/system`);
    await page.getByText('Envelopes an hour').waitFor();
    await page.getByRole('button', { name: 'Show as a table' }).click();
    const rows = page.getByRole('table', { name: /Service levels/ }).getByRole('row');
    expect(await rows.nth(1).innerText()).toMatch(/\d\d:00\t\d+\t\d+\t\d+ ms\t1$/);
  });

  test('what an agent does now appears while somebody looks', async () => {
    const page = await pageAt('phone');
    await visit(page, `${desk.hub.url}/timeline?f=1h`);
    await page.locator('.timeline-track').first().waitFor();
    await desk
      .agent('newcomer')
      .update_agent_status({ status: 'busy', metadata: { currentTask: 'the new one' } });
    const track = page.getByRole('button', { name: /^newcomer: working/ });
    await track.waitFor();
    await track.tap();
    await expect.poll(() => page.getByRole('dialog').innerText()).toContain('the new one');
  });
});
