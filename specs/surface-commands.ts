import type { createProgram } from '../packages/hub/src/cli/program.ts';

type Command = Awaited<ReturnType<typeof createProgram>>;

/** What a script builds on: each verb, its options and its arguments. */
export type CommandLine = Record<string, { options: string[]; needs: string[]; takes: number }>;

/** The verbs of a command line with all below them, by their words; what help does not show is no promise. */
export function commandsOf(command: Command, words = command.name()): CommandLine {
  const args = command.registeredArguments;
  const found: CommandLine = {
    [words]: {
      options: command.options.filter(({ hidden }) => !hidden).map(({ flags }) => flags),
      needs: args.filter(({ required }) => required).map((one) => one.name()),
      takes: args.some(({ variadic }) => variadic) ? 1_000 : args.length,
    },
  };
  for (const below of command.createHelp().visibleCommands(command))
    if (below.name() !== 'help') Object.assign(found, commandsOf(below, `${words} ${below.name()}`));
  return found;
}

/** What a script that kept to the older command line could no longer say. */
export function brokenCommands(older: CommandLine, newer: CommandLine): string[] {
  const found: string[] = [];
  for (const [words, before] of Object.entries(older)) {
    const after = newer[words];
    if (after === undefined) {
      found.push(`${words}: is gone`);
      continue;
    }
    const names = after.options.flatMap(namesOf);
    for (const flags of before.options) {
      for (const name of namesOf(flags))
        if (!names.includes(name)) found.push(`${words}: no longer knows ${name}`);
      const now = after.options.find((one) => namesOf(one).some((name) => namesOf(flags).includes(name)));
      if (now !== undefined && valueOf(now) !== valueOf(flags))
        found.push(`${words}: ${flags} is now ${now}`);
    }
    if (after.needs.length > before.needs.length)
      found.push(`${words}: now needs ${after.needs.slice(before.needs.length).join(', ')}`);
    if (after.takes < before.takes) found.push(`${words}: takes fewer arguments`);
  }
  return found;
}

/** `-n, --limit <n>` is known as `-n` and as `--limit`. */
const namesOf = (flags: string): string[] => flags.match(/--?[\w-]+/g) ?? [];

/** Whether a value goes with it: it must, it may, or none does. */
const valueOf = (flags: string): string =>
  flags.includes('<') ? 'must' : flags.includes('[') ? 'may' : 'none';
