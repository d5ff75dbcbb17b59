import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { ParleyError } from '@parley/protocol';
import { type Command, Option } from 'commander';

import { print } from './output.ts';

interface InitOptions {
  name: string;
  scope: string;
  print?: boolean;
  undo?: boolean;
  claudeBin: string;
}

const run = promisify(execFile);

/** `atm-agent-mcp init claude`: registers the proxy in Claude Code by Claude Code's own command. */
export function addInitCommand(program: Command): void {
  const init = program.command('init').description('register the proxy in an MCP client');
  init
    .command('claude')
    .description('register the proxy in Claude Code, by its own `claude mcp` command')
    .argument('[serve-arguments...]', 'what `atm-agent-mcp serve` shall be started with, after --')
    .option('--name <name>', 'name of the server in Claude Code', 'codex-team')
    .addOption(
      new Option('--scope <scope>', 'for whom it is registered')
        .choices(['local', 'user', 'project'])
        .default('user'),
    )
    .option('--print', 'only print the command')
    .option('--undo', 'take the registration back')
    .addOption(new Option('--claude-bin <program>', 'the Claude Code program').default('claude'))
    .addHelpText(
      'after',
      '\nExamples:\n  atm-agent-mcp init claude\n  atm-agent-mcp init claude -- --identity arch --role review',
    )
    .action(async (serve: string[], options: InitOptions, command: Command) => {
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      const { name, scope, claudeBin, undo } = options;
      const server = [process.execPath, programPath(), 'serve', ...serve];
      const args =
        undo === true
          ? ['mcp', 'remove', '--scope', scope, name]
          : ['mcp', 'add', '--scope', scope, name, '--', ...server];
      const shown = [claudeBin, ...args].map(quoted).join(' ');
      if (options.print === true) return print(json, { command: [claudeBin, ...args] }, () => [shown]);
      await claude(claudeBin, args, shown);
      const registered = await claude(claudeBin, ['mcp', 'get', name], shown).then(
        (said) => said,
        () => undefined,
      );
      if ((registered === undefined) !== (undo === true))
        throw new ParleyError('CONFLICT', `Claude Code did not do it; try it yourself: ${shown}`);
      print(json, { name, scope, registered: undo !== true, command: [claudeBin, ...args] }, () => [
        undo === true
          ? `'${name}' is no longer registered in Claude Code.`
          : `'${name}' is registered in Claude Code; its tools are there from the next session on. To take it back: atm-agent-mcp init claude --undo`,
      ]);
    });
}

async function claude(bin: string, args: string[], shown: string): Promise<string> {
  try {
    const { stdout } = await run(bin, args, { timeout: 60_000 });
    return stdout;
  } catch (error) {
    // What `execFile` throws.
    const { code, stderr = '', message } = error as { code?: unknown; stderr?: string; message: string };
    if (code === 'ENOENT')
      throw new ParleyError(
        'NOT_FOUND',
        `there is no program '${bin}'; install Claude Code, or run: ${shown}`,
      );
    throw new ParleyError('CONFLICT', `${bin} refused: ${stderr.trim() || message}`);
  }
}

function programPath(): string {
  const [, path = ''] = process.argv;
  return path;
}

/** A word for a shell that a person pastes into. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
