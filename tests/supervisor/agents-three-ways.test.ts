import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, onTestFinished, test, vi } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { type AgentTerminal, prepareClaude, prepareCodex } from './agent-terminals.ts';
import { sitDown } from './person.ts';
import { MARK, running } from './session-processes.ts';
import { type Way, WAYS, wordsOf } from './three-ways.ts';

vi.setConfig({ testTimeout: 180_000 });
const PATIENCE = { timeout: 60_000, interval: 100 };
const AGENTS: [name: string, prepare: () => Promise<AgentTerminal>, prompt: RegExp][] = [
  ['Codex', () => prepareCodex('codex'), /^› Ask Codex/m],
  ['Claude Code', prepareClaude, /^❯\s*$/m],
];
const DRAFT = /^[›❯]\shalf typed\s*$/m;
const CTRL_D = '\u0004';

/** Starts the agent, types, makes the window smaller, sends what was typed, and leaves as a person does. */
async function live(way: Way, prepare: () => Promise<AgentTerminal>, prompt: RegExp) {
  const agent = await prepare();
  const mark = randomUUID();
  onTestFinished(() => running(mark).forEach(({ pid }) => process.kill(pid, 'SIGKILL')));
  const env = { ...agent.env, [MARK]: mark };
  const person = await sitDown(wordsOf(way, agent.program), { env, cwd: agent.cwd });
  const screen = async (): Promise<string> => (await person.screen()).join('\n');
  await person.sees(prompt);
  await expect.poll(screen, PATIENCE).not.toMatch(/model:\s+loading/);
  person.type('half typed');
  await person.sees(DRAFT);
  person.resize(70, 20);
  // What was drawn for the old width is gone once it has drawn anew.
  await expect.poll(screen, PATIENCE).toMatch(DRAFT);
  await vi.waitFor(async () => {
    person.type('\r');
    await vi.waitFor(() => expect(agent.heard()).toEqual(['half typed']), { timeout: 4_000 });
  }, PATIENCE);
  await person.sees('understood');
  await person.sees(prompt);
  const widest = Math.max(...(await person.screen()).map((row) => row.length));
  const { exited } = person;
  do person.type(CTRL_D);
  while ((await Promise.race([exited, sleep(300)])) === undefined);
  await expect.poll(() => running(mark).map(({ line }) => line), PATIENCE).toEqual([]);
  await person.screen();
  return { exit: await exited, heard: agent.heard(), modes: person.modes().off(), fits: widest <= 70 };
}

describeWith(['codex', 'claude'], 'a real agent lives under the supervisor as it does plainly', () => {
  test.each(AGENTS)('%s: start, draft, resize, a turn, the end', async (_name, prepare, prompt) => {
    const lives: Partial<Record<Way, Awaited<ReturnType<typeof live>>>> = {};
    for (const way of WAYS) lives[way] = await live(way, prepare, prompt);
    expect(lives.plain).toMatchObject({ heard: ['half typed'], fits: true });
    expect(lives.parley).toEqual(lives.plain);
    expect(lives.script).toEqual(lives.plain);
  });
});
