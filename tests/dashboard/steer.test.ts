import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';

import { openAgent } from '@parley/client';

import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, type Desk, openDesk, PATIENCE_MS, PERSON, press } from './desk.ts';
import { ENDS, openPages } from './open-pages.ts';

allowForBrowsers();

describeWith(['chromium'], 'steering an agent, and what it failed with', () => {
  let desk: Desk;
  let pages: Record<(typeof ENDS)[number], Page>;
  beforeAll(async () => {
    desk = await openDesk();
    pages = await openPages(desk, ENDS);
  });
  afterAll(async () => {
    await desk.close();
  });

  describe.each(ENDS)('on a %s', (size) => {
    test('a message, a prompt and an interruption in plain words, and only what it takes', async () => {
      const name = `worker-${size}`;
      const heard: unknown[] = [];
      const agent = await openAgent({
        url: desk.hub.url,
        token: desk.signer.token({ agent: name, workspace: 'w1', role: 'worker', session: `${name}-1` }),
        name,
        WebSocket,
        commands: {
          prompt: async (parameters) => {
            heard.push(parameters);
            return { accepted: true, queued: true };
          },
          cancel: async () => {
            heard.push('cancel');
            return { cancelled: true };
          },
        },
      });
      const page = pages[size];
      await page.goto(`${desk.hub.url}/agents/${name}`);
      const button = (label: string) => page.getByRole('button', { name: label, exact: true });
      await button('Prompt').waitFor();
      expect(await button('Stop').count()).toBe(0);
      const folder = process.env['LOOK'];
      if (folder !== undefined) await page.screenshot({ path: `${folder}/steer-${size}.png` });

      await press(button('Prompt'), size);
      await page.getByLabel('Words').fill('look at "the" mapper');
      await press(button('Send'), size);
      await page.getByText(`${name} is at work and takes it next.`).waitFor();
      await press(button('Interrupt'), size);
      await press(button('Interrupt it'), size);
      await page.getByText(`${name} did as it was told.`).waitFor();
      expect(heard).toEqual([{ prompt: 'look at "the" mapper' }, 'cancel']);

      await press(button('Message'), size);
      await page.getByLabel('Words').fill('How is it going?');
      await press(button('Send'), size);
      await vi.waitFor(async () => {
        const { threads } = await agent.client.list_threads();
        const { messages } = await agent.client.read_messages({ thread_id: threads[0]?.thread_id ?? '' });
        expect(messages.map(({ sender_agent_id, body }) => [sender_agent_id, body])).toEqual([
          [PERSON, 'How is it going?'],
        ]);
      }, PATIENCE_MS);
      await agent.close();
      await button('Prompt').waitFor({ state: 'detached' });
    });

    test('what was done is taken back where the hub has the way back: pausing, leaving alone', async () => {
      const name = `undone-${size}`;
      const worker = desk.agent(name);
      const { thread_id } = await desk
        .agent(PERSON, 'operator')
        .create_thread({ title: `undo on a ${size}`, participants: [name] });
      await worker.register_agent({ name });
      await worker.post_message({ thread_id, schema_version: 1, body: 'here' });
      const boss = desk.agent('boss', 'operator');
      const page = pages[size];
      const leftAlone = async () =>
        (await worker.list_quiet({})).quiet.filter(({ agent_id }) => agent_id === name);
      const stands = async () => {
        const { paused = false, muted = [], status } = await worker.get_thread({ thread_id });
        return { paused, muted, status };
      };
      const back = async (): Promise<void> => {
        await press(page.locator('.toast').getByRole('button', { name: 'Undo' }), size);
        await page.getByText('Undone.').last().waitFor();
      };
      await page.goto(`${desk.hub.url}/t/${thread_id}`);
      await press(page.getByRole('button', { name: 'Pause the thread' }), size);
      await page.getByText('Paused: only people may post.').waitFor();
      expect(await stands()).toMatchObject({ paused: true });
      const folder = process.env['LOOK'];
      if (folder !== undefined) await page.screenshot({ path: `${folder}/undo-${size}.png` });
      await back();
      expect(await stands()).toEqual({ paused: false, muted: [], status: 'active' });

      await page.goto(`${desk.hub.url}/agents/${name}`);
      await press(page.getByRole('button', { name: 'Leave alone' }), size);
      await press(page.getByRole('button', { name: /^For an hour/ }), size);
      await page.getByText(`${name} is left alone.`).waitFor();
      expect(await leftAlone()).toMatchObject([{ agent_id: name }]);
      await back();
      expect(await leftAlone()).toEqual([]);
      // To take back that it was taken back makes it stand as it stood.
      await boss.set_quiet({ of_agent: name, for_ms: 3_600_000, reason: 'lunch' });
      await page.reload();
      await press(page.getByRole('button', { name: `Undo it for ${name}` }), size);
      await page.getByText('May be woken again.').waitFor();
      await back();
      expect(await leftAlone()).toMatchObject([{ agent_id: name, reason: 'lunch' }]);
      await boss.set_quiet({ of_agent: name, quiet: false });
    });

    test('what an agent failed with stays on Now though the agent works again or is gone, until this person dismisses it', async () => {
      const name = `builder-${size}`;
      const agent = desk.agent(name);
      const person = desk.agent(PERSON, 'operator');
      await agent.heartbeat_session({ runtime: 'codex', status: 'active' });
      await agent.report_event({ event_type: 'task_failed', data: { message: 'npm test failed' } });
      const page = pages[size];
      await page.goto(`${desk.hub.url}/now`);
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

    test('what it failed with is told on the agent’s own page, with the thread it failed in, and dismissed there', async () => {
      const name = `writer-${size}`;
      const agent = desk.agent(name);
      const { thread_id } = await agent.create_thread({ title: 'The mapper', participants: [PERSON] });
      await agent.report_event({ event_type: 'error', thread_id, data: { message: 'the tests hang' } });
      await agent.update_agent_status({ status: 'busy', metadata: { currentTask: 'TASK-3' } });
      const page = pages[size];
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
