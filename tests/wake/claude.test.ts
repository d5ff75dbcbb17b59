import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { startClaudePrint } from '@parley/runtimes';
import { afterAll, expect, onTestFinished, test } from 'vitest';

import { freshFolder } from '../harness/start-hub.ts';
import { useHub } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { tool } from '../tools/tools.ts';
import { hubServer, openClaudePlace } from './runtime-places.ts';
import { wokenFor } from './wake-steps.ts';
import { ANSWER } from './woken-mind.ts';

const data = freshFolder();
const AGENT = 'claude-bob';
const here = typeof tool('claude') === 'string' ? await openClaudePlace(hubServer(data, AGENT)) : undefined;

function place() {
  if (here === undefined) throw new Error('there is no Claude Code');
  return here;
}

const PASSED_ON = Object.keys(here?.env ?? {}).filter(
  (name) => !['PATH', 'HOME', 'LANG', 'TERM'].includes(name),
);

describeWith(['claude'], 'a real Claude Code is woken', () => {
  const { bin, home, args, env, place: isolated } = place();
  const profile = {
    agent: AGENT,
    workspace: 'w1',
    runtime: 'claude',
    bin,
    home,
    cwd: isolated.work,
    doors: ['resume', 'new'],
    args,
    env: PASSED_ON,
  };
  const scene = useHub({
    data,
    env,
    settings: { 'wake.agents': JSON.stringify([profile]), 'wake.proof_ms': 60_000, 'wake.grace_ms': 50 },
  });
  afterAll(() => place().close());

  const answers = async (thread_id: string) => {
    const { messages } = await scene.as('ann', { role: 'operator' }).ok('read_messages', { thread_id });
    return messages.filter(({ body }) => body === ANSWER).map(({ sender_agent_id }) => sender_agent_id);
  };
  /** A Claude Code that stays open, with one turn behind it. */
  function openSession(sessionId: string, further: string[]) {
    const mode = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
    const child = spawn(bin, [...mode, '--session-id', sessionId, ...further], {
      env,
      cwd: isolated.work,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    onTestFinished(async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    });
    const content = 'hello';
    child.stdin.write(`${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`);
    return child;
  }

  const beat = (native_session_id: string) =>
    scene.as(AGENT).ok('heartbeat_session', {
      runtime: 'claude_code',
      status: 'idle',
      resumable: true,
      native_session_id,
    });

  test(
    "[HUB-M9] [HUB-W2] [C-WAKE-03] a dormant session is resumed by another agent's message and answers in the thread",
    { timeout: 120_000 },
    async () => {
      const sessionId = randomUUID();
      const options = { bin, env, cwd: isolated.work, prompt: 'remember the word melon', sessionId };
      const first = await startClaudePrint(options);
      await first.started;
      expect(await first.ended).toMatchObject({ ok: true });
      await beat(sessionId);
      const alice = scene.as('alice');
      const thread_id = await alice.thread(AGENT);
      await alice.say(thread_id, 'is the mapper done?');
      const reported = await alice.ok('trigger_participant', { thread_id, target_agent_id: AGENT });
      expect(reported).toMatchObject({
        action: 'resume_session',
        result: 'delivered',
        door: 'claude_resume',
        proof: 'runtime_status',
      });
      await expect.poll(() => answers(thread_id), { timeout: 60_000 }).toEqual([AGENT]);
      expect(place().asked().join('\n')).toContain('melon');
    },
  );

  test('a session that somebody has open is never resumed beside it', { timeout: 120_000 }, async () => {
    const sessionId = randomUUID();
    const open = openSession(sessionId, []);
    const listed = (): string[] => readdirSync(path.join(home, 'sessions'));
    await expect.poll(listed, { timeout: 30_000 }).toContain(`${open.pid}.json`);
    await beat(sessionId);
    const alice = scene.as('alice');
    const thread_id = await alice.thread(AGENT);
    await alice.say(thread_id, 'are you there?');
    const error = await alice.refused(
      'trigger_participant',
      { thread_id, target_agent_id: AGENT },
      'WAKE_FAILED',
    );
    expect(error.details['passed']).toEqual(
      expect.arrayContaining([
        { door: 'claude_resume', reason: 'session_is_live' },
        { door: 'claude_new', reason: 'session_is_live' },
      ]),
    );
  });

  test(
    '[HUB-M9] a session that is open is woken by its own inbox, which only its own MCP child knows',
    { timeout: 120_000 },
    async () => {
      const sessionId = randomUUID();
      const open = openSession(sessionId, args);
      const alice = scene.as('alice');
      const connected = async () => {
        const { agents } = await alice.ok('list_agents', {});
        return agents.find(({ agent_id }) => agent_id === AGENT)?.connected;
      };
      await expect.poll(connected, { timeout: 60_000 }).toEqual(['ws']);
      const listed = async () => {
        const { sessions } = await alice.ok('list_sessions', { of_agent: AGENT });
        return sessions.find(({ session_id }) => session_id === sessionId);
      };
      await expect.poll(listed).toMatchObject({
        runtime: 'claude_code',
        resumable: true,
        native_session_id: sessionId,
      });
      const thread_id = await alice.thread(AGENT);
      await alice.say(thread_id, 'are you there?');
      const reported = await alice.ok('trigger_participant', { thread_id, target_agent_id: AGENT });
      expect(['delivered', 'deferred'], JSON.stringify(reported)).toContain(reported.result);
      await expect.poll(() => answers(thread_id), { timeout: 60_000 }).toEqual([AGENT]);
      await expect
        .poll(async () => (await wokenFor(scene, thread_id, 1))[0], { timeout: 30_000 })
        .toMatchObject({ result: 'delivered', door: 'command', proof: 'runtime_record' });
      open.stdin.end();
      await expect.poll(connected, { timeout: 60_000 }).toEqual([]);
    },
  );

  test(
    '[HUB-W5] [C-WAKE-19] [BRIDGE-13] when the old session is gone a new one begins with the summary, as data',
    { timeout: 120_000 },
    async () => {
      const ann = scene.as('ann', { role: 'operator' });
      // The good-bye of a session is the last that is heard of it: whoever beats after all of them is the newest.
      const lingering = async () => {
        const { sessions } = await ann.ok('list_sessions', { of_agent: AGENT });
        return sessions.filter((one) => one.session_id === one.native_session_id && one.status !== 'offline');
      };
      await expect.poll(lingering, { timeout: 60_000 }).toEqual([]);
      await beat(randomUUID());
      const thread_id = await ann.thread(AGENT);
      await ann.ok('control_thread', { thread_id, control: { invited_auto: { on: true } } });
      await ann.say(thread_id, 'what do you all think?');
      await expect.poll(() => answers(thread_id), { timeout: 90_000 }).toEqual([AGENT]);
      const [wake] = await wokenFor(scene, thread_id, 2);
      expect(wake).toMatchObject({ by: 'ann', door: 'claude_new', proof: 'runtime_status' });
      const prompt = place()
        .asked()
        .find((text) => text.includes(wake?.trigger_id ?? '?'));
      const [, boundary = '?'] = /<<<([0-9a-f]{24})/.exec(prompt ?? '') ?? [];
      expect(prompt?.split(boundary)[2]).toContain('summary: “a thread” (conversation) is active');
    },
  );
});
