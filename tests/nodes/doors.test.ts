import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { OperationName } from '@parley/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { freshFolder, type HubProcess, startHub } from '../harness/start-hub.ts';
import { type NatsServer, startNats } from '../harness/start-nats.ts';
import { type PostgresServer, startPostgres } from '../harness/start-postgres.ts';
import { registerSigner, type Signer } from '../harness/tokens.ts';
import { succeeded } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';

const CODEX = fileURLToPath(new URL('../wake/telling-codex.mjs', import.meta.url));
const THREAD = '019a0000-0000-7000-8000-000000000001';

describeWith(['postgres', 'nats-server'], 'a door that opens only on the machine of the agent', () => {
  let postgres: PostgresServer;
  let nats: NatsServer;
  let signer: Signer;
  let waker: HubProcess;
  let there: HubProcess;
  const data = freshFolder();
  const work = join(dirname(data), 'work');
  mkdirSync(work, { recursive: true });
  const wake = { 'wake.grace_ms': 20, 'wake.recheck_ms': 50 };
  const flags = () => ['--store', postgres.url, '--nats', nats.url];
  const agent = { workspace: 'w1', runtime: 'codex', bin: CODEX, cwd: work, home: work };
  const agents = JSON.stringify([
    { ...agent, agent: 'resumed', doors: ['resume'] },
    { ...agent, agent: 'fresh', doors: ['new'] },
    { ...agent, agent: 'early', doors: ['new'] },
  ]);

  beforeAll(async () => {
    [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
    // The first has every job; the programs are where the second is, which comes with the first test.
    waker = await startHub({ flags: flags(), settings: wake });
    signer = await registerSigner('test-key', waker);
  }, 120_000);
  afterAll(async () => {
    await Promise.all([waker, there].map(async (hub) => (hub.ended() ? undefined : hub.stop())));
    await nats.kill();
    await postgres.close();
  }, 240_000);

  const call = async <N extends OperationName>(hub: HubProcess, who: string, name: N, input: object) =>
    succeeded(await v1Driver.call(hub.url, signer.token({ agent: who }), name, input));

  function started(): { args: string[]; prompt: string }[] {
    const file = join(work, 'started.jsonl');
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line) as { args: string[]; prompt: string });
  }

  async function callUpon(hub: HubProcess, to: string, thread_id: string): Promise<string> {
    const said = { thread_id, schema_version: 1, body: 'please look', to };
    return (await call(hub, 'ann', 'post_message', said)).message_id;
  }

  test('a call that came before the node with the way to the agent is made up for when that node is there', async () => {
    await call(waker, 'early', 'heartbeat_session', { runtime: 'codex_cli', status: 'idle' });
    const { thread_id } = await call(waker, 'ann', 'create_thread', {
      title: 'early',
      participants: ['early'],
    });
    await callUpon(waker, 'early', thread_id);
    // Long enough for the call to be looked at and passed by.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    there = await startHub({ data, flags: flags(), settings: { ...wake, 'wake.agents': agents } });
    await expect.poll(() => started().length, { timeout: 60_000 }).toBe(1);
    expect(started()[0]?.prompt).toContain(thread_id);
  }, 240_000);

  test('a call wakes an agent whose program is on the machine of another node, there, once, and the record says by which door', async () => {
    for (const who of ['resumed', 'fresh']) {
      const n = started().length;
      const resumed = { resumable: true, native_session_id: THREAD };
      const beat = { runtime: 'codex_cli', status: 'idle', ...(who === 'resumed' ? resumed : {}) };
      await call(there, who, 'heartbeat_session', beat);
      const { thread_id } = await call(waker, 'ann', 'create_thread', { title: who, participants: [who] });
      const message_id = await callUpon(waker, who, thread_id);
      await expect.poll(() => started().length, { timeout: 60_000 }).toBe(n + 1);
      expect(started()[n]?.args).toContain('exec');
      expect(started()[n]?.prompt).toContain(thread_id);
      const journal = await call(there, 'ann', 'get_message_evidence', { thread_id, message_id });
      expect(JSON.stringify(journal)).toMatch(/"door":"codex_(resume|new)"/);
      await new Promise((resolve) => setTimeout(resolve, 500));
      expect(started()).toHaveLength(n + 1);
    }
  }, 240_000);

  test('when the node that wakes is killed, the other goes on by its own door', async () => {
    const { thread_id } = await call(there, 'ann', 'create_thread', {
      title: 'after',
      participants: ['fresh'],
    });
    const before = started().length;
    await waker.kill();
    await callUpon(there, 'fresh', thread_id);
    await expect.poll(() => started().length, { timeout: 60_000 }).toBe(before + 1);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(started()).toHaveLength(before + 1);
  }, 240_000);
});
