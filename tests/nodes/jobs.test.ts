import { Client } from 'pg';
import { expect, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { dial, type LiveClient, registration } from '../ws/live-client.ts';
import { useNodes } from './use-nodes.ts';

/** Every job of the hub, one lease each. */
const JOBS = [
  'asks',
  'clock',
  'forgetting',
  'keys',
  'mutes',
  'nonces',
  'notifications',
  'queue',
  'states',
  'tree',
  'usage',
  'wakes',
];

describeWith(['postgres', 'nats-server'], 'the jobs of three hubs', () => {
  const nodes = useNodes({ settings: { 'wake.grace_ms': 0 } });

  /** Who has each lease whose time is not over. */
  async function owners(): Promise<Map<string, string>> {
    const client = new Client({
      connectionString: nodes.postgres.url,
      options: '-c parley.every_workspace=on',
    });
    await client.connect();
    const query = "SELECT key, json FROM parley.records WHERE kind = 'lease' AND owner <> ''";
    const { rows } = await client.query<{ key: string; json: string }>(query);
    await client.end();
    const leases = rows.map(({ json }) => JSON.parse(json) as { name: string; owner: string; until: string });
    const held = leases.filter(({ until }) => Date.parse(until) > Date.now());
    return new Map(held.map(({ name, owner }) => [name, owner]));
  }

  /** An agent that takes wakes, and notes each. */
  async function sleeper(node: number, name: string): Promise<{ link: LiveClient; wakes: string[] }> {
    const link = await dial(nodes.hubs[node]?.url ?? '', name, nodes.token(name));
    const wakes: string[] = [];
    link.on(({ type, id, source, payload }) => {
      if (type !== 'command') return;
      if (payload.command === 'wake') wakes.push(JSON.stringify(payload.parameters));
      link.say('command_response', source, { requestId: id, success: true, result: {}, executionTime: 1 });
    });
    await link.hub('register_agent', { ...registration, capabilities: ['wake'] });
    return { link, wakes };
  }

  async function thread(node: number, other: string): Promise<string> {
    const input = { title: 'x', participants: [other] };
    return (await nodes.ok(node, nodes.token('ann'), 'create_thread', input)).thread_id;
  }

  const call = (node: number, thread_id: string, name: string) =>
    nodes.ok(node, nodes.token('ann'), 'post_message', {
      thread_id,
      schema_version: 1,
      body: `@${name} please look`,
      to: name,
    });

  test('[R2] each job has one owner', async () => {
    await expect.poll(async () => [...(await owners()).keys()].toSorted(), { timeout: 10_000 }).toEqual(JOBS);
  });

  test('whom a message calls upon is woken once, whichever node took the message and whichever it is connected to', async () => {
    for (const node of [0, 1, 2]) {
      const name = `sleeper-${node}`;
      const { wakes } = await sleeper(node, name);
      const thread_id = await thread((node + 1) % 3, name);
      await call((node + 2) % 3, thread_id, name);
      await expect.poll(() => wakes.length, { timeout: 10_000 }).toBe(1);
      const about = { thread_id, target_agent_id: name };
      // Who asks again at another node is told what became of it, and nobody is woken twice.
      const { result } = await nodes.ok(node, nodes.token('ann'), 'trigger_participant', about);
      expect(['delivered', 'skipped']).toContain(result);
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(wakes).toHaveLength(1);
    }
  }, 60_000);

  test('[HUB-W7] who comes back to any node is woken for what came meanwhile, also before it registers', async () => {
    const name = 'returner';
    const { link } = await sleeper(0, name);
    const thread_id = await thread(1, name);
    await link.close();
    await call(2, thread_id, name);
    const outcomes = async () => {
      const input = { thread_id, message_id: '1' };
      return (await nodes.ok(1, nodes.token('ann'), 'get_message_evidence', input)).woken;
    };
    await expect
      .poll(outcomes, { timeout: 10_000 })
      .toMatchObject([{ agent_id: name, result: 'skipped', why: 'no_door' }]);
    const back = await dial(nodes.hubs[1]?.url ?? '', name, nodes.token(name));
    const { payload } = await back.until(({ type }) => type === 'command');
    expect(payload).toMatchObject({ command: 'wake', parameters: { thread_id } });
  }, 60_000);

  test('[R2] nodes that are killed leave their jobs to the one that is left within ten seconds, and one that stops gives them back', async () => {
    // The one that will be left has no job: those of one that stopped are the others'.
    await nodes.hubs[2]?.stop();
    await expect.poll(async () => (await owners()).size, { timeout: 10_000 }).toBe(JOBS.length);
    await nodes.restart(2);
    const dead = new Set((await owners()).values());
    const { wakes } = await sleeper(2, 'late');
    const thread_id = await thread(2, 'late');
    await Promise.all([nodes.hubs[0]?.kill(), nodes.hubs[1]?.kill()]);
    const died = performance.now();
    await call(2, thread_id, 'late');
    await expect
      .poll(
        async () => {
          const now = [...(await owners()).values()];
          return now.filter((owner) => !dead.has(owner)).length;
        },
        { timeout: 15_000 },
      )
      .toBe(JOBS.length);
    const taken = performance.now() - died;
    console.log(`all jobs of two killed nodes taken over in ${taken.toFixed(0)} ms`);
    expect(taken).toBeLessThan(10_000);
    await expect.poll(() => wakes.length, { timeout: 10_000 }).toBe(1);
    await nodes.restart(0);
    const before = new Set((await owners()).values());
    await nodes.hubs[2]?.stop();
    const stopped = performance.now();
    await expect
      .poll(
        async () => {
          const now = await owners();
          return [...now.values()].filter((owner) => !before.has(owner)).length;
        },
        { timeout: 10_000 },
      )
      .toBe(JOBS.length);
    console.log(`given back and taken in ${(performance.now() - stopped).toFixed(0)} ms`);
    await Promise.all([nodes.restart(1), nodes.restart(2)]);
  }, 90_000);
});
