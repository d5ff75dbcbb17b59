import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Ask } from '@parley/protocol';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';

import { cleanEnv, freshFolder, PARLEY } from '../harness/start-hub.ts';
import { useHub } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { type OpencodePlace, openOpencodePlace } from './opencode-place.ts';
import { journalSteps, wokenFor } from './wake-steps.ts';
import { ANSWER } from './woken-mind.ts';

vi.setConfig({ testTimeout: 180_000 });
const PATIENT = { timeout: 90_000, interval: 200 };
const data = freshFolder();
const scene = useHub({
  data,
  settings: { 'wake.proof_ms': 60_000, 'wake.recheck_ms': 100, 'wake.grace_ms': 50 },
});
const ann = () => scene.as('ann', { role: 'operator' });

/** Starts `parley run` with an agent that speaks ACP, and waits until the hub reaches it. */
async function run(
  agent: string,
  words: string[],
  { env, cwd }: { env: Record<string, string>; cwd: string },
) {
  const where = ['--data', data, '--agent', agent, '--workspace', 'w1', '--json'];
  const child = spawn(process.execPath, [PARLEY, 'run', ...where, ...words], {
    env,
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let reported = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (reported += text));
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const reached = async (): Promise<boolean> => {
    if (child.exitCode !== null) throw new Error(`parley run ended: ${reported}`);
    const { agents } = await ann().ok('list_agents', {});
    const found = agents.find(({ agent_id }) => agent_id === agent);
    return found?.connected.length === 1 && found.capabilities.includes('session_deliver');
  };
  await expect.poll(reached, PATIENT).toBe(true);
  return {
    reported: () => reported,
    exited,
    stop: () => (child.kill('SIGTERM'), exited),
  };
}

const commanded = async (of_agent: string, command: string, parameters: Record<string, unknown> = {}) => {
  const { result, error } = await ann().ok('command_agent', {
    of_agent,
    command,
    parameters,
    timeout_ms: 60_000,
  });
  if (error !== undefined) throw new Error(JSON.stringify(error));
  return result as Record<string, unknown>;
};
const stateOf = async (agent: string) => (await commanded(agent, 'session_state'))['state'];
const openAsks = async (of_agent: string) => (await ann().ok('list_asks', { of_agent, status: 'open' })).asks;

/** All that is told of an agent. */
async function journal(of_agent: string): Promise<string> {
  const { journal_thread_id } = await ann().ok('get_agent', { of_agent });
  const { messages } = await ann().ok('read_messages', { thread_id: journal_thread_id ?? '', limit: 200 });
  return messages.map(({ body }) => body).join('\n');
}

/** The one thing that is asked now. */
async function asked(agent: string): Promise<Ask> {
  await expect.poll(async () => (await openAsks(agent)).length, PATIENT).toBe(1);
  return (await openAsks(agent))[0] as Ask;
}

describeWith(['opencode'], 'a real opencode as a managed session', () => {
  let place: OpencodePlace | undefined;
  const here = (): OpencodePlace => place as OpencodePlace;
  beforeAll(async () => {
    place = await openOpencodePlace();
  });
  afterAll(() => place?.close());
  const answers = async (thread_id: string) => {
    const { messages } = await ann().ok('read_messages', { thread_id });
    return messages.filter(({ body }) => body === ANSWER).map(({ sender_agent_id }) => sender_agent_id);
  };
  const start = () => run('oc', ['--managed', '--', here().bin], { env: here().env, cwd: here().place.work });

  test('[HUB-M9] [HUB-W1] it is woken by a message, answers in the thread, asks at the hub, and takes a wake after its turn, in the midst of it from an operator who insists, and is interrupted', async () => {
    const running = await start();
    expect(running.reported()).toMatch(/opencode 1\.\S+ as oc, /);
    const alice = scene.as('alice');
    const thread_id = await alice.thread('oc');
    await alice.say(thread_id, 'is the mapper done?');
    const reported = await alice.ok('trigger_participant', { thread_id, target_agent_id: 'oc' });
    expect(reported).toMatchObject({
      action: 'trigger_runtime',
      result: 'delivered',
      door: 'managed',
      proof: 'runtime_status',
    });
    await expect.poll(() => answers(thread_id), PATIENT).toEqual(['oc']);
    await expect.poll(() => stateOf('oc'), PATIENT).toBe('idle');

    await commanded('oc', 'prompt', { prompt: 'TOUCH' });
    const ask = await asked('oc');
    expect(ask).toMatchObject({ kind: 'approval', command: 'touch made', metadata: { source: 'acp' } });
    expect(ask.options?.map(({ label }) => label)).toEqual(['Allow once', 'Always allow', 'Reject']);
    expect(ask.options?.map(({ kind }) => kind)).toEqual(['allow_once', 'allow_rule', 'deny']);
    expect(existsSync(path.join(here().place.work, 'made'))).toBe(false);
    expect(await stateOf('oc')).toBe('blocked');
    await ann().ok('answer_ask', { ask_id: ask.ask_id, decision: 'approved', option: 'once' });
    await expect.poll(() => existsSync(path.join(here().place.work, 'made')), PATIENT).toBe(true);
    await expect.poll(() => journal('oc'), PATIENT).toContain('ran: touch made');
    await expect.poll(() => stateOf('oc'), PATIENT).toBe('idle');

    await commanded('oc', 'prompt', { prompt: 'REFUSED' });
    const refused = await asked('oc');
    await ann().ok('answer_ask', { ask_id: refused.ask_id, decision: 'denied', option: 'reject' });
    await expect.poll(() => stateOf('oc'), PATIENT).toBe('idle');
    expect(existsSync(path.join(here().place.work, 'refused'))).toBe(false);

    await commanded('oc', 'prompt', { prompt: 'SLOW' });
    await expect.poll(() => here().asked().at(-1), PATIENT).toContain('SLOW');
    const { seq } = await alice.say(thread_id, 'and now?');
    const waiting = await alice.ok('trigger_participant', { thread_id, target_agent_id: 'oc' });
    expect(waiting).toMatchObject({ result: 'deferred', defer_reason: 'working' });
    here().finish();
    await expect.poll(() => answers(thread_id), PATIENT).toEqual(['oc', 'oc']);
    expect(await wokenFor(scene, thread_id, seq)).toMatchObject([{ door: 'managed', result: 'delivered' }]);
    expect(await journalSteps(scene, 'oc', waiting.trigger_id)).toEqual([
      'asked',
      'deferred',
      'delivering',
      'delivered',
    ]);
    await expect.poll(() => stateOf('oc'), PATIENT).toBe('idle');
    expect(await running.stop()).toBe(0);

    // The next one goes on with the same session.
    const again = await start();
    expect(again.reported()).toContain('resumed session ses_');
    await commanded('oc', 'prompt', { prompt: 'still there?' });
    await expect.poll(() => here().asked().at(-1), PATIENT).toContain('still there?');
    expect(here().asked().at(-1)).toContain(waiting.trigger_id);
    await expect.poll(() => stateOf('oc'), PATIENT).toBe('idle');

    // An operator who insists reaches its turn with the next result of a tool.
    await commanded('oc', 'prompt', { prompt: 'TOUCH' });
    const cut = await asked('oc');
    const insisted = await alice.say(thread_id, 'stop that');
    const audit = { reason: 'it must know now' };
    const about = { thread_id, target_agent_id: 'oc', force: true, audit };
    const { trigger_id } = await ann().ok('trigger_participant', about);
    const woken = () => wokenFor(scene, thread_id, insisted.seq);
    await expect.poll(woken, PATIENT).toMatchObject([{ result: 'queued' }]);
    await ann().ok('answer_ask', { ask_id: cut.ask_id, decision: 'approved', option: 'once' });
    await expect
      .poll(woken, PATIENT)
      .toMatchObject([{ door: 'managed', result: 'delivered', proof: 'runtime_status' }]);
    // It stands right after the tool's result: one turn, not two.
    const taken = here()
      .asked()
      .find((text) => text.includes(trigger_id));
    const since = taken?.slice(taken.lastIndexOf('"tool_call_id":"touch"')) ?? '';
    expect(since).toContain(trigger_id);
    expect(since).not.toContain('so be it');
    await expect.poll(() => stateOf('oc'), PATIENT).toBe('idle');

    // A turn that would never end is interrupted.
    await commanded('oc', 'prompt', { prompt: 'ENDLESS' });
    await expect.poll(() => here().asked().at(-1), PATIENT).toContain('ENDLESS');
    expect(await commanded('oc', 'cancel')).toEqual({ cancelled: true });
    await expect.poll(() => stateOf('oc'), PATIENT).toBe('idle');
    expect(await again.stop()).toBe(0);
  });
});

describe('an agent of one’s own that speaks ACP', () => {
  const AGENT = fileURLToPath(new URL('../runtimes/scripted-acp.mjs', import.meta.url));
  const place = () => ({ env: cleanEnv(data, {}), cwd: path.dirname(data) });

  test('what it asks and nobody answers is refused in time', async () => {
    await run('own', ['--acp', '--ask-timeout', '3s', '--', AGENT], place());
    await commanded('own', 'prompt', { prompt: 'tool' });
    await asked('own');
    const lastSaid = async () => {
      const { last_event } = await ann().ok('get_agent', { of_agent: 'own' });
      return last_event?.text ?? '';
    };
    await expect.poll(lastSaid, PATIENT).toContain('"optionId":"no"');
    const { asks } = await ann().ok('list_asks', { of_agent: 'own', status: 'resolved' });
    expect(asks).toMatchObject([
      { verdict: { decision: expect.stringMatching(/denied|withdrawn/) as string } },
    ]);
  });

  test('one that dies is started again and goes on with its session and with what waits', async () => {
    const { env, cwd } = place();
    const spot = { cwd, env: { ...env, ACP_MODE: 'resumes', PARLEY_MANAGED_RESTART_MS: '50' } };
    const running = await run('hardy', ['--acp', '--', AGENT], spot);
    const pid = async () => (await ann().ok('get_agent', { of_agent: 'hardy' })).metadata?.['pid'];
    const before = await pid();
    await commanded('hardy', 'prompt', { prompt: 'die' });
    await expect.poll(running.reported, PATIENT).toContain('"event":"back"');
    await commanded('hardy', 'prompt', { prompt: 'echo here again' });
    const lastSaid = async () => (await ann().ok('get_agent', { of_agent: 'hardy' })).last_event?.text;
    await expect.poll(lastSaid, PATIENT).toBe('here again');
    await expect.poll(pid, PATIENT).not.toBe(before);
    expect(running.reported()).toContain('goes on with its session');
    const bodies = await journal('hardy');
    expect(bodies).toMatch(/is gone \(it ended with 3[^]*it is started again in 1 s \(1 of 5\)/);
    expect(bodies).toContain('is back, and goes on with its session');
    expect(await running.stop()).toBe(0);
  });

  test('one that dies and dies is given up on record, and nobody is told that it was woken', async () => {
    const { env, cwd } = place();
    const spot = { cwd, env: { ...env, PARLEY_MANAGED_RESTART_MS: '20', PARLEY_MANAGED_RESTARTS: '2' } };
    const running = await run('frail', ['--acp', '--', AGENT], spot);
    const alice = scene.as('alice');
    const thread_id = await alice.thread('frail');
    for (let death = 1; death <= 3; death++) {
      const backs = () => running.reported().split('"event":"back"').length;
      await expect.poll(backs, PATIENT).toBe(death);
      await commanded('frail', 'prompt', { prompt: 'die' });
    }
    expect(await running.exited).toBe(1);
    expect(running.reported()).toContain('it is not started again');
    expect(running.reported()).toContain('scripted-acp.mjs has ended');
    const { state } = await ann().ok('get_agent', { of_agent: 'frail' });
    expect(state).not.toBe('working');
    await alice.say(thread_id, 'are you there?');
    await alice.refused('trigger_participant', { thread_id, target_agent_id: 'frail' }, 'WAKE_FAILED');
  });
});
