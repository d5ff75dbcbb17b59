import type { LiveType } from '@parley/protocol';
import { expect, test } from 'vitest';

import { storedMessages } from '../harness/oracle.ts';
import { send } from '../harness/send.ts';
import { freshFolder, startHub } from '../harness/start-hub.ts';
import { issueToken } from '../harness/tokens.ts';
import { useHub } from '../harness/use-hub.ts';
import { EXAMPLES } from './examples.ts';
import { dial, type Heard, type LiveClient } from './live-client.ts';

const scene = useHub();

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

interface Who {
  workspace: string;
  role?: string;
}

const connect = (agent: string, who: Who): Promise<LiveClient> =>
  dial(scene.hub.url, agent, scene.as(agent, who).token);

const example = (type: LiveType): Heard => JSON.parse(EXAMPLES[type]) as Heard;

/** The example as it comes in: its own words, under an id and a time of the hub (C-WS-13, C-WS-08). */
function arrives(heard: Heard, type: LiveType, more: object = {}): void {
  const { id, timestamp, ...words } = example(type);
  expect(heard).toEqual({ ...words, ...more, id: heard.id, timestamp: heard.timestamp });
  expect(heard.id).toMatch(UUID);
  expect(heard.id).not.toBe(id);
  expect(Date.parse(heard.timestamp)).toBeGreaterThan(Date.parse(timestamp));
}

test.each(['asked', 'unasked'])(
  '[LIVE-1] [LIVE-3] [LIVE-4] the status of the examples, %s: sent and received word for word',
  async (how) => {
    const who = { workspace: `w-status-${how}` };
    const dashboard = await connect('dashboard-backend', { ...who, role: 'operator' });
    const agent = await connect('atreides-agent', who);
    if (how === 'asked') {
      dashboard.ws.send(EXAMPLES.status_request);
      const asked = await agent.until(({ type }) => type === 'status_request');
      // The agent is told with which right it is asked; the empty payload that the schema gives is spelt out.
      arrives(asked, 'status_request', { payload: {}, sourceRole: 'operator' });
    }
    agent.ws.send(EXAMPLES.status_update);
    const update = await dashboard.until(({ type }) => type === 'status_update');
    const { payload } = example('status_update');
    // When it was seen the hub says (C-WS-08), and which request it answers.
    const requestId = how === 'asked' ? { requestId: example('status_request').id } : {};
    arrives(update, 'status_update', {
      payload: { ...payload, lastSeen: update.payload.lastSeen, ...requestId },
    });
    const { agents } = await scene
      .as('dashboard-backend', { ...who, role: 'operator' })
      .ok('list_agents', {});
    expect(agents.find(({ agent_id }) => agent_id === 'atreides-agent')).toMatchObject({
      status: 'online',
      capabilities: payload.capabilities,
      metadata: payload.metadata,
      instances: ['atreides-001'],
    });
  },
);

test.each(['the id it was given', 'the id of the document'])(
  '[LIVE-1] [LIVE-5] the command of the examples and its answer, by %s',
  async (by) => {
    const who = { workspace: `w-command-${by.length}` };
    const dashboard = await connect('dashboard-backend', { ...who, role: 'operator' });
    const agent = await connect('sisyphus-agent', who);
    dashboard.ws.send(EXAMPLES.command);
    const command = await agent.until(({ type }) => type === 'command');
    arrives(command, 'command', { sourceRole: 'operator' });
    const { id } = example('command');
    agent.ws.send(
      by === 'the id it was given'
        ? EXAMPLES.command_response.replace(id, command.id)
        : EXAMPLES.command_response,
    );
    const answer = await dashboard.until(({ type }) => type === 'command_response');
    arrives(answer, 'command_response');
    expect(answer.payload.requestId).toBe(id);
  },
);

test('[LIVE-1] [LIVE-7] [LIVE-8] the event and the error of the examples, sent twice, over /ws and over HTTP', async () => {
  const who = { workspace: 'w-told' };
  const dashboard = await connect('dashboard-backend', { ...who, role: 'operator' });
  const [atreides, sisyphus] = [await connect('atreides-agent', who), await connect('sisyphus-agent', who)];
  for (const [client, type] of [
    [atreides, 'event'],
    [sisyphus, 'error'],
  ] as const) {
    client.ws.send(EXAMPLES[type]);
    arrives(await dashboard.until((message) => message.type === type), type);
    client.ws.send(EXAMPLES[type]);
    await client.hub('list_threads');
    const again = await send(`${scene.hub.url}/v1/live/messages`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${scene.as(client.agent, who).token}`,
        'content-type': 'application/json',
      },
      body: EXAMPLES[type],
    });
    expect([again.status, again.text]).toEqual([202, '{"accepted":true}']);
    const other = { ...example(type), target: 'sisyphus-agent' };
    client.ws.send(JSON.stringify(other));
    expect(
      (await client.until((message) => message.type === 'error' && message.source === 'parley')).payload,
    ).toMatchObject({ code: 'INVALID_COMMAND', details: { field: 'id', reason: 'repeated_id' } });
    await dashboard.hub('list_threads');
    expect(dashboard.heard.filter((message) => message.type === type)).toHaveLength(1);
  }
  const stored = (await storedMessages(scene.hub.data)).filter((row) =>
    JSON.stringify(row).includes('task-456'),
  );
  expect(stored).toHaveLength(1);
});

test('[LIVE-9] an instance goes by a name of its own and is bound to the agent of its token', async () => {
  const who = { workspace: 'w-instances' };
  const registration = {
    agentId: 'atreides-001',
    name: 'Atreides',
    type: 'atreides',
    capabilities: ['research'],
    endpoint: 'ws://127.0.0.1:9000/ws',
  };
  const dashboard = await connect('dashboard-backend', { ...who, role: 'operator' });
  const agent = await connect('atreides-agent', who);
  await agent.hub('register_agent', registration);
  await connect('atreides-002', who);
  const twin = await connect('atreides-planner', who);
  const refused = async (client: LiveClient, agentId: string): Promise<void> => {
    const payload = { eventType: 'info', agentId, data: {} };
    const answers = await Promise.all([
      client.ask('event', undefined, payload),
      client.ask('status_update', undefined, { agentId, status: 'busy', capabilities: [] }),
      client.ask('command', 'parley', {
        command: 'register_agent',
        parameters: { ...registration, agentId },
      }),
    ]);
    for (const { type, payload: reported } of answers)
      expect([agentId, type, reported.code]).toEqual([agentId, 'error', 'UNAUTHORIZED']);
  };
  // Another's instance, another who is there, and one who is not kin.
  await refused(twin, 'atreides-001');
  await refused(agent, 'atreides-002');
  await refused(agent, 'sisyphus-001');
  await refused(agent, 'atreides');
  // A command to the instance reaches the agent.
  const asked = dashboard.ask('command', 'atreides-001', { command: 'research' });
  const { id, target } = await agent.until(({ type }) => type === 'command');
  expect(target).toBe('atreides-agent');
  agent.say('command_response', 'dashboard-backend', { requestId: id, success: true, executionTime: 1 });
  expect((await asked).payload).toMatchObject({ success: true });
  await agent.close();
  expect((await dashboard.ask('command', 'atreides-001', { command: 'research' })).payload.code).toBe(
    'AGENT_OFFLINE',
  );
});

test('[LIVE-6] [C-WS-10] whoever was ever here is offline, and not unknown', async () => {
  const who = { workspace: 'w-known' };
  const dashboard = await connect('dashboard-backend', { ...who, role: 'operator' });
  const silent = await connect('silent', who);
  await silent.close();
  await scene.as('writer', who).thread('reader');
  const code = async (target: string): Promise<string> =>
    (await dashboard.ask('command', target, { command: 'x' })).payload.code;
  await expect.poll(() => code('silent')).toBe('AGENT_OFFLINE');
  expect(await Promise.all(['writer', 'reader', 'ghost'].map(code))).toEqual([
    'AGENT_OFFLINE',
    'AGENT_OFFLINE',
    'AGENT_NOT_FOUND',
  ]);
});

test('[LIVE-7] the event of the examples, sent again to a hub that was restarted meanwhile, is written once', async () => {
  const data = freshFolder();
  const { token } = await issueToken({ agent: 'atreides-agent' }, { data });
  for (let start = 0; start < 2; start++) {
    const hub = await startHub({ data });
    const agent = await dial(hub.url, 'atreides-agent', token);
    agent.ws.send(EXAMPLES.event);
    await agent.hub('list_threads');
    expect(agent.heard.filter(({ type }) => type === 'error')).toEqual([]);
    await agent.close();
    await hub.stop();
  }
  expect((await storedMessages(data)).filter((row) => JSON.stringify(row).includes('task-456'))).toHaveLength(
    1,
  );
});
