import { expect, test } from 'vitest';

import { type Desk, PERSON, press } from './desk.ts';
import { card, scene, type Seat } from './scene.ts';
import { visit } from './visit.ts';

/** Requests are answered: flows 1 to 3. */
export function answerFlows(desk: () => Desk, seats: readonly Seat[]): void {
  const rows = seats.map((seat) => [seat.on, seat] as const);

  test.each(rows)(
    'flow 1 on a %s: a command is approved with one tap, and the agent gets the verdict',
    async (_, { page: open, name, screen, device }) => {
      const page = await open();
      await visit(page, `${desk().hub.url}/now`);
      const { agent, thread_id } = await scene(desk(), `pusher-${name}`);
      const command = 'git push origin main';
      const { ask } = await agent.raise_ask({
        thread_id,
        kind: 'approval',
        prompt: 'Publishes the branch.',
        command,
        cwd: '~/src/app',
        rule: 'ask before push',
      });
      const one = card(page, `pusher-${name}`);
      // What the thread is called comes after the ask itself.
      await one.getByText(`Work of pusher-${name}`).waitFor();
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
      expect(taken.verdict?.device).toMatch(device);
      await one.getByText('the agent has it').waitFor();
      await one.waitFor({ state: 'detached' });
    },
  );

  test.each(rows)(
    'flow 2 on a %s: approved for the session, or denied with a reason, in two taps',
    async (_, { page: open, name, screen }) => {
      const page = await open();
      await visit(page, `${desk().hub.url}/now`);
      const { agent } = await scene(desk(), `builder-${name}`);
      const first = await agent.raise_ask({
        kind: 'approval',
        prompt: 'Installs packages.',
        command: 'npm ci',
      });
      const one = card(page, `builder-${name}`);
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

  test.each(rows)(
    'flow 2 on a %s: such commands are approved from now on, by a rule that stands under System',
    async (_, { page: open, name, screen }) => {
      const page = await open();
      await visit(page, `${desk().hub.url}/now`);
      const { agent } = await scene(desk(), `ruled-${name}`);
      const ask = { kind: 'approval', prompt: 'Pushes.', cwd: '~/app' } as const;
      const first = await agent.raise_ask({ ...ask, command: 'git push origin feature/one' });
      await press(card(page, `ruled-${name}`).getByRole('button', { name: 'More ways to answer' }), screen);
      await press(page.getByRole('button', { name: /^Always approve/ }), screen);
      await page.getByLabel(/^Commands/).fill('git push origin feature/*');
      await press(page.getByRole('button', { name: 'Approve now and from now on' }), screen);
      const { ask: taken } = await agent.wait_for_ask({ ask_id: first.ask.ask_id, timeout_ms: 60_000 });
      expect(taken.verdict).toMatchObject({ decision: 'approved', by: PERSON });
      const next = await agent.raise_ask({ ...ask, command: 'git push origin feature/two' });
      expect(next.ask.verdict).toMatchObject({ decision: 'approved', scope: 'rule', by: PERSON });
      await visit(page, `${desk().hub.url}/system`);
      const row = page.locator('.row', { hasText: `ruled-${name} in ~/app` });
      await row.getByText('1 time').waitFor();
      await press(row.getByRole('button', { name: 'Revoke' }), screen);
      await row.waitFor({ state: 'detached' });
      const last = await agent.raise_ask({ ...ask, command: 'git push origin feature/three' });
      expect(last.ask.status).toBe('open');
      await agent.withdraw_ask({ ask_id: last.ask.ask_id });
    },
  );

  test.each(rows)(
    'flow 3 on a %s: a question is answered by one of the agent’s own options',
    async (_, { page: open, name, screen }) => {
      const page = await open();
      await visit(page, `${desk().hub.url}/now`);
      const { agent, thread_id } = await scene(desk(), `planner-${name}`);
      const { ask } = await agent.raise_ask({
        thread_id,
        kind: 'question',
        prompt: 'Fix both, or open TASK-220?',
        options: [
          { id: 'both', label: 'Fix both' },
          { id: 'task', label: 'Open TASK-220' },
        ],
      });
      await press(card(page, `planner-${name}`).getByRole('button', { name: 'Open TASK-220' }), screen);
      const { ask: taken } = await agent.wait_for_ask({ ask_id: ask.ask_id, timeout_ms: 60_000 });
      expect(taken.verdict).toMatchObject({ decision: 'answered', option: 'task' });
    },
  );

  test.each(rows)(
    'on a %s a form that an agent asks for is filled in',
    async (_, { page: open, name, screen }) => {
      const page = await open();
      await visit(page, `${desk().hub.url}/now`);
      const { agent } = await scene(desk(), `former-${name}`);
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
      await press(card(page, `former-${name}`).getByRole('button', { name: 'Fill in' }), screen);
      await page.getByLabel('Region').selectOption('eu');
      await page.getByLabel('Copies').fill('3');
      await page.getByLabel('Dry run').check();
      await press(page.getByRole('dialog').getByRole('button', { name: 'Send' }), screen);
      expect(
        (await agent.wait_for_ask({ ask_id: ask.ask_id, timeout_ms: 60_000 })).ask.verdict,
      ).toMatchObject({
        decision: 'answered',
        data: { region: 'eu', copies: 3, dry: true },
      });
    },
  );
}
