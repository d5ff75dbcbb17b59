import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Client } from 'pg';
import { expect, test, vi } from 'vitest';

import { envelopeOf, newPage, sendEnvelope } from '../knowledge/envelope-client.ts';
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

const SETTINGS = {
  'wake.grace_ms': 0,
  'quota.messages_burst': 100_000,
  'quota.messages_per_minute': 1_000_000,
  'envelope.requests_per_minute': 100_000,
  'queue.retry_ms': 50,
  'queue.retry_max_ms': 200,
};

describeWith(['postgres', 'nats-server'], 'what three hubs do of themselves', () => {
  const nodes = useNodes({ settings: SETTINGS });

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

  const editor = () => nodes.token('ed', { role: 'orchestrator' });

  async function accept(node: number, page = newPage()): Promise<string> {
    const envelope = envelopeOf('knowledge.create_document', page);
    const headers = { prefer: 'respond-async' };
    const { status, body } = await sendEnvelope(nodes.hubs[node]?.url ?? '', editor(), envelope, { headers });
    expect([status, body]).toMatchObject([202, { ok: true }]);
    return String(body.data?.['delivery_id']);
  }

  const find = async (node: number, delivery_id: string) =>
    (await nodes.ok(node, editor(), 'get_delivery', { delivery_id })).delivery;

  const ended = (node: number, id: string, timeout = 20_000) =>
    vi.waitFor(
      async () => {
        const delivery = await find(node, id);
        expect(delivery.status).not.toBe('waiting');
        return delivery;
      },
      { timeout, interval: 50 },
    );

  /** What the stream holds, and how the consumer is set up. */
  async function stream() {
    const connection = await connect({ servers: nodes.nats.url });
    try {
      const manager = await jetstreamManager(connection);
      const [found] = await manager.streams.list().next();
      const name = found?.config.name ?? '';
      const { config, num_ack_pending } = await manager.consumers.info(name, 'queue');
      return { retention: found?.config.retention, messages: found?.state.messages, config, num_ack_pending };
    } finally {
      await connection.close();
    }
  }

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
      const asleep = { thread_id, target_agent_id: name };
      // Who asks again at another node is told what became of it, and nobody is woken twice.
      const { result } = await nodes.ok(node, nodes.token('ann'), 'trigger_participant', asleep);
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

  test('[KNOW-3] the word that a delivery is due goes over a work queue with an ack wait and a bound, and leaves nothing behind', async () => {
    const ids = await Promise.all([0, 1, 2, 0, 1, 2].map((node) => accept(node)));
    for (const id of ids) expect(await ended(0, id)).toMatchObject({ status: 'done', attempts: 1 });
    await expect.poll(stream, { timeout: 10_000 }).toMatchObject({
      retention: 'workqueue',
      messages: 0,
      num_ack_pending: 0,
      config: { ack_policy: 'explicit', ack_wait: 6_000_000_000, max_deliver: 1_000 },
    });
  }, 60_000);

  test('[KNOW-3] [C-ASYNC-04] [C-ASYNC-05] a poison letter of one node is dead at all, and redriven through another it has one effect', async () => {
    const parent = newPage();
    const child = newPage({ parent_id: parent.document_id });
    const id = await accept(0, child);
    expect(await ended(1, id)).toMatchObject({ status: 'dead', error: { code: 'NOT_FOUND' } });
    expect(await ended(2, await accept(1, parent))).toMatchObject({ status: 'done' });
    const redriven = await Promise.all(
      [1, 2].map((node) => nodes.ok(node, editor(), 'redrive_deliveries', { delivery_ids: [id] })),
    );
    expect(redriven.flatMap(({ deliveries }) => deliveries).filter((one) => one.redriven)).toHaveLength(1);
    expect(await ended(0, id)).toMatchObject({ status: 'done', redrives: 1 });
    const { document } = await nodes.ok(2, editor(), 'get_document', { document_id: child.document_id });
    expect(document.revision).toBe(1);
  }, 60_000);

  test('[KNOW-3] [R8] without NATS the record alone carries the queue, and with it the stream is used again', async () => {
    await nodes.nats.kill();
    const away = await Promise.all([0, 1, 2].map((node) => accept(node)));
    for (const id of away) expect(await ended(0, id, 30_000)).toMatchObject({ status: 'done' });
    await nodes.nats.start();
    await expect
      .poll(
        async () => {
          const id = await accept(1);
          const begun = performance.now();
          await ended(2, id);
          return performance.now() - begun;
        },
        { timeout: 30_000 },
      )
      .toBeLessThan(2_000);
    await expect.poll(async () => (await stream()).messages, { timeout: 15_000 }).toBe(0);
  }, 120_000);

  // The last of them: who is left at the end has nobody beside it.
  test('[R2] [KNOW-3] [C-ASYNC-02] nodes that are killed in the midst leave their jobs to the one that is left within ten seconds, which carries out what was accepted, once; and one that stops gives them back', async () => {
    // The one that will be left has no job: those of one that stopped are the others'.
    await nodes.hubs[2]?.stop();
    await expect.poll(async () => (await owners()).size, { timeout: 10_000 }).toBe(JOBS.length);
    await nodes.restart(2);
    const dead = new Set((await owners()).values());
    const { wakes } = await sleeper(2, 'late');
    const thread_id = await thread(2, 'late');
    const pages = Array.from({ length: 24 }, () => newPage());
    const ids = await Promise.all(pages.map((page, i) => accept(i % 3, page)));
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
    for (const id of ids) expect(await ended(2, id)).toMatchObject({ status: 'done' });
    console.log(
      `all of ${ids.length} deliveries done ${(performance.now() - died).toFixed(0)} ms after the kill`,
    );
    for (const { document_id } of pages)
      expect((await nodes.ok(2, editor(), 'get_document', { document_id })).document.revision).toBe(1);
    await expect.poll(async () => (await stream()).messages, { timeout: 15_000 }).toBe(0);
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
  }, 90_000);
});
