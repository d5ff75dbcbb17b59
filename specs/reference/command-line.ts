import type { EventEmitter } from 'node:events';

import { createProgram as createProxyProgram } from '../../packages/codex-proxy/src/cli/program.ts';
import { createProgram as createHubProgram } from '../../packages/hub/src/cli/program.ts';
import { table } from './fields.ts';

type Command = Awaited<ReturnType<typeof createHubProgram>>;
type Option = Command['options'][number];

const OPTIONS = ['option', 'what it does'] as const;

/** The page of the command line: each verb with its arguments, its options and what its help adds. */
export async function commandLinePage(): Promise<string> {
  const parley = await createHubProgram();
  const proxy = createProxyProgram();
  const thread = verbsOf(parley).find((verb) => verb.name() === 'post');
  const connecting = (thread?.options ?? []).filter(isShared);
  return `# Command line

Written by \`npm run docs\` from the programs' own tables; not for hands. \`parley <command> --help\` says the same.

${contents(parley)}

## Options of every command

${optionTable(ownOptions(parley))}

With \`--json\` a command prints one JSON document. \`parley help exit-codes\` tells what the exit codes mean.

## Which hub and as whom

Commands that talk to a hub take these as well.

${optionTable(connecting)}

${verbParts(parley, '')}
## atm-agent-mcp

${sentence(proxy.description())}

${optionTable(ownOptions(proxy))}

${verbParts(proxy, '')}`;
}

const verbsOf = (command: Command): Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((below) => below.name() !== 'help');

/** Those that stand under a heading of their own in help are shared by many commands. */
const isShared = ({ helpGroupHeading }: Option): boolean => helpGroupHeading !== undefined;

const ownOptions = (command: Command): Option[] =>
  command
    .createHelp()
    .visibleOptions(command)
    .filter((option) => !isShared(option) && option.long !== '--help');

/** The groups of help, each with its commands. */
function contents(program: Command): string {
  const groups = new Map<string, string[]>();
  for (const verb of verbsOf(program)) {
    const group = verb.helpGroup();
    const link = `[\`${verb.name()}\`](#${program.name()}-${verb.name()})`;
    groups.set(group, [...(groups.get(group) ?? []), link]);
  }
  return [...groups].map(([group, links]) => `- **${group}** ${links.join(', ')}`).join('\n');
}

function verbParts(command: Command, before: string): string {
  const words = `${before}${command.name()} `;
  return verbsOf(command)
    .map((verb) => verbPart(verb, words))
    .join('\n');
}

function verbPart(verb: Command, before: string): string {
  const words = `${before}${verb.name()}`;
  const args = verb.registeredArguments;
  const told = args.filter(({ description }) => description !== '');
  const own = ownOptions(verb);
  const isGroup = verb.commands.length > 0;
  const usage = [words, ...args.map(argumentWord), ...(verb.options.length > 0 ? ['[options]'] : [])].join(
    ' ',
  );
  const after = helpAfter(verb);
  const parts = [
    `## ${words}`,
    sentence(verb.description()),
    ...(isGroup && args.length === 0 ? [] : [`\`\`\`\n${usage}\n\`\`\``]),
    ...(told.length === 0
      ? []
      : [
          table(
            ['argument', 'what it is'],
            told.map((one) => [`\`${one.name()}\``, one.description]),
          ),
        ]),
    ...(own.length === 0 ? [] : [optionTable(own)]),
    ...(verb.options.some(isShared) ? ['Also: [which hub, and as whom](#which-hub-and-as-whom).'] : []),
    ...(after === '' ? [] : [`\`\`\`\n${after}\n\`\`\``]),
    '',
  ];
  return parts.join('\n\n') + (isGroup ? `\n${verbParts(verb, before)}` : '');
}

/** What the help adds after the options: examples, and what a person has to know. */
function helpAfter(command: Command): string {
  let text = '';
  const write = (piece: string): boolean => {
    text += piece;
    return true;
  };
  // The listeners that addHelpText has left write to what they are given.
  (command as unknown as EventEmitter).emit('afterHelp', { error: false, command, write });
  return text.trim();
}

function optionTable(options: readonly Option[]): string {
  return table(
    OPTIONS,
    options.map((option) => {
      const { flags, description, argChoices, defaultValue } = option;
      const more = [
        ...(argChoices === undefined ? [] : [`one of ${argChoices.map((one) => `\`${one}\``).join(', ')}`]),
        ...defaultWords(defaultValue),
      ];
      return [`\`${flags}\``, [description, ...more].join('; ')];
    }),
  );
}

/** A default that is nothing, or what the absence of a flag means, is not told. */
function defaultWords(value: unknown): string[] {
  if (value === undefined || typeof value === 'boolean' || (Array.isArray(value) && value.length === 0))
    return [];
  return [`default \`${typeof value === 'string' ? value : JSON.stringify(value)}\``];
}

function argumentWord(one: Command['registeredArguments'][number]): string {
  const word = `${one.name()}${one.variadic ? '...' : ''}`;
  return one.required ? `<${word}>` : `[${word}]`;
}

const sentence = (text: string): string =>
  text === '' ? '' : `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}${/[.:!?]$/.test(text) ? '' : '.'}`;
