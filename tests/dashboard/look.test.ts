import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Client } from '@parley/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { DAY_AGENTS, type DayAgent, playDay } from '../../packages/hub/src/cli/run/demo/demo-day.ts';
import { describeWith } from '../tools/describe-with.ts';
import { deadLetter } from './dead-letter.ts';
import { allowForBrowsers, type Desk, openDesk, PERSON } from './desk.ts';
import { type Device, DEVICES, examine, hold, type Show, shoot, sitAt } from './shoot.ts';
import { visit } from './visit.ts';

allowForBrowsers();

const TITLE = 'Profile mapper review loop';
const SETTLED = 'Which store for the journal';

/** Where the pictures go: PICTURES=docs/pictures brings those of the documents up to date. */
const pictures = join(
  fileURLToPath(new URL('../..', import.meta.url)),
  process.env['PICTURES'] ?? '.cache/pictures',
);

/** Every page, and what can lie above it, with how to get there. */
const VIEWS: Record<string, Show> = {
  now: async (page, url) => {
    await visit(page, `${url}/now`);
    await page.locator('.ask').first().waitFor();
  },
  'all ways to answer': async (page, url) => {
    await visit(page, `${url}/now`);
    await page.getByRole('button', { name: 'More ways to answer' }).first().click();
    await page.getByRole('dialog').waitFor();
  },
  threads: async (page, url) => {
    await visit(page, `${url}/threads`);
    await page.locator('.thread-row').first().waitFor();
  },
  'a new thread': async (page, url) => {
    await visit(page, `${url}/threads`);
    await page.getByRole('button', { name: 'New thread' }).click();
    await page.getByRole('dialog').waitFor();
  },
  thread: async (page, url) => {
    await openThread(page, url);
  },
  'the side of a thread': async (page, url) => {
    await openThread(page, url);
    await page.getByRole('button', { name: /participants: show them/ }).click();
    await page.getByRole('dialog').waitFor();
  },
  'a message': async (page, url) => {
    await openThread(page, url);
    await page.locator('.message').last().hover();
    await page.locator('.message-more').last().click();
    await page.getByText('Durable as entry').waitFor();
  },
  'muting somebody': async (page, url) => {
    await openThread(page, url);
    await page.getByRole('button', { name: /participants: show them/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: /^Mute/ }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: '15 min' }).waitFor();
  },
  'making a document of a thread': async (page, url) => {
    await visit(page, `${url}/threads?f=resolved`);
    await page.locator('.page .thread-row', { hasText: SETTLED }).click();
    await page.getByRole('button', { name: 'More about this thread' }).click();
    await page.getByRole('button', { name: /^Make a document/ }).click();
    await page.locator('.picker .tree-row').first().waitFor();
  },
  'leaving an agent alone': async (page, url) => {
    await visit(page, `${url}/agents/executioner`);
    await page.getByRole('button', { name: 'Leave alone' }).click();
    await page.getByRole('dialog').waitFor();
  },
  'waking an agent by force': async (page, url) => {
    await visit(page, `${url}/agents/executioner`);
    await page.getByText('Try anyway').click();
    await page.getByRole('button', { name: 'Force' }).click();
    await page.getByRole('dialog').waitFor();
  },
  'an agent that is left alone': async (page, url) => {
    await visit(page, `${url}/agents/docs-bot`);
    await page.getByRole('button', { name: /^Undo it/ }).waitFor();
  },
  agents: async (page, url) => {
    await visit(page, `${url}/agents`);
    await page.locator('.card').first().waitFor();
  },
  agent: async (page, url) => {
    await visit(page, `${url}/agents/executioner`);
    await page.getByRole('heading', { name: 'Journal' }).waitFor();
  },
  knowledge: async (page, url) => {
    await visit(page, `${url}/know`);
    await page.locator('.tree-row').first().waitFor();
  },
  'a document': async (page, url) => {
    await openDocument(page, url);
  },
  'what to do with a document': async (page, url) => {
    await openDocument(page, url);
    await page.getByRole('button', { name: 'More about this document' }).click();
    await page.getByRole('dialog').waitFor();
  },
  'moving a document': async (page, url) => {
    await openDocument(page, url);
    await page.getByRole('button', { name: 'More about this document' }).click();
    await page.getByRole('button', { name: /^Move/ }).click();
    await page.locator('.picker .tree-row').first().waitFor();
  },
  'the history of a document': async (page, url) => {
    await openDocument(page, url);
    await page.getByRole('link', { name: /^revision/ }).click();
    await page.locator('.diff').first().waitFor();
  },
  'a changed document': async (page, url) => {
    await openDocument(page, url);
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByRole('textbox', { name: /^Text/ }).waitFor();
  },
  'asking the documents': async (page, url) => {
    await visit(page, `${url}/know?q=why+one+log`);
    await page.locator('.answer').waitFor();
  },
  'deleted documents': async (page, url) => {
    await visit(page, `${url}/know/deleted`);
    await page.getByText('Nothing was deleted').waitFor();
  },
  search: async (page, url) => {
    await visit(page, `${url}/search?q=fallback`);
    await page.locator('mark').first().waitFor();
  },
  log: async (page, url) => {
    await visit(page, `${url}/log`);
    await page.locator('.log-row').first().waitFor();
  },
  'dead letters': async (page, url) => {
    await visit(page, `${url}/log?f=dead`);
    await page.locator('.letter').first().waitFor();
  },
  system: async (page, url) => {
    await visit(page, `${url}/system`);
    await page.getByText('Accepts writes').waitFor();
    await page.getByRole('meter').waitFor();
  },
  'a new channel': async (page, url) => {
    await visit(page, `${url}/system`);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByLabel(/^Quiet hours/).check();
    await page.getByRole('dialog').waitFor();
  },
  'the settings of a channel': async (page, url) => {
    await visit(page, `${url}/system`);
    await page.getByRole('button', { name: 'Settings of My phone' }).click();
    await page.getByRole('dialog').waitFor();
  },
  'pairing a device': async (page, url) => {
    await visit(page, `${url}/system`);
    await page.getByRole('button', { name: 'Sign one in' }).click();
    await page.locator('.pair-code', { hasText: /^[A-Z0-9]{4}-/ }).waitFor();
  },
  'the palette': async (page, url) => {
    await visit(page, `${url}/now`);
    await page.locator('.ask').first().waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').waitFor();
  },
  'no such page': async (page, url) => {
    await visit(page, `${url}/agents/nobody-of-that-name`);
    await page.getByText('is known here').waitFor();
  },
};

async function openThread(page: Page, url: string): Promise<void> {
  await visit(page, `${url}/threads`);
  await page.locator('.page .thread-row', { hasText: TITLE }).click();
  await page.locator('.message').first().waitFor();
}

async function openDocument(page: Page, url: string): Promise<void> {
  await visit(page, `${url}/know`);
  await page.getByRole('button', { name: 'What is below Architecture' }).click();
  await page.getByRole('link', { name: 'Log and cursors' }).click();
  await page.locator('.doc-side a').first().waitFor();
}

describeWith(['chromium'], 'the look of the dashboard', () => {
  let desk: Desk;
  beforeAll(async () => {
    // Nobody beats after the day was played, and what they asked for must stand until the last picture.
    desk = await openDesk({ settings: { 'sessions.offline_after_ms': 3_600_000 } });
    const clients = Object.entries(DAY_AGENTS).map(([name, { role }]) => [name, desk.agent(name, role)]);
    await playDay(Object.fromEntries(clients) as Record<DayAgent, Client>, PERSON);
    await desk.agent(PERSON, 'operator').add_channel({
      name: 'My phone',
      kind: 'ntfy',
      target: { url: 'https://ntfy.example/topic' },
      quiet: { from: '22:00', to: '07:00', time_zone: 'Europe/Berlin' },
    });
    await desk
      .agent(PERSON, 'operator')
      .add_approval_rule({ of_agent: 'docs-bot', command: 'npm run docs*', cwd: '~/src/site' });
    const person = desk.agent(PERSON, 'operator');
    const { thread_id } = await person.create_thread({ title: SETTLED, participants: ['docs-bot'] });
    await person.update_thread_status({ thread_id, status: 'resolved', reason: 'settled' });
    await person.set_quiet({ of_agent: 'docs-bot', for_ms: 3_600_000, reason: 'it is at its index' });
    for (let i = 0; i < 2; i++) await deadLetter(desk, randomUUID());
  });
  afterAll(async () => {
    await desk.close();
  });

  const pages: Partial<Record<Device, Promise<Page>>> = {};
  const pageOf = (device: Device): Promise<Page> => (pages[device] ??= sitAt(desk, device));

  test.each(DEVICES)(
    'on a device for %s: nothing that axe finds, no sideways scrolling, all targets large enough',
    async (device) => {
      await examine(await pageOf(device), desk.hub.url, device, VIEWS);
    },
  );

  test.each([
    ['tablet', 'light', 'now'],
    ['tablet', 'dark', 'thread'],
    ['phone', 'dark', 'now'],
    ['desktop', 'light', 'thread'],
    ['tablet', 'light', 'a document'],
  ] as const)('a picture on a %s in %s of %s', async (seat, scheme, name) => {
    const page = await pageOf(seat === 'desktop' ? 'desktop' : 'touch');
    await hold(page, seat, scheme);
    await VIEWS[name]?.(page, desk.hub.url);
    const picture = await shoot(page, pictures, `${name.replace(/^a /, '')}-${seat}-${scheme}`);
    expect(picture.length).toBeGreaterThan(10_000);
  });
});
