import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, type Desk, openDesk, PERSON, press, SIZES } from './desk.ts';

allowForBrowsers();

describeWith(['chromium'], 'what an agent failed with', () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await openDesk();
  });
  afterAll(async () => {
    await desk.close();
  });

  describe.each(SIZES)('on a %s', (size) => {
    test('stays on Now though the agent works again or is gone, until this person dismisses it', async () => {
      const name = `builder-${size}`;
      const agent = desk.agent(name);
      const person = desk.agent(PERSON, 'operator');
      await agent.heartbeat_session({ runtime: 'codex', status: 'active' });
      await agent.report_event({ event_type: 'task_failed', data: { message: 'npm test failed' } });
      const page = await desk.signedIn(size);
      const row = page.locator(`.row[data-agent="${name}"]`);
      await row.getByText('npm test failed').waitFor();
      await agent.update_agent_status({ status: 'busy', metadata: { currentTask: 'TASK-2' } });
      await row.getByText('npm test failed · at work again').waitFor();
      await agent.heartbeat_session({ runtime: 'codex', status: 'offline' });
      await agent.update_agent_status({ status: 'offline' });
      await row.getByText('npm test failed · gone since then').waitFor();

      // One that this page has not seen yet is not dismissed with the one it shows.
      await page.route('**/v1/list_agents', (route) => route.abort());
      await agent.report_event({ event_type: 'error', data: { message: 'no space left' } });
      await press(row.getByRole('button', { name: 'Dismiss' }), size);
      await page.getByText('failed again since then').waitFor();
      expect((await person.get_agent({ of_agent: name })).failure?.text).toBe('no space left');
      await page.unroute('**/v1/list_agents');
      await agent.update_agent_status({ status: 'offline' });
      await row.getByText('no space left').waitFor();

      const button = row.getByRole('button', { name: `Dismiss the error of ${name}` });
      const box = await button.boundingBox();
      expect(Math.round(box?.height ?? 0)).toBeGreaterThanOrEqual(size === 'desktop' ? 32 : 44);
      await press(button, size);
      await row.waitFor({ state: 'detached' });
      expect(await person.get_agent({ of_agent: name })).toMatchObject({
        state: 'offline',
        status: 'offline',
      });
      await page.goto(`${desk.hub.url}/agents/${name}`);
      await page.getByText('You dismissed its error').waitFor();
    });

    test('is told on the agent’s own page, with the thread it failed in, and dismissed there', async () => {
      const name = `writer-${size}`;
      const agent = desk.agent(name);
      const { thread_id } = await agent.create_thread({ title: 'The mapper', participants: [PERSON] });
      await agent.report_event({ event_type: 'error', thread_id, data: { message: 'the tests hang' } });
      await agent.update_agent_status({ status: 'busy', metadata: { currentTask: 'TASK-3' } });
      const page = await desk.signedIn(size);
      await page.goto(`${desk.hub.url}/agents/${name}`);
      await page.getByText('Since then: working, TASK-3.').waitFor();
      expect(await page.getByRole('link', { name: 'Where it failed' }).getAttribute('href')).toBe(
        `/t/${thread_id}`,
      );
      await press(page.getByRole('button', { name: 'Dismiss' }), size);
      await page.locator('.standing', { hasText: 'TASK-3' }).waitFor();
      expect(await page.getByRole('button', { name: 'Dismiss' }).count()).toBe(0);
    });
  });
});
