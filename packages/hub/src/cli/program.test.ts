import { ParleyError } from '@parley/protocol';
import { type Command, CommanderError } from 'commander';
import { expect, test } from 'vitest';

import { createProgram } from './program.ts';

const namesOf = async (name?: string): Promise<string[]> =>
  (await createProgram(name)).commands.map((command) => command.name());

test('each command can be loaded alone, and what is no command loads them all', async () => {
  const all = await namesOf();
  expect(all.length).toBeGreaterThan(30);
  for (const name of all) expect(await namesOf(name)).toEqual([name]);
  for (const name of ['help', 'rnu', 'constructor']) expect(await namesOf(name)).toEqual(all);
});

function flagsOf(command: Command, name = ''): { of: string; flags: string }[] {
  return [
    ...command.options.filter(({ hidden }) => !hidden).map(({ flags }) => ({ of: name, flags })),
    ...command.commands.flatMap((one) => flagsOf(one, `${name} ${one.name()}`.trim())),
  ];
}

test('flags of one meaning have one name: how many, for how long, into which file', async () => {
  const all = flagsOf(await createProgram());
  const named = (part: RegExp) => [
    ...new Set(all.filter(({ flags }) => part.test(flags)).map(({ flags }) => flags)),
  ];
  expect(named(/^-n\b/)).toEqual(['-n, --limit <count>']);
  expect(named(/--out\b/)).toEqual(['-o, --out <file>']);
  expect(named(/--tags?\b/)).toEqual(['--tags <tags>']);
  expect(named(/--quiet\b(?!-)/)).toEqual(['--quiet <duration>']);
  expect(named(/<(?:ms|seconds|minutes)>/)).toEqual([]);
  expect(named(/--(?:ttl|timeout|for)\b/).every((flags) => flags.endsWith('<duration>'))).toBe(true);
});

/** All commands of a program, each with its own. */
function commandsOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(commandsOf)];
}

test('every command explains itself with an example', async () => {
  const program = await createProgram();
  const shown = program.createHelp().visibleCommands(program);
  expect(shown.length).toBeGreaterThan(14);
  for (const command of shown.filter((one) => one.name() !== 'help')) {
    let said = '';
    command.configureOutput({ writeOut: (text) => void (said += text) });
    command.outputHelp();
    if (!/^Commands:$/m.test(said)) expect(said, command.name()).toMatch(/Examples?:\n {2}/);
  }
});

const mistakes: [string, string[]][] = [
  ['an unknown command', ['thraed']],
  ['an unknown option', ['status', '--what']],
  ['a group without command', ['thread']],
  ['a missing argument', ['read']],
  ['a missing required option', ['token', 'issue']],
  ['a wrong choice', ['thread', 'ls', '--status', 'odd']],
  ['a wrong number', ['thread', 'ls', '--limit', 'many']],
];

test.each(mistakes)(
  '%s is refused before anything is done, as a mistake of who typed it',
  async (_what, line) => {
    const program = await createProgram(line[0]);
    let done = false;
    for (const command of commandsOf(program))
      command
        .configureOutput({ writeOut: () => {}, writeErr: () => {} })
        .hook('preAction', () => void (done = true));
    const error: unknown = await program
      .parseAsync(line, { from: 'user' })
      .catch((refusal: unknown) => refusal);
    const isMistake =
      error instanceof CommanderError ? error.exitCode !== 0 : error instanceof ParleyError && error.code;
    expect([isMistake, done]).toEqual([error instanceof CommanderError ? true : 'VALIDATION_ERROR', false]);
  },
);
