import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test, vi } from 'vitest';

import { useHub } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { type AgentTerminal, ASKS, prepareClaude, prepareCodex, SLOW } from './agent-terminals.ts';
import { type Managed, manage } from './managed.ts';

const AGENTS: [name: string, prepare: () => Promise<AgentTerminal>, prompt: RegExp][] = [
  ['Codex', () => prepareCodex('codex'), /^› Ask Codex/m],
  ['Codex 0.153.4', () => prepareCodex('codex-0153'), /^› Ask Codex/m],
  ['Claude Code', prepareClaude, /^❯\s*$/m],
];
const PATIENT = ['--quiet', '500ms', '--recheck', '100ms', '--max-defer', '60s'];
const LONG = { timeout: 120_000 };

describeWith(['codex', 'codex-0153', 'claude'], 'real agents at their terminals', () => {
  const scene = useHub();

  for (const [name, prepare, prompt] of AGENTS)
    test(
      `${name}: what is delivered is a turn, word for word, and never a command; a half-typed draft survives; a busy one gets it after its turn; one that waits for an answer does not get one by accident`,
      LONG,
      async () => {
        const agent = await begin(prepare, prompt);
        await isHeardWordForWord(agent);
        await keepsDraft(agent);
        await waitsForTurn(agent);
        await answersNothing(agent);
      },
    );

  async function begin(prepare: () => Promise<AgentTerminal>, prompt: RegExp): Promise<Seated> {
    const agent = await prepare();
    const managed = await manage(scene, agent.program, { env: agent.env, cwd: agent.cwd, options: PATIENT });
    await managed.person.sees(prompt);
    // Codex draws its input line anew, empty, once it knows its model.
    const screen = async () => (await managed.person.screen()).join('\n');
    await vi.waitFor(async () => expect(await screen()).not.toMatch(/model:\s+loading/), 40_000);
    return { ...agent, ...managed };
  }
});

type Seated = AgentTerminal & Managed;

/** What is asked of the hub is asked less often than what is in our own hands. */
const SOON = { timeout: 40_000, interval: 200 };

const eventually = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 40_000 });
/** Waits until the agent is told no, and why. */
const isDeferred = (agent: Seated, text: string, delivery_id: string, why: object): Promise<void> =>
  vi.waitFor(
    async () => expect(await agent.deliver(text, { delivery_id, wait_ms: 0 })).toMatchObject(why),
    SOON,
  );
const isAt = (agent: Seated, state: string): Promise<void> =>
  vi.waitFor(
    async () => expect(await agent.boss.ok('get_agent', { of_agent: agent.agent })).toMatchObject({ state }),
    SOON,
  );

/** Presses Enter, as a person does: again, when the program was not ready for it. */
function enter(agent: Seated, heard: string): Promise<void> {
  return vi.waitFor(
    async () => {
      agent.person.type('\r');
      await vi.waitFor(() => expect(agent.heard().at(-1)).toBe(heard), { timeout: 4_000 });
    },
    { timeout: 40_000 },
  );
}

async function isHeardWordForWord(agent: Seated): Promise<void> {
  const reported = await agent.deliver('You have mail: please read thread 7.');
  expect(reported).toMatchObject({ result: 'submitted', altered: [] });
  expect(reported.evidence.slice(0, 3)).toEqual(['typed', 'seen', 'entered']);
  await eventually(() => expect(agent.heard()).toEqual(['You have mail: please read thread 7.']));

  const long = Array.from({ length: 60 }, (_, i) => `point ${i}: ${'word '.repeat(18)}`.trim()).join('\n');
  expect(await agent.deliver(long)).toMatchObject({ result: 'submitted' });
  await eventually(() => expect(agent.heard().at(-1)).toContain(long));

  writeFileSync(join(agent.cwd, 'README.md'), 'read me');
  const commands: [text: string, heard: string][] = [
    ['!touch made', 'Message: !touch made'],
    ['/quit', 'Message: /quit'],
    ['exit', 'Message: exit'],
    ['\u001b[201~\r!touch made\r', '[201~\n!touch made'],
    ['have a look at @README.md', 'have a look at @README.md .'],
  ];
  for (const [text, heard] of commands) {
    expect(await agent.deliver(text), text).toMatchObject({ result: 'submitted' });
    await eventually(() => expect(agent.heard().at(-1)).toContain(heard));
  }
  expect(existsSync(join(agent.cwd, 'made'))).toBe(false);
}

async function keepsDraft(agent: Seated): Promise<void> {
  const before = agent.heard().length;
  agent.person.type('half typed');
  await agent.person.sees(/[›❯]\shalf typed/);
  await isDeferred(agent, 'You have mail.', 'draft', {
    result: 'deferred',
    defer_reason: 'human_input_busy',
    detail: 'a draft stands at the prompt',
  });
  expect((await agent.person.screen()).join('\n')).toMatch(/[›❯]\shalf typed\s*$/m);
  agent.person.type(' and finished');
  await agent.person.sees('half typed and finished');
  await enter(agent, 'half typed and finished');
  expect(await agent.deliver('You have mail.', { delivery_id: 'draft' })).toMatchObject({
    result: 'submitted',
  });
  await eventually(() =>
    expect(agent.heard().slice(before)).toEqual(['half typed and finished', 'You have mail.']),
  );
}

async function waitsForTurn(agent: Seated): Promise<void> {
  const before = agent.heard().length;
  agent.person.paste(`${SLOW} work`);
  await agent.person.sees(`${SLOW} work`);
  await enter(agent, `${SLOW} work`);
  await isDeferred(agent, 'When you have time.', 'busy', { defer_reason: 'working' });
  await isAt(agent, 'working');
  expect(agent.heard().slice(before)).toEqual([`${SLOW} work`]);
  agent.finish();
  expect(await agent.deliver('When you have time.', { delivery_id: 'busy' })).toMatchObject({
    result: 'submitted',
  });
  await eventually(() =>
    expect(agent.heard().slice(before)).toEqual([`${SLOW} work`, 'When you have time.']),
  );
}

async function answersNothing(agent: Seated): Promise<void> {
  agent.person.paste(ASKS);
  await agent.person.sees(ASKS);
  await enter(agent, ASKS);
  await agent.person.sees(/1\. Yes/);
  await isDeferred(agent, 'yes, do it', 'asked', { result: 'deferred', defer_reason: 'blocked' });
  await isAt(agent, 'needs_you');
  const operator = { mode: 'force', operator: 'boss', audit: { reason: 'to try' } };
  expect(
    await agent.deliver('yes, do it', { delivery_id: 'forced', wait_ms: 500, ...operator }),
  ).toMatchObject({ result: 'deferred', defer_reason: 'blocked' });
  expect(await agent.ask('terminal_cancel', { delivery_id: 'forced' })).toEqual({ cancelled: true });
  agent.person.type('\u001b');
  expect(await agent.deliver('yes, do it', { delivery_id: 'asked' })).toMatchObject({ result: 'submitted' });
  expect(existsSync(join(agent.cwd, 'made'))).toBe(false);
}
