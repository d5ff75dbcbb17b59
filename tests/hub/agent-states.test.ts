import { createClient } from '@parley/client';
import type { AgentStretch } from '@parley/protocol';
import { expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import type { FaceDriver } from '../harness/face-driver.ts';
import { runCli } from '../harness/run-cli.ts';
import { freshFolder, startHub } from '../harness/start-hub.ts';
import { registerSigner } from '../harness/tokens.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';

const SOON = { timeout: 30_000, interval: 200 };
const scene = useHub({
  settings: { 'sessions.stuck_after_ms': 8_000, 'sessions.offline_after_ms': 60_000 },
});
let rooms = 0;

async function historyOf(asker: Participant, of_agent: string): Promise<AgentStretch[]> {
  const { agents } = await asker.ok('list_agent_states', { of_agent });
  return agents.flatMap(({ stretches }) => stretches);
}

// All faces at once: what takes long is that nothing is heard.
test('what agents were at is kept with the reason and what was waited for, without holes, and is shown to those who may see it, over every face', async () => {
  const over = async (face: FaceDriver): Promise<void> => {
    const workspace = `states-${++rooms}`;
    const who = (name: string, role = 'worker') => scene.as(name, { workspace, role, face });
    const [agent, other, person] = [who('builder'), who('other'), who('ann', 'operator')];
    const states = async () => (await historyOf(person, 'builder')).map(({ state }) => state);
    const work = { status: 'busy', metadata: { currentTask: 'the mapper' } } as const;
    await agent.ok('update_agent_status', work);
    await expect.poll(states, SOON).toEqual(['working']);
    const { ask } = await agent.ok('raise_ask', {
      kind: 'approval',
      prompt: 'May I?',
      command: 'rm -rf build',
    });
    await expect.poll(states, SOON).toEqual(['working', 'needs_you']);
    // It is heard of just before the answer: silence comes later.
    await agent.ok('update_agent_status', work);
    await person.ok('answer_ask', { ask_id: ask.ask_id, decision: 'approved' });
    await expect
      .poll(async () => (await states()).slice(0, 3), SOON)
      .toEqual(['working', 'needs_you', 'working']);
    // Nothing is heard of it any more in the middle of its work.
    await expect.poll(states, SOON).toEqual(['working', 'needs_you', 'working', 'stuck']);
    const all = await historyOf(person, 'builder');
    expect(all[0]).toMatchObject({ reason: 'the mapper' });
    expect(all[1]).toMatchObject({
      reason: 'asks to run: rm -rf build',
      since: ask.created_at,
      waits_for: { what: 'answer', ask_id: ask.ask_id },
    });
    expect(all.map(({ until }) => until)).toEqual([...all.slice(1).map(({ since }) => since), null]);
    const seen = await historyOf(other, 'builder');
    expect(seen.map(({ state }) => state)).toEqual(all.map(({ state }) => state));
    expect(JSON.stringify(seen)).not.toMatch(/rm -rf|ask_/);
    const elsewhere = scene.as('ann', { workspace: `${workspace}-b`, role: 'operator', face });
    expect(await historyOf(elsewhere, 'builder')).toEqual([]);
    const window = { since: '2030-01-02T00:00:00Z', until: '2030-01-01T00:00:00Z' };
    await person.refused('list_agent_states', window, 'VALIDATION_ERROR');
  };
  await Promise.all(faces.map(over));
});

test('a restart keeps what was noted, and tells nothing of the time in between; the command line prints it', async () => {
  const data = freshFolder();
  const first = await startHub({ data });
  const signer = await registerSigner('states', { data });
  const client = (url: string, agent: string, role: string) =>
    createClient({ url, token: signer.token({ agent, workspace: 'default', role, session: `${agent}-1` }) });
  const history = async (url: string): Promise<AgentStretch[]> =>
    (await client(url, 'ann', 'operator').list_agent_states({ of_agent: 'builder' })).agents.flatMap(
      ({ stretches }) => stretches,
    );
  await client(first.url, 'builder', 'worker').heartbeat_session({ runtime: 'codex', status: 'idle' });
  await expect.poll(() => history(first.url), SOON).toHaveLength(1);
  await first.stop();
  await new Promise((resolve) => setTimeout(resolve, 11_000));
  const second = await startHub({ data });
  await expect.poll(() => history(second.url), SOON).toHaveLength(2);
  const [before, after] = await history(second.url);
  expect(Date.parse(after?.since ?? '') - Date.parse(before?.until ?? '')).toBeGreaterThan(10_000);
  expect(after?.until).toBeNull();
  const told = await runCli(['agent', 'history', 'builder'], { data });
  expect(told.stdout).toMatch(/builder .* idle +nothing to do/);
  const json = await runCli(['agent', 'timeline', '--for', '1h', '--json'], { data });
  expect(JSON.parse(json.stdout)).toMatchObject({
    agents: [{ agent_id: 'builder', stretches: [{ state: 'idle' }, {}] }],
  });
  await second.stop();
});
