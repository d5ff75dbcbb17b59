import { expect, test, vi } from 'vitest';

import { type Desk, PATIENCE_MS, PERSON, press } from './desk.ts';
import { say, scene, type Seat } from './scene.ts';
import { visit } from './visit.ts';

/** Agents and threads are steered: flows 4 to 7. */
export function steerFlows(desk: () => Desk, seats: readonly Seat[]): void {
  const rows = seats.map((seat) => [seat.on, seat] as const);

  test.each(rows)(
    '[LIVE-7] flows 4 and 5 on a %s: who is in trouble is shown with the reason, and is prodded with one tap',
    async (_, { page: open, name, screen }) => {
      const page = await open();
      await visit(page, `${desk().hub.url}/now`);
      const { agent, thread_id } = await scene(desk(), `sisyphus-${name}`);
      await agent.report_event({
        event_type: 'error',
        data: { message: 'exit 137 while running the tests' },
      });
      const row = page
        .locator('.row[data-agent]', { hasText: `sisyphus-${name}` })
        .filter({ hasText: 'exit 137' });
      await row.waitFor();
      expect(await row.innerText()).toContain('Error');
      await press(row.getByRole('button', { name: 'Prod' }), screen);
      await row.getByRole('button', { name: 'Prodded' }).waitFor();
      await vi.waitFor(
        async () => expect((await agent.get_thread({ thread_id })).prodded).toEqual([`sisyphus-${name}`]),
        PATIENCE_MS,
      );
      await agent.update_agent_status({ status: 'online' });
      await press(row.getByRole('button', { name: 'Dismiss' }), screen);
      await row.waitFor({ state: 'detached' });
    },
  );

  test.each(rows)(
    'flow 6 on a %s: what a wake comes to is told honestly',
    async (_, { page: open, name, screen }) => {
      const page = await open();
      const { agent, thread_id } = await scene(desk(), `dormant-${name}`);
      await desk()
        .agent(PERSON, 'operator')
        .post_message({ thread_id, schema_version: 1, body: 'Are you there?' });
      await agent.update_agent_status({ status: 'offline' });
      await page.goto(`${desk().hub.url}/agents/dormant-${name}`);
      await page.getByText('process gone').waitFor();
      // Nothing can wake it, and the page says what would; who insists is told how it went.
      await page.getByText(`run --agent dormant-${name} --`).waitFor();
      await press(page.getByText('Try anyway'), screen);
      await press(page.getByRole('button', { name: 'Wake' }), screen);
      await page.locator('.toast').waitFor();
      // The ladder appears as it is climbed, down to its honest end.
      await page.locator('.ladder li', { hasText: 'Not woken' }).waitFor();
    },
  );

  test.each(rows)(
    'flow 7 on a %s: an agent is muted and a thread paused from the thread itself',
    async (_, { page: open, name, screen }) => {
      const page = await open();
      const { agent, thread_id } = await scene(desk(), `chatter-${name}`);
      await say(agent, thread_id, 'hello');
      await visit(page, `${desk().hub.url}/t/${thread_id}`);
      await press(page.getByRole('button', { name: 'Pause the thread' }), screen);
      await page.getByText('only people may post').first().waitFor();
      await expect(say(agent, thread_id, 'still here')).rejects.toMatchObject({
        code: 'FORBIDDEN',
        details: { reason: 'paused' },
      });
      await press(page.getByRole('button', { name: 'Let the thread go on' }), screen);
      await press(page.getByRole('button', { name: /participants: show them/ }), screen);
      const sheet = page.getByRole('dialog');
      await press(sheet.getByRole('button', { name: `Mute chatter-${name}` }), screen);
      await press(sheet.getByRole('button', { name: 'Until I undo' }), screen);
      await sheet.getByRole('button', { name: `Let chatter-${name} speak again` }).waitFor();
      await expect(say(agent, thread_id, 'and here')).rejects.toMatchObject({ details: { reason: 'muted' } });
      await press(sheet.getByRole('button', { name: `Let chatter-${name} speak again` }), screen);
      await sheet.getByRole('button', { name: `Mute chatter-${name}` }).waitFor();
      await say(agent, thread_id, 'back again');
    },
  );
}
