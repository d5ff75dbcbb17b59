import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { expect, test, vi } from 'vitest';

import { envelopeOf, newPage, sendEnvelope } from '../knowledge/envelope-client.ts';
import { describeWith } from '../tools/describe-with.ts';
import { useNodes } from './use-nodes.ts';

const settings = {
  'quota.messages_burst': 100_000,
  'quota.messages_per_minute': 1_000_000,
  'envelope.requests_per_minute': 100_000,
  'queue.retry_ms': 50,
  'queue.retry_max_ms': 200,
};

describeWith(['postgres', 'nats-server'], 'the queue of three hubs over JetStream', () => {
  const nodes = useNodes({ settings });
  const token = () => nodes.token('ed', { role: 'orchestrator' });

  async function accept(node: number, page = newPage()): Promise<string> {
    const envelope = envelopeOf('knowledge.create_document', page);
    const headers = { prefer: 'respond-async' };
    const { status, body } = await sendEnvelope(nodes.hubs[node]?.url ?? '', token(), envelope, { headers });
    expect([status, body]).toMatchObject([202, { ok: true }]);
    return String(body.data?.['delivery_id']);
  }

  const find = async (node: number, delivery_id: string) =>
    (await nodes.ok(node, token(), 'get_delivery', { delivery_id })).delivery;

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
      [1, 2].map((node) => nodes.ok(node, token(), 'redrive_deliveries', { delivery_ids: [id] })),
    );
    expect(redriven.flatMap(({ deliveries }) => deliveries).filter((one) => one.redriven)).toHaveLength(1);
    expect(await ended(0, id)).toMatchObject({ status: 'done', redrives: 1 });
    const { document } = await nodes.ok(2, token(), 'get_document', { document_id: child.document_id });
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

  // The last of them: only one node is left.
  test('[KNOW-3] [C-ASYNC-02] nodes that are killed in the midst: what was accepted is carried out within ten seconds by whoever is left, once', async () => {
    const pages = Array.from({ length: 24 }, () => newPage());
    const ids = await Promise.all(pages.map((page, i) => accept(i % 3, page)));
    await Promise.all([nodes.hubs[0]?.kill(), nodes.hubs[1]?.kill()]);
    const died = performance.now();
    for (const id of ids) expect(await ended(2, id)).toMatchObject({ status: 'done' });
    console.log(
      `all of ${ids.length} deliveries done ${(performance.now() - died).toFixed(0)} ms after the kill`,
    );
    for (const { document_id } of pages)
      expect((await nodes.ok(2, token(), 'get_document', { document_id })).document.revision).toBe(1);
    await expect.poll(async () => (await stream()).messages, { timeout: 15_000 }).toBe(0);
  }, 120_000);
});
