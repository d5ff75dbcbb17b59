import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test, vi } from 'vitest';

import { freshPath, parley, parleyJson, startHub } from '../cli/parley.ts';
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

test('an agent without a terminal has no screen', { timeout: 60_000 }, async () => {
  const hub = await startHub();
  const said = await parley(['agent', 'screen', 'nobody', '--data', hub.data]);
  expect({ code: said.code, stderr: said.stderr }).toEqual({
    code: 3,
    stderr: expect.stringContaining('there is no agent nobody'),
  });
});
