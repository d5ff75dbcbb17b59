import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';

import { openAgent } from '@parley/client';

import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, type Desk, openDesk, PATIENCE_MS, PERSON, press, SIZES } from './desk.ts';

allowForBrowsers();

describeWith(['chromium'], 'steering an agent from its page', () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await openDesk();
  });
  afterAll(async () => {
    await desk.close();
  });

  describe.each(SIZES)('on a %s', (size) => {
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
      const page = await desk.signedIn(size);
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
      const page = await desk.signedIn(size);
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
  });
});
