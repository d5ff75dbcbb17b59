import { fileURLToPath } from 'node:url';

import { beforeAll, expect, test, vi } from 'vitest';

import { freshPath, parley, PARLEY, parleyJson, startHub, type TestHub } from '../cli/parley.ts';
import { type Person, sitDown, supervised } from './person.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 });
const PATIENT = { timeout: 60_000, interval: 100 };
const BASH = ['bash', '--norc', '-i'];

let hub: TestHub;
beforeAll(async () => {
  hub = await startHub(freshPath());
});

const at = (words: string[]) => parley([...words, '--data', hub.data]);
const sessionsOf = async (agent: string): Promise<string[]> => {
  const { sessions } = await parleyJson<{ sessions: { session_id: string }[] }>([
    'sessions',
    '--agent',
    agent,
    '--data',
    hub.data,
  ]);
  return sessions.map(({ session_id }) => session_id).toSorted();
};
const isThere = (agent: string) =>
  expect.poll(async () => (await at(['agent', 'screen', agent])).code, PATIENT).toBe(0);
const sit = async (options: string[], program = BASH): Promise<Person> => {
  const person = await sitDown(supervised(program, ['--data', hub.data, ...options]), {
    env: { PS1: 'in> ' },
  });
  await person.sees('in>');
  return person;
};

test('two programs that nobody named are two agents, and a name is free again with its program', async () => {
  const first = await sit([]);
  const second = await sit([]);
  await second.sees('bash runs already; this one is bash-2');
  await isThere('bash');
  await isThere('bash-2');
  first.type('echo "the $((0 + 1))st"\r');
  await expect
    .poll(async () => (await at(['agent', 'screen', 'bash'])).stdout, PATIENT)
    .toContain('\nthe 1st\n');
  expect((await at(['agent', 'screen', 'bash-2'])).stdout).not.toContain('the 1st');
  first.signal('SIGKILL');
  await first.exited;
  const third = await sit([]);
  expect((await third.screen()).join('\n')).not.toContain('runs already');
});

test('of two sessions under one given name none is typed into or looked at unless it is named', async () => {
  const people = [await sit(['--agent', 'sam', '--session', 'one'])];
  await isThere('sam');
  people.push(await sit(['--agent', 'sam', '--session', 'two']));
  await expect.poll(() => sessionsOf('sam'), PATIENT).toEqual(['one', 'two']);
  const refusal = {
    code: 1,
    stderr: expect.stringMatching(/2 sessions .* --session: (?:one, two|two, one)/) as string,
  };
  await expect.poll(() => at(['agent', 'screen', 'sam']), PATIENT).toMatchObject(refusal);
  expect(await at(['agent', 'type', 'sam', 'echo astray', '--enter'])).toMatchObject(refusal);
  expect(await at(['agent', 'command', 'sam', 'terminal_state'])).toMatchObject(refusal);
  for (const [i, session] of ['one', 'two'].entries()) {
    const words = ['agent', 'type', 'sam', `echo "for $((${i} + 1))"`, '--enter', '--session', session];
    expect(await at(words)).toMatchObject({ code: 0 });
    await people[i]?.sees(new RegExp(`^for ${i + 1}`, 'm'));
    const shown = (await at(['agent', 'screen', 'sam', '--session', session])).stdout;
    expect(shown).toContain(`for ${i + 1}`);
    expect(shown).not.toContain(`for ${2 - i}`);
  }
  for (const person of people) expect((await person.screen()).join('\n')).not.toContain('astray');
  expect(await at(['agent', 'screen', 'sam', '--session', 'three'])).toMatchObject({
    stderr: expect.stringContaining('session three of sam is not connected') as string,
  });
});

test('a shell hands its name to nothing that is started in it', async () => {
  const person = await sit([]);
  person.type('echo "named <$PARLEY_AGENT$PARLEY_SUPERVISED>"\r');
  await person.sees(/^named <>/m);
  // Nor does one that the person named, to another program under parley run.
  const named = await sit(['--agent', 'ops']);
  named.type('echo "named <$PARLEY_AGENT>"\r');
  await named.sees(/^named <ops>/m);
  named.type(`${process.execPath} ${PARLEY} run --data ${hub.data} -- cat\r`);
  await isThere('cat');
});

test('a second managed session under one name is refused and says what to do', async () => {
  const agent = fileURLToPath(new URL('../runtimes/scripted-acp.mjs', import.meta.url));
  const words = ['run', '--acp', '--agent', 'solo', '--data', hub.data, '--', agent];
  const first = await sitDown([process.execPath, PARLEY, ...words]);
  await first.sees('as solo');
  const second = await parley(words);
  expect(second.code).not.toBe(0);
  expect(second.stderr).toContain('solo runs here already');
  expect(second.stderr).toContain('--agent');
  first.signal('SIGTERM');
  await first.exited;
  const third = await sitDown([process.execPath, PARLEY, ...words]);
  await third.sees('as solo');
});
