import { expect, test } from 'vitest';

import { runCli } from '../harness/run-cli.ts';
import { send } from '../harness/send.ts';
import { describeWith } from '../tools/describe-with.ts';
import { useNodes } from './use-nodes.ts';

describeWith(['postgres', 'nats-server'], 'two hubs whose NATS goes away', () => {
  const nodes = useNodes({ count: 2 });

  const urlOf = (node: number): string => nodes.hubs[node]?.url ?? '';
  const dataOf = (node: number): string => nodes.hubs[node]?.data ?? '';
  const ready = async (node: number) => {
    const { status, text } = await send(`${urlOf(node)}/readyz`);
    return { status, ...(JSON.parse(text) as { ok: boolean; degraded?: string[] }) };
  };
  const about = (node: number) => nodes.ok(node, nodes.token('op', { role: 'operator' }), 'describe_hub', {});
  const gauge = async (name: string): Promise<string | undefined> => {
    const authorization = `Bearer ${nodes.token('op', { role: 'operator', workspace: 'default' })}`;
    const { text } = await send(`${urlOf(0)}/metrics`, { headers: { authorization } });
    return new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1];
  };
  const doctor = async () => {
    const { stdout, code } = await runCli(['doctor', '--json'], { data: dataOf(0) });
    const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean; detail: string }[] };
    return { code, nodes: checks.find(({ name }) => name === 'nodes') };
  };

  test('[R6] [R9] NATS away is named by every look at the hub, the node stays ready and serves, and all is well when it is back', async () => {
    const well = { status: 200, ok: true };
    for (const node of [0, 1]) await expect.poll(() => ready(node), { timeout: 10_000 }).toEqual(well);
    await expect
      .poll(async () => (await about(0)).nodes, { timeout: 10_000 })
      .toEqual({ by: 'nats', connected: true, others: 1 });
    expect([await gauge('parley_bus_connected'), await gauge('parley_nodes')]).toEqual(['1', '2']);
    expect(await doctor()).toMatchObject({ nodes: undefined });

    await nodes.nats.kill();
    for (const node of [0, 1])
      await expect.poll(() => ready(node), { timeout: 15_000 }).toEqual({ ...well, degraded: ['bus'] });
    expect((await about(0)).nodes).toMatchObject({
      by: 'nats',
      connected: false,
      trouble: expect.stringContaining('NATS'),
    });
    expect(await gauge('parley_bus_connected')).toBe('0');
    const status = await runCli(['status'], { data: dataOf(0) });
    expect(status.stdout).toMatch(/^nodes +the others are not heard \(NATS: .+\)/m);
    expect(await doctor()).toEqual({ code: 1, nodes: expect.objectContaining({ ok: false }) });

    // What is said at one node is heard at the other, by its look at the log.
    const [ann, bob] = [nodes.token('ann'), nodes.token('bob')];
    const { thread_id } = await nodes.ok(0, ann, 'create_thread', { title: 'x', participants: ['bob'] });
    const waiting = nodes.ok(1, bob, 'wait_for_messages', { thread_id, since_seq: 0, timeout_ms: 10_000 });
    await nodes.ok(0, ann, 'post_message', { thread_id, schema_version: 1, body: 'hear me' });
    expect((await waiting).messages).toMatchObject([{ body: 'hear me' }]);

    await nodes.nats.start();
    for (const node of [0, 1]) await expect.poll(() => ready(node), { timeout: 10_000 }).toEqual(well);
    await expect.poll(async () => (await about(1)).nodes?.others, { timeout: 10_000 }).toBe(1);
    expect(await gauge('parley_bus_connected')).toBe('1');
    expect((await runCli(['status'], { data: dataOf(0) })).stdout).toMatch(
      /^nodes +1 other, heard by NATS$/m,
    );
    expect(await doctor()).toMatchObject({ nodes: undefined });
  }, 90_000);
});
