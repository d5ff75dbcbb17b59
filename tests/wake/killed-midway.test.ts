import { type Client, createClient, openAgent } from '@parley/client';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';

import { type CrashHub, startHub, temporaryFolder, tokenFor } from '../faults/crash-hub.ts';
import { openSupervisor } from './scripted-supervisor.ts';

const PATIENT = { timeout: 60_000 };
const LONG = { timeout: 120_000 };

/** A hub that is killed while it waits for the answer of whoever it has just given a wake, and comes back at its place. */
async function openScene() {
  const folder = temporaryFolder();
  let hub: CrashHub = await startHub(folder);
  const url = hub.url;
  const as = async (agent: string, role = 'worker'): Promise<Client> =>
    createClient({ url, token: await tokenFor(folder, agent, { role }) });
  const ann = await as('ann', 'operator');
  let said: { thread_id: string; message_id: string } | undefined;
  return {
    url,
    as,
    token: () => tokenFor(folder, 'bob'),
    async say(): Promise<void> {
      const { thread_id } = await ann.create_thread({ title: 'a call', participants: ['bob'] });
      said = { thread_id, ...(await ann.post_message({ thread_id, schema_version: 1, body: 'look' })) };
    },
    kill: () => hub.end('SIGKILL'),
    async restart(): Promise<void> {
      hub = await startHub(folder, { port: Number(new URL(url).port) });
    },
    async woken() {
      const { thread_id, message_id } = said!;
      const { woken } = await ann.get_message_evidence({ thread_id, message_id });
      return woken.map(({ trigger_id, result, door }) => ({ trigger_id, result, door }));
    },
    async steps() {
      const { journal_thread_id } = await ann.get_agent({ of_agent: 'bob' });
      const { messages } = await ann.read_messages({ thread_id: journal_thread_id ?? '', limit: 200 });
      return messages.flatMap(({ metadata = {} }) => (metadata['step'] === undefined ? [] : [metadata]));
    },
  };
}

/** Nobody is told twice although the messages stay unread: neither by what goes on nor by whoever comes back. */
async function expectOnce(
  scene: Awaited<ReturnType<typeof openScene>>,
  given: { trigger_id: string; door: string },
): Promise<void> {
  await expect.poll(() => scene.woken(), PATIENT).toEqual([{ ...given, result: 'delivered' }]);
  const steps = await scene.steps();
  expect(steps.filter(({ step }) => step === 'asked')).toHaveLength(1);
  expect(steps.filter(({ step }) => step === 'delivering').map(({ again }) => again)).toEqual([
    undefined,
    true,
  ]);
}

test(
  '[HUB-W7] an agent that takes wakes itself is not woken twice by a hub that was killed before it heard so',
  LONG,
  async () => {
    const scene = await openScene();
    const taken: string[] = [];
    const agent = await openAgent({
      url: scene.url,
      token: await scene.token(),
      name: 'bob',
      WebSocket,
      reconnectMs: 500,
      patienceMs: 500,
      commands: {
        async wake({ trigger_id }) {
          taken.push(String(trigger_id));
          if (taken.length === 1) await scene.kill();
          return { delivered: true, proof: 'runtime_record' };
        },
      },
    });
    onTestFinished(() => agent.close().catch(() => {}));
    await scene.say();
    await expect.poll(() => taken.length, PATIENT).toBe(1);
    await scene.restart();
    await expectOnce(scene, { trigger_id: taken[0] ?? '', door: 'command' });
    expect(taken).toHaveLength(1);
  },
);

test(
  '[HUB-W7] a supervisor is asked for the very same delivery, so that nothing is typed twice',
  LONG,
  async () => {
    const scene = await openScene();
    const supervisor = await openSupervisor(scene.url, await scene.token());
    onTestFinished(() => supervisor.close().catch(() => {}));
    const { answer } = supervisor;
    supervisor.answer = () => {
      if (supervisor.delivered.length === 1) void scene.kill();
      return supervisor.delivered.length === 1 ? {} : answer();
    };
    await scene.say();
    await expect.poll(() => supervisor.delivered.length, PATIENT).toBe(1);
    await scene.kill();
    await scene.restart();
    await expect.poll(() => supervisor.delivered.length, PATIENT).toBe(2);
    const [first, second] = supervisor.delivered;
    expect([second?.['delivery_id'], second?.['text']]).toEqual([first?.['delivery_id'], first?.['text']]);
    const [trigger_id = ''] = String(first?.['delivery_id']).split('-');
    await expectOnce(scene, { trigger_id, door: 'supervisor' });
  },
);

test.each([
  ['has it in its transcript is not given it again', true],
  ['never got it is given it once more, under the same name', false],
])('[HUB-W7] a Claude Code whose hook %s', LONG, async (_name, isHeld) => {
  const scene = await openScene();
  const bob = await scene.as('bob');
  const about = { native_session_id: '019a0000-0000-7000-8000-000000000000' };
  const beat = () =>
    bob.heartbeat_session({ ...about, runtime: 'claude_code', resumable: true, status: 'idle' });
  const wait = (seen: string[]) => bob.wait_for_wake({ ...about, seen, timeout_ms: 20_000 });
  const first = wait([]);
  await beat();
  await scene.say();
  const { wake } = await first;
  await scene.kill();
  await scene.restart();
  const trigger_id = wake?.trigger_id ?? '';
  const second = wait(isHeld ? [trigger_id] : []);
  second.catch(() => {});
  await beat();
  if (!isHeld) {
    expect((await second).wake).toEqual(wake);
    await bob.wait_for_wake({ ...about, took: trigger_id, timeout_ms: 0 });
    void wait([trigger_id]).catch(() => {});
  }
  await expectOnce(scene, { trigger_id, door: 'claude_hook' });
  if (isHeld)
    expect(await Promise.race([second, scene.steps().then(() => 'it waits on')])).toBe('it waits on');
});
