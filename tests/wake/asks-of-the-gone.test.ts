import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Ask } from '@parley/protocol';
import { expect, onTestFinished, test } from 'vitest';

import { parley } from '../cli/parley.ts';
import { type CrashHub, startHub, temporaryFolder } from '../faults/crash-hub.ts';
import { cleanEnv } from '../harness/start-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { deskOf, managedClaude, type ManagedPlace, runManaged } from './managed-scene.ts';
import { PATIENT, WORKSPACE } from './supervised-scene.ts';

const LONG = { timeout: 240_000 };
const NEVER = 3_600_000;
const GONE = 'the agent is gone; an answer reaches nobody';
const withReturn = (ms: number) => ({ settings: { 'sessions.return_ms': ms } });

/** An agent that asks to run something when it is prompted with `tool`. */
function scripted(): ManagedPlace {
  const folder = temporaryFolder();
  const bin = fileURLToPath(new URL('../runtimes/scripted-acp.mjs', import.meta.url));
  return {
    place: { work: folder },
    bin,
    args: [],
    env: cleanEnv(folder, {}),
  } as unknown as ManagedPlace;
}

const atDesk = (hub: CrashHub, words: string[]) =>
  parley([...words, '--data', hub.folder, '--workspace', WORKSPACE]);

describeWith(['claude'], 'a real program', () => {
  test(
    'Claude Code asks, its session is killed: the person reads that it is gone, and over a restart of the hub the ask is withdrawn',
    LONG,
    async () => {
      const folder = temporaryFolder();
      let hub = await startHub(folder, withReturn(NEVER));
      const place = await managedClaude();
      onTestFinished(() => place.close());
      const run = await runManaged(hub, 'bob', place);
      const desk = await deskOf(() => hub, 'bob');
      await desk.command('prompt', { prompt: 'WANTS one' });
      const asked = await desk.asked();
      expect(asked.agent_gone_since).toBeUndefined();

      process.kill(run.pid, 'SIGKILL');
      await expect.poll(async () => (await desk.ask(asked.ask_id)).agent_gone_since, PATIENT).toBeDefined();
      expect((await desk.asks())[0]?.agent_gone_since).toBeDefined();
      expect((await atDesk(hub, ['ask', 'show', asked.ask_id])).stdout).toContain(GONE);
      expect((await atDesk(hub, ['ask', 'ls'])).stdout).toContain('agent gone');
      expect((await atDesk(hub, ['sessions'])).stdout).toMatch(/bob.*offline/);
      expect(await desk.agent()).toMatchObject({ state: 'offline', open_asks: 1 });

      await hub.end('SIGKILL');
      hub = await startHub(folder, withReturn(500));
      const { verdict } = await withdrawn(desk, asked);
      expect(verdict).toMatchObject({ by: 'parley', device: 'hub', reason: 'the agent is gone' });
      await expect(desk.answer(asked.ask_id, { decision: 'approved' })).rejects.toThrow('CONFLICT');
      expect(existsSync(join(place.place.work, 'one'))).toBe(false);
    },
  );
});

test(
  'a session that is killed leaves no ask behind; what a person says before is told to reach nobody',
  LONG,
  async () => {
    const hub = await startHub(temporaryFolder(), withReturn(NEVER));
    const run = await runManaged(hub, 'frail', scripted(), ['--acp']);
    const desk = await deskOf(() => hub, 'frail');
    await desk.command('prompt', { prompt: 'tool' });
    const asked = await desk.asked();
    process.kill(run.pid, 'SIGKILL');
    await expect.poll(async () => (await desk.ask(asked.ask_id)).agent_gone_since, PATIENT).toBeDefined();
    const said = await atDesk(hub, ['ask', 'approve', asked.ask_id]);
    expect(said).toMatchObject({ code: 0, stderr: expect.stringContaining(GONE) });
    expect(await desk.ask(asked.ask_id)).toMatchObject({ status: 'answering' });
  },
);

test('without anybody to answer, the ask of a killed session is withdrawn on record', LONG, async () => {
  const hub = await startHub(temporaryFolder(), withReturn(500));
  const run = await runManaged(hub, 'frail', scripted(), ['--acp']);
  const desk = await deskOf(() => hub, 'frail');
  await desk.command('prompt', { prompt: 'tool' });
  const asked = await desk.asked();
  process.kill(run.pid, 'SIGKILL');
  await withdrawn(desk, asked);
});

test('a hub that is killed and comes back takes nobody for gone who comes back to it', LONG, async () => {
  const folder = temporaryFolder();
  let hub = await startHub(folder, withReturn(40_000));
  const { news } = await runManaged(hub, 'hardy', scripted(), ['--acp']);
  const desk = await deskOf(() => hub, 'hardy');
  await desk.command('prompt', { prompt: 'tool' });
  const asked = await desk.asked();
  await hub.end('SIGKILL');
  hub = await startHub(folder, withReturn(40_000));
  await expect.poll(async () => (await desk.agent()).connected, PATIENT).toEqual(['ws']);
  expect((await desk.ask(asked.ask_id)).agent_gone_since).toBeUndefined();
  await desk.answer(asked.ask_id, { decision: 'approved', option: 'yes' });
  const said = async () => (await desk.agent()).last_event?.text ?? '';
  await expect.poll(said, PATIENT).toContain('"optionId":"yes"');
  // The person who started it reads how it was settled, and by whom.
  const settled = news.find(({ event }) => event === 'ask_closed');
  expect(settled?.message).toMatch(/^approved by \w+: \S/);
});

async function withdrawn(desk: Awaited<ReturnType<typeof deskOf>>, { ask_id }: Ask): Promise<Ask> {
  await expect
    .poll(() => desk.ask(ask_id), PATIENT)
    .toMatchObject({ status: 'resolved', verdict: { decision: 'withdrawn', reason: 'the agent is gone' } });
  return desk.ask(ask_id);
}
