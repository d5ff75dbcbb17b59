import { expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { useHub } from '../harness/use-hub.ts';
import { dial, type LiveClient } from '../ws/live-client.ts';

const scene = useHub();

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test.each(['operator', 'worker'])(
  'one answer to a status request is one status update, with a target too (%s)',
  async (role) => {
    const { url } = scene.hub;
    const token = scene.as(`asker-${role}`, { role, session: 'elsewhere' }).token;
    const asker = await dial(url, `asker-${role}`, scene.as(`asker-${role}`, { role }).token);
    const elsewhere = await dial(url, `asker-${role}`, token);
    const agent = await dial(url, 'agent', scene.as('agent').token);
    await agent.hub('register_agent', { name: 'Agent' });
    agent.on((message) => {
      if (message.type !== 'status_request') return;
      agent.say('status_update', message.source, {
        agentId: 'agent',
        status: 'busy',
        capabilities: [],
        requestId: message.id,
      });
    });
    // Whoever is connected hears that the agent has come.
    await elsewhere.until(({ type }) => type === 'status_update');
    await asker.until(({ type }) => type === 'status_update');
    for (const watches of role === 'worker' ? [false] : [false, true]) {
      if (watches) await asker.hub('follow_workspace');
      const told = ({ heard }: LiveClient) => heard.filter(({ type }) => type === 'status_update').length;
      const before = [told(asker), told(elsewhere)];
      const answer = await asker.ask('status_request', 'agent', {});
      expect(answer.payload.status).toBe('busy');
      await pause(500);
      expect([told(asker), told(elsewhere)]).toEqual([(before[0] ?? 0) + 1, before[1]]);
    }
  },
);

test('the limits are told in the handshake and upon registration, and an agent at work has room', async () => {
  const { url } = scene.hub;
  const upgrade = new Promise<string>((resolve) => {
    const { token } = scene.as('busy');
    const ws = new WebSocket(`${url.replace('http', 'ws')}/ws`, {
      headers: { authorization: `Bearer ${token}` },
    });
    ws.on('upgrade', ({ headers }) => {
      resolve(String(headers['parley-limits']));
      ws.on('open', () => ws.close());
    });
  });
  expect(await upgrade).toBe(
    'client;per_minute=60;burst=60, agent;per_minute=6000;burst=1000, frame;bytes=131072',
  );
  const agent = await dial(url, 'busy', scene.as('busy').token);
  const { limits } = await agent.hub<{ limits: object }>('register_agent', { name: 'Busy' });
  expect(limits).toEqual({ messagesPerMinute: 6_000, messagesBurst: 1_000, frameBytes: 131_072 });
  for (let i = 0; i < 80; i++) await agent.hub('whoami');
});
