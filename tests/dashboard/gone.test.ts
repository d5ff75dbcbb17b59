import { afterAll, beforeAll, expect, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, type Desk, openDesk, PATIENCE_MS } from './desk.ts';

allowForBrowsers();

describeWith(['chromium'], 'an ask whose agent is gone', () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await openDesk({ settings: { 'sessions.return_ms': 3_600_000 } });
  });
  afterAll(async () => {
    await desk.close();
  });

  test(
    'says so while it is looked at, on a tablet and on a phone',
    { timeout: 2 * PATIENCE_MS },
    async () => {
      const agent = desk.agent('builder');
      await agent.heartbeat_session({ runtime: 'codex', status: 'active' });
      const command = 'git push origin main';
      await agent.raise_ask({ kind: 'approval', prompt: 'to publish it', command, expires_in_ms: 3_600_000 });
      for (const size of ['tablet', 'phone'] as const) {
        const page = await (await desk.context(size)).newPage();
        await page.goto(await desk.link());
        const card = page.locator('[data-ask]');
        await card.waitFor();
        expect(await card.locator('.ask-gone').count()).toBe(0);
        await agent.heartbeat_session({ runtime: 'codex', status: 'offline' });
        await card.locator('.ask-gone').waitFor();
        expect(await card.locator('.ask-gone').innerText()).toContain(
          'The agent is gone; an answer reaches nobody.',
        );
        await agent.heartbeat_session({ runtime: 'codex', status: 'active' });
        await card.locator('.ask-gone').waitFor({ state: 'detached' });
      }
    },
  );
});
