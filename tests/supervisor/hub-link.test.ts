import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, onTestFinished, test, vi } from 'vitest';

import { freshPath, parley, parleyJson, startHub } from '../cli/parley.ts';
import { startStdio } from '../harness/stdio-client.ts';
import { sitDown, supervised } from './person.ts';

const PATIENT = { timeout: 40_000, interval: 250 };

test(
  'it runs without a hub, joins one that starts later, and finds it again after a restart at another address',
  { timeout: 180_000 },
  async () => {
    const data = freshPath();
    const person = await sitDown(
      supervised(['/bin/bash', '--norc', '-i'], ['--agent', 'sam', '--data', data]),
      { env: { PS1: 'in> ' } },
    );
    await person.sees(`no hub runs on ${data}`);
    await person.sees('in>');
    const screen = async (): Promise<string> => {
      const { code, stdout, stderr } = await parley(['agent', 'screen', 'sam', '--data', data]);
      expect(code, stderr).toBe(0);
      return stdout;
    };
    const urls = new Set<string>();
    for (const round of [1, 2, 3]) {
      const hub = await startHub(data);
      urls.add(hub.url);
      person.type(`echo "round $((${round} * 1))"\r`);
      await vi.waitFor(async () => expect(await screen()).toContain(`\nround ${round}\n`), PATIENT);
      const { sessions } = await parleyJson<{ sessions: object[] }>(['sessions', '--data', data]);
      expect(sessions).toMatchObject([{ agent_id: 'sam', management_mode: 'managed' }]);
      await hub.stop(round === 2 ? 'SIGKILL' : 'SIGTERM');
      const { code, stderr } = await parley(['agent', 'screen', 'sam', '--data', data]);
      expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringContaining('no hub runs on') });
    }
    expect(urls.size).toBe(3);
    // Nothing but the shell has written on the screen since it started.
    await sleep(100);
    expect((await person.screen()).filter((line) => line.startsWith('parley'))).toHaveLength(1);
    person.type('exit\r');
    expect(await person.exited).toEqual({ code: 0, signal: null });
  },
);

test(
  'an MCP child of a supervised session leaves the commands of the agent to the supervisor, also while that is away',
  { timeout: 120_000 },
  async () => {
    const data = freshPath();
    await startHub(data);
    const shown = async () =>
      await parleyJson<{ connected: string[]; capabilities: string[] }>([
        'agent',
        'show',
        'sam',
        '--data',
        data,
      ]);
    const inClaude = {
      CLAUDE_CODE_SESSION_ID: randomUUID(),
      CLAUDE_CODE_MESSAGING_SOCKET: join(data, 'no.sock'),
      CLAUDE_CODE_MESSAGING_TOKEN: 'none',
      CLAUDE_CONFIG_DIR: data,
      PARLEY_AGENT: 'sam',
    };
    const sessions = async () =>
      (await parleyJson<{ sessions: { native_session_id?: string }[] }>(['sessions', '--data', data]))
        .sessions;
    const child = startStdio({ data, env: { ...inClaude, PARLEY_SUPERVISED: '1' } });
    onTestFinished(async () => void (await child.kill('SIGKILL')));
    await child.initialize();
    await child.call('list_threads', {});
    await vi.waitFor(async () => expect(await sessions()).toHaveLength(1), PATIENT);
    expect(await shown()).toMatchObject({ connected: [], capabilities: [] });
    // Without a supervisor above it takes the wakes itself.
    const free = startStdio({ data, env: { ...inClaude, CLAUDE_CODE_SESSION_ID: randomUUID() } });
    onTestFinished(async () => void (await free.kill('SIGKILL')));
    await free.initialize();
    await free.call('list_threads', {});
    await vi.waitFor(
      async () => expect(await shown()).toMatchObject({ capabilities: ['wake', 'wake_state'] }),
      PATIENT,
    );
  },
);

test('an agent without a terminal has no screen', { timeout: 60_000 }, async () => {
  const hub = await startHub();
  const said = await parley(['agent', 'screen', 'nobody', '--data', hub.data]);
  expect({ code: said.code, stderr: said.stderr }).toEqual({
    code: 3,
    stderr: expect.stringContaining('there is no agent nobody'),
  });
});
