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
  SIZES,
} from './desk.ts';

allowForBrowsers();

/** A thread with an agent, both made for one test. */
async function scene(desk: Desk, name: string): Promise<{ agent: Client; thread_id: string; title: string }> {
  const agent = desk.agent(name);
  const title = `Work of ${name}`;
  await agent.register_agent({ name });
  await agent.heartbeat_session({ runtime: 'codex_cli', status: 'idle' });
  const { thread_id } = await agent.create_thread({ title, participants: [PERSON] });
  return { agent, thread_id, title };
}

const say = (agent: Client, thread_id: string, body: string) =>
  agent.post_message({ thread_id, schema_version: 1, body });

/** Two keys, and again where the machine took too long between them, as a person would. */
const goByKeys = (page: Page, key: string, path: string): Promise<void> =>
  vi.waitFor(
    async () => {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.waitForURL(`**${path}`, { timeout: 1_000 });
    },
    { timeout: PATIENCE_MS, interval: 1_000 },
  );

const card = (page: Page, agent: string) => page.locator('.ask', { hasText: agent });

describeWith(['chromium'], 'the dashboard in a real browser', () => {
  let desk: Desk;
  const pages = {} as Record<Screen, Page>;
  beforeAll(async () => {
    desk = await openDesk();
    // Somebody must be there, or the page shows the first steps.
    await scene(desk, 'host');
    for (const screen of SIZES) pages[screen] = await desk.signedIn(screen);
  });
  afterAll(async () => {
    await desk.close();
  });

  test.each(SIZES)(
    'flow 1 on a %s: a command is approved with one tap, and the agent gets the verdict',
    async (screen) => {
      const page = pages[screen];
      await page.goto(`${desk.hub.url}/now`);
      const { agent, thread_id } = await scene(desk, `pusher-${screen}`);
      const command = 'git push origin main';
      const { ask } = await agent.raise_ask({
        thread_id,
        kind: 'approval',
        prompt: 'Publishes the branch.',
        command,
        cwd: '~/src/app',
        rule: 'ask before push',
      });
      const one = card(page, `pusher-${screen}`);
      // What the thread is called comes after the ask itself.
      await one.getByText(`Work of pusher-${screen}`).waitFor();
      const text = await one.innerText();
      for (const shown of [command, '~/src/app', 'Denied in', 'ask before push'])
        expect(text).toContain(shown);
      expect(text).toMatch(/\d+:\d\d/);
      await press(one.getByRole('button', { name: 'Approve once' }), screen);
      // Nothing is settled before the hub says so; then it waits for the agent.
      await one.getByText('Approved by you').waitFor();
      expect(await one.innerText()).toContain('the agent has yet to take it');
      const { ask: taken } = await agent.wait_for_ask({ ask_id: ask.ask_id, timeout_ms: 60_000 });
      expect(taken.verdict).toMatchObject({ decision: 'approved', scope: 'once', by: PERSON });
      expect(taken.verdict?.device).toMatch(/^linux-chrome-[0-9a-f]{8}$/);
      await one.getByText('the agent has it').waitFor();
      await one.waitFor({ state: 'detached' });
    },
  );

  test.each(SIZES)(
    'flow 2 on a %s: approved for the session, or denied with a reason, in two taps',
    async (screen) => {
      const page = pages[screen];
      await page.goto(`${desk.hub.url}/now`);
      const { agent } = await scene(desk, `builder-${screen}`);
      const first = await agent.raise_ask({
        kind: 'approval',
        prompt: 'Installs packages.',
        command: 'npm ci',
      });
      const one = card(page, `builder-${screen}`);
      await press(one.getByRole('button', { name: 'More ways to answer' }), screen);
      await press(page.getByRole('button', { name: /Approve for this session/ }), screen);
      expect(
        (await agent.wait_for_ask({ ask_id: first.ask.ask_id, timeout_ms: 60_000 })).ask.verdict,
      ).toMatchObject({ decision: 'approved', scope: 'session' });
      await one.waitFor({ state: 'detached' });
      const second = await agent.raise_ask({
        kind: 'approval',
        prompt: 'Deletes a folder.',
        command: 'rm -rf build',
      });
      await press(one.getByRole('button', { name: 'More ways to answer' }), screen);
      await page.getByLabel('Tell it why not').fill('Not on a Friday.');
      await press(page.getByRole('button', { name: 'Deny and say why' }), screen);
      expect(
        (await agent.wait_for_ask({ ask_id: second.ask.ask_id, timeout_ms: 60_000 })).ask.verdict,
      ).toMatchObject({ decision: 'denied', reason: 'Not on a Friday.' });
      await one.getByText('Denied by you: Not on a Friday.').waitFor();
    },
  );

  test.each(SIZES)(
    'flow 2 on a %s: such commands are approved from now on, by a rule that stands under System',
    async (screen) => {
      const page = pages[screen];
      await page.goto(`${desk.hub.url}/now`);
      const { agent } = await scene(desk, `ruled-${screen}`);
      const ask = { kind: 'approval', prompt: 'Pushes.', cwd: '~/app' } as const;
      const first = await agent.raise_ask({ ...ask, command: 'git push origin feature/one' });
      await press(card(page, `ruled-${screen}`).getByRole('button', { name: 'More ways to answer' }), screen);
      await press(page.getByRole('button', { name: /^Always approve/ }), screen);
      await page.getByLabel(/^Commands/).fill('git push origin feature/*');
      await press(page.getByRole('button', { name: 'Approve now and from now on' }), screen);
      const { ask: taken } = await agent.wait_for_ask({ ask_id: first.ask.ask_id, timeout_ms: 60_000 });
      expect(taken.verdict).toMatchObject({ decision: 'approved', by: PERSON });
      const next = await agent.raise_ask({ ...ask, command: 'git push origin feature/two' });
      expect(next.ask.verdict).toMatchObject({ decision: 'approved', scope: 'rule', by: PERSON });
      await page.goto(`${desk.hub.url}/system`);
      const row = page.locator('.row', { hasText: `ruled-${screen} in ~/app` });
      await row.getByText('1 time').waitFor();
      await press(row.getByRole('button', { name: 'Revoke' }), screen);
      await row.waitFor({ state: 'detached' });
      const last = await agent.raise_ask({ ...ask, command: 'git push origin feature/three' });
      expect(last.ask.status).toBe('open');
      await agent.withdraw_ask({ ask_id: last.ask.ask_id });
    },
  );

  test.each(SIZES)(
    'flow 3 on a %s: a question is answered by one of the agent’s own options',
    async (screen) => {
      const page = pages[screen];
      await page.goto(`${desk.hub.url}/now`);
      const { agent, thread_id } = await scene(desk, `planner-${screen}`);
      const { ask } = await agent.raise_ask({
        thread_id,
        kind: 'question',
        prompt: 'Fix both, or open TASK-220?',
        options: [
          { id: 'both', label: 'Fix both' },
          { id: 'task', label: 'Open TASK-220' },
        ],
      });
      await press(card(page, `planner-${screen}`).getByRole('button', { name: 'Open TASK-220' }), screen);
      const { ask: taken } = await agent.wait_for_ask({ ask_id: ask.ask_id, timeout_ms: 60_000 });
      expect(taken.verdict).toMatchObject({ decision: 'answered', option: 'task' });
    },
  );

  test.each(SIZES)('on a %s a form that an agent asks for is filled in', async (screen) => {
    const page = pages[screen];
    await page.goto(`${desk.hub.url}/now`);
    const { agent } = await scene(desk, `former-${screen}`);
    const { ask } = await agent.raise_ask({
      kind: 'elicitation',
      prompt: 'Where shall I deploy?',
      schema: {
        type: 'object',
        properties: {
          region: { type: 'string', title: 'Region', enum: ['eu', 'us'] },
          copies: { type: 'integer', title: 'Copies', minimum: 1, maximum: 9 },
          dry: { type: 'boolean', title: 'Dry run' },
        },
        required: ['region', 'copies'],
      },
    });
    await press(card(page, `former-${screen}`).getByRole('button', { name: 'Fill in' }), screen);
    await page.getByLabel('Region').selectOption('eu');
    await page.getByLabel('Copies').fill('3');
    await page.getByLabel('Dry run').check();
    await press(page.getByRole('dialog').getByRole('button', { name: 'Send' }), screen);
    expect((await agent.wait_for_ask({ ask_id: ask.ask_id, timeout_ms: 60_000 })).ask.verdict).toMatchObject({
      decision: 'answered',
      data: { region: 'eu', copies: 3, dry: true },
    });
  });

  test('an ask that was answered elsewhere says so, and a second answer is not sent', async () => {
    const { agent } = await scene(desk, 'twice');
    await pages.tablet.goto(`${desk.hub.url}/now`);
    await pages.phone.goto(`${desk.hub.url}/now`);
    const { ask } = await agent.raise_ask({ kind: 'approval', prompt: 'May I?', command: 'make release' });
    const [here, there] = [card(pages.tablet, 'twice'), card(pages.phone, 'twice')];
    await Promise.all([here.waitFor(), there.waitFor()]);
    await desk
      .agent('lee', 'operator')
      .answer_ask({ ask_id: ask.ask_id, decision: 'denied', reason: 'not now' });
    for (const one of [here, there]) {
      await one.getByText('Denied by lee: not now').waitFor();
      expect(await one.getByRole('button', { name: 'Approve once' }).count()).toBe(0);
    }
  });

  test('the first verdict stands when two devices answer at the same moment', async () => {
    const { agent } = await scene(desk, 'race');
    await pages.tablet.goto(`${desk.hub.url}/now`);
    const { ask } = await agent.raise_ask({ kind: 'approval', prompt: 'May I?', command: 'make race' });
    const one = card(pages.tablet, 'race');
    await one.waitFor();
    // The stream is held up, so that this device does not know yet what the other has said.
    await pages.tablet.route('**/v1/answer_ask', async (route) => {
      await desk.agent('lee', 'operator').answer_ask({ ask_id: ask.ask_id, decision: 'denied' });
      await route.continue();
    });
    await one.getByRole('button', { name: 'Approve once' }).tap();
    await one.getByText('Denied by lee').waitFor();
    await pages.tablet.unroute('**/v1/answer_ask');
    expect((await agent.wait_for_ask({ ask_id: ask.ask_id, timeout_ms: 60_000 })).ask.verdict).toMatchObject({
      decision: 'denied',
      by: 'lee',
    });
  });

  test.each(SIZES)(
    '[LIVE-7] flows 4 and 5 on a %s: who is in trouble is shown with the reason, and is prodded with one tap',
    async (screen) => {
      const page = pages[screen];
      await page.goto(`${desk.hub.url}/now`);
      const { agent, thread_id } = await scene(desk, `sisyphus-${screen}`);
      await agent.report_event({
        event_type: 'error',
        data: { message: 'exit 137 while running the tests' },
      });
      const row = page
        .locator('.row[data-agent]', { hasText: `sisyphus-${screen}` })
        .filter({ hasText: 'exit 137' });
      await row.waitFor();
      expect(await row.innerText()).toContain('Error');
      await press(row.getByRole('button', { name: 'Prod' }), screen);
      await row.getByRole('button', { name: 'Prodded' }).waitFor();
      await vi.waitFor(
        async () => expect((await agent.get_thread({ thread_id })).prodded).toEqual([`sisyphus-${screen}`]),
        PATIENCE_MS,
      );
      await agent.update_agent_status({ status: 'online' });
      await press(row.getByRole('button', { name: 'Dismiss' }), screen);
      await row.waitFor({ state: 'detached' });
    },
  );

  test.each(SIZES)('flow 6 on a %s: what a wake comes to is told honestly', async (screen) => {
    const page = pages[screen];
    const { agent, thread_id } = await scene(desk, `dormant-${screen}`);
    await desk
      .agent(PERSON, 'operator')
      .post_message({ thread_id, schema_version: 1, body: 'Are you there?' });
    await agent.update_agent_status({ status: 'offline' });
    await page.goto(`${desk.hub.url}/agents/dormant-${screen}`);
    await page.getByText('process gone').waitFor();
    // Nothing can wake it, and the page says what would; who insists is told how it went.
    await page.getByText(`run --agent dormant-${screen} --`).waitFor();
    await press(page.getByText('Try it all the same'), screen);
    await press(page.getByRole('button', { name: 'Wake' }), screen);
    await page.locator('.toast').waitFor();
    // The ladder appears as it is climbed, down to its honest end.
    await page.locator('.ladder li', { hasText: 'Not woken' }).waitFor();
  });

  test.each(SIZES)(
    'flow 7 on a %s: an agent is muted and a thread paused from the thread itself',
    async (screen) => {
      const page = pages[screen];
      const { agent, thread_id } = await scene(desk, `chatter-${screen}`);
      await say(agent, thread_id, 'hello');
      await page.goto(`${desk.hub.url}/t/${thread_id}`);
      await press(page.getByRole('button', { name: 'Pause the thread' }), screen);
      await page.getByText('only people may post').first().waitFor();
      await expect(say(agent, thread_id, 'still here')).rejects.toMatchObject({
        code: 'FORBIDDEN',
        details: { reason: 'paused' },
      });
      await press(page.getByRole('button', { name: 'Let the thread go on' }), screen);
      await press(page.getByRole('button', { name: /participants: show them/ }), screen);
      const sheet = page.getByRole('dialog');
      await press(sheet.getByRole('button', { name: `Mute chatter-${screen}` }), screen);
      await press(sheet.getByRole('button', { name: 'Until I undo' }), screen);
      await sheet.getByRole('button', { name: `Let chatter-${screen} speak again` }).waitFor();
      await expect(say(agent, thread_id, 'and here')).rejects.toMatchObject({ details: { reason: 'muted' } });
      await press(sheet.getByRole('button', { name: `Let chatter-${screen} speak again` }), screen);
      await sheet.getByRole('button', { name: `Mute chatter-${screen}` }).waitFor();
      await say(agent, thread_id, 'back again');
    },
  );

  test.each(SIZES)(
    'flow 8 on a %s: a thread is read live and answered; the draft survives, the message is posted once',
    async (screen) => {
      const page = pages[screen];
      const { agent, thread_id, title } = await scene(desk, `talker-${screen}`);
      await say(agent, thread_id, 'The first word.');
      await page.goto(`${desk.hub.url}/now`);
      const row = page.locator('.thread-row', { hasText: title });
      await row.getByText('The first word.').waitFor();
      await press(row, screen);
      await page.locator('.message', { hasText: 'The first word.' }).waitFor();
      await say(agent, thread_id, 'Said **while** you look.');
      await page.locator('.message strong', { hasText: 'while' }).waitFor();
      const field = page.getByRole('textbox', { name: 'Message' });
      await field.fill('A draft');
      await page.reload();
      await page.locator('.message').first().waitFor();
      expect(await field.inputValue()).toBe('A draft');
      await field.fill('Thank you @ta');
      await press(page.getByRole('option', { name: `talker-${screen}` }), screen);
      expect(await field.inputValue()).toBe(`Thank you @talker-${screen} `);
      await press(page.getByRole('button', { name: 'Send' }), screen);
      await page
        .locator('.message', { hasText: `Thank you @talker-${screen}` })
        .and(page.locator(':not(.message-pending)'))
        .waitFor();
      await vi.waitFor(
        async () => expect((await bodies(agent, thread_id)).at(-1)).toBe(`Thank you @talker-${screen}`),
        PATIENCE_MS,
      );
      expect((await bodies(agent, thread_id)).filter((body) => body.startsWith('Thank you'))).toHaveLength(1);
      // What was read is read on every device.
      await vi.waitFor(async () => {
        const { threads } = await desk.agent(PERSON, 'operator').list_threads({ unread: true });
        expect(threads.map((thread) => thread.thread_id)).not.toContain(thread_id);
      }, PATIENCE_MS);
    },
  );

  test('a message that the hub refuses stays, with the reason, and goes when it is sent again', async () => {
    const page = pages.desktop;
    const { agent, thread_id } = await scene(desk, 'patient');
    await say(agent, thread_id, 'hello');
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    await page.locator('.message').first().waitFor();
    await page.route('**/v1/post_message', (route) => route.abort());
    await page.getByRole('textbox', { name: 'Message' }).fill('Over a broken line');
    await page.keyboard.press('Enter');
    await page.getByText('The hub does not answer.').waitFor();
    await page.unroute('**/v1/post_message');
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('The hub does not answer.').waitFor({ state: 'detached' });
    await vi.waitFor(
      async () =>
        expect((await bodies(agent, thread_id)).filter((body) => body === 'Over a broken line')).toHaveLength(
          1,
        ),
      PATIENCE_MS,
    );
  });

  test('a message that the hub took and whose answer was lost is there once when it is sent again', async () => {
    const page = pages.desktop;
    const { agent, thread_id } = await scene(desk, 'doubted');
    await say(agent, thread_id, 'hello');
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    await page.locator('.message').first().waitFor();
    const keys: string[] = [];
    await page.route('**/v1/post_message', async (route) => {
      keys.push((route.request().postDataJSON() as { idempotency_key: string }).idempotency_key);
      const taken = await route.fetch();
      expect(taken.status()).toBe(200);
      await (keys.length === 1 ? route.abort() : route.fulfill({ response: taken }));
    });
    await page.getByRole('textbox', { name: 'Message' }).fill('Perhaps you have it');
    await page.keyboard.press('Enter');
    await page.getByText('The hub does not answer.').waitFor();
    expect(await bodies(agent, thread_id)).toContain('Perhaps you have it');
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('The hub does not answer.').waitFor({ state: 'detached' });
    // The stream shows it before its own answer has come.
    await page.unrouteAll({ behavior: 'wait' });
    expect(keys).toHaveLength(2);
    const isIt = (body: string): boolean => body === 'Perhaps you have it';
    expect((await bodies(agent, thread_id)).filter(isIt)).toHaveLength(1);
    await vi.waitFor(
      async () => expect(await page.locator('.message', { hasText: 'Perhaps you have it' }).count()).toBe(1),
      PATIENCE_MS,
    );
  });

  test.each(SIZES)(
    'flow 10 on a %s: an agent is invited, a side channel opened, and the thread resolved',
    async (screen) => {
      const page = pages[screen];
      const { agent, thread_id, title } = await scene(desk, `owner-${screen}`);
      await scene(desk, `newcomer-${screen}`);
      await say(agent, thread_id, 'Let us begin.');
      await page.goto(`${desk.hub.url}/t/${thread_id}`);
      const panel = page.locator(screen === 'desktop' ? '.thread-side' : 'dialog');
      if (screen !== 'desktop')
        await press(page.getByRole('button', { name: /participants: show them/ }), screen);
      await panel.getByLabel('Invite').fill(`newcomer-${screen}`);
      await press(panel.getByRole('button', { name: 'Invite' }), screen);
      await page.getByText(`You invited newcomer-${screen}`).waitFor();
      await press(panel.getByRole('button', { name: 'Open one' }), screen);
      await page.getByLabel('What it is about').fill('The fine print');
      await press(page.locator('.pick', { hasText: `newcomer-${screen}` }), screen);
      await press(page.getByRole('button', { name: 'Open the side channel' }), screen);
      await page.getByRole('heading', { name: 'The fine print', level: 1 }).waitFor();
      await press(page.getByRole('link', { name: `side channel of ${title}` }), screen);
      await press(page.getByRole('button', { name: 'More about this thread' }), screen);
      await press(page.getByRole('button', { name: /^Resolve/ }), screen);
      await vi.waitFor(
        async () =>
          expect(await agent.get_thread({ thread_id })).toMatchObject({
            status: 'resolved',
            participants: expect.arrayContaining([`newcomer-${screen}`]),
          }),
        PATIENCE_MS,
      );
    },
  );

  test('a long thread opens at its end, jumps to any message, and holds few rows', async () => {
    const page = pages.phone;
    const { agent, thread_id } = await scene(desk, 'writer');
    for (let i = 1; i <= 600; i += 20)
      await Promise.all(Array.from({ length: 20 }, (_, k) => say(agent, thread_id, `Line ${i + k}`)));
    await agent.ack_read({ thread_id, last_read_seq: 600 });
    await desk.agent(PERSON, 'operator').ack_read({ thread_id, last_read_seq: 600 });
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    await page.locator('[data-seq="600"]').waitFor();
    expect(await page.locator('.entry').count()).toBeLessThan(60);
    await page.goto(`${desk.hub.url}/t/${thread_id}/123`);
    await page.locator('.entry-marked[data-seq="123"]').waitFor();
    await page.getByRole('button', { name: /more messages/ }).tap();
    await page.locator('[data-seq="600"]').waitFor();
    await say(agent, thread_id, 'One more');
    await page.locator('.message', { hasText: 'One more' }).waitFor();
  });

  test('search finds what was said and leads to the very message', async () => {
    const page = pages.tablet;
    const { agent, thread_id } = await scene(desk, 'scribe');
    await say(agent, thread_id, 'The kingfisher migrates in October.');
    await page.goto(`${desk.hub.url}/search`);
    await vi.waitFor(async () => {
      await page.getByRole('searchbox').fill('');
      await page.getByRole('searchbox').fill('kingfisher');
      await page.locator('mark', { hasText: 'kingfisher' }).waitFor({ timeout: 1_000 });
    }, PATIENCE_MS);
    await page.locator('a.row', { hasText: 'kingfisher' }).tap();
    await page.locator('.entry-marked', { hasText: 'kingfisher' }).waitFor();
  });

  test('what became of a message is shown as evidence, not as a guess', async () => {
    const page = pages.desktop;
    const { agent, thread_id } = await scene(desk, 'reader');
    await desk
      .agent(PERSON, 'operator')
      .post_message({ thread_id, schema_version: 1, body: 'Did you see this?' });
    await agent.ack_read({ thread_id, last_read_seq: 1 });
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    await page.locator('.message', { hasText: 'Did you see this?' }).hover();
    await page.getByRole('button', { name: /Message 1 of kim/ }).click();
    await page.getByText('Durable as entry 1').waitFor();
    await page.getByText('Read by reader').waitFor();
  });

  test('[LIVE-4] the state of an agent changes on the page without a reload, and its place in the list stays', async () => {
    const page = pages.tablet;
    const { agent } = await scene(desk, 'aaron');
    await page.goto(`${desk.hub.url}/agents`);
    const one = page.locator('.card', { hasText: 'aaron' });
    await one.getByText('Idle').waitFor();
    const order = await page.locator('.card .row-title').allInnerTexts();
    await agent.update_agent_status({ status: 'busy', metadata: { currentTask: 'Counting sheep' } });
    await one.getByText('Working').waitFor();
    await one.getByText('Counting sheep').waitFor();
    expect(await page.locator('.card .row-title').allInnerTexts()).toEqual(order);
  });

  test('everything can be done by keys', async () => {
    const page = pages.desktop;
    const { agent } = await scene(desk, 'keyed');
    await page.goto(`${desk.hub.url}/system`);
    await page.getByRole('heading', { name: 'System' }).waitFor();
    await goByKeys(page, 'a', '/agents');
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor();
    const { ask } = await agent.raise_ask({ kind: 'approval', prompt: 'May I?', command: 'make keys' });
    await goByKeys(page, 'n', '/now');
    await card(page, 'keyed').waitFor();
    const focused = `document.activeElement?.getAttribute('data-ask') === '${ask.ask_id}'`;
    for (let i = 0; i < 20 && !(await page.evaluate<boolean>(focused)); i++) await page.keyboard.press('j');
    await page.keyboard.press('y');
    expect((await agent.wait_for_ask({ ask_id: ask.ask_id, timeout_ms: 60_000 })).ask.verdict).toMatchObject({
      decision: 'approved',
    });
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('keyed');
    await page.getByRole('option', { name: /keyed.*agent/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.getByRole('searchbox').waitFor();
  });

  test('threads are looked into, resolved and cleared of their side by keys', async () => {
    const page = pages.desktop;
    const { agent, thread_id, title } = await scene(desk, 'peeped');
    await say(agent, thread_id, 'A word to look at.');
    await page.goto(`${desk.hub.url}/now`);
    await page.locator('.thread-row', { hasText: title }).waitFor();
    await page.locator(`[data-thread="${thread_id}"]`).focus();
    await page.keyboard.press('Space');
    await page.getByRole('dialog').getByText('A word to look at.').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('u');
    await page.waitForURL('**/threads?f=unread');
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    await page.locator('.thread-side').waitFor();
    await page.locator('.message').first().waitFor();
    await page.keyboard.press('i');
    await page.locator('.thread-side').waitFor({ state: 'hidden' });
    await page.keyboard.press('i');
    await page.locator('.thread-side').waitFor();
    await page.locator('.thread-side .person-name', { hasText: 'peeped' }).focus();
    await page.keyboard.press('m');
    // Enter is for whoever has the focus, which a sheet takes once it is there.
    await page.locator('button:focus', { hasText: '15 min' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Let peeped speak again' }).waitFor();
    await page.keyboard.press('e');
    await vi.waitFor(
      async () => expect((await agent.get_thread({ thread_id })).status).toBe('resolved'),
      PATIENCE_MS,
    );
  });

  test('a device signs in by a code, is listed, and is sent away; its page shows the sign-in', async () => {
    const page = pages.desktop;
    await page.goto(`${desk.hub.url}/system`);
    await page.getByRole('button', { name: 'Sign one in' }).click();
    const code = page.locator('.pair-code', { hasText: /^[A-Z0-9]{4}-[A-Z0-9]{4}$/ });
    await code.waitFor();
    // No camera elsewhere finds this machine by its loopback address.
    await page.getByText('This address leads to this machine alone.').waitFor();
    expect(await page.getByRole('img', { name: /QR code/ }).count()).toBe(0);
    const other = await (
      await desk.context('tablet', {
        userAgent: 'Mozilla/5.0 (iPad; CPU OS 17_4) AppleWebKit/605 Version/17.4 Safari/604',
      })
    ).newPage();
    await other.goto(desk.hub.url);
    await other.getByLabel('Code').fill(await code.innerText());
    await other.getByRole('button', { name: 'Sign in' }).tap();
    await other.locator('.line-sign.line-live').waitFor();
    await page.keyboard.press('Escape');
    const row = page.locator('.row', { hasText: 'iPad · Safari' });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await other.getByRole('heading', { name: 'Sign in to Parley' }).waitFor();
    await row.waitFor({ state: 'detached' });
  });
});

async function bodies(agent: Client, thread_id: string): Promise<string[]> {
  const { messages } = await agent.read_messages({ thread_id, since_seq: 0, limit: 200 });
  return messages.map(({ body }) => body);
}
