import type { Command } from 'commander';
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
