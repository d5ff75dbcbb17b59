import { entriesOf } from '@parley/protocol';
import type { Command } from 'commander';

import { EXIT, print } from '../output.ts';

const MEANING: Record<keyof typeof EXIT, string> = {
  ok: 'done',
  failure: 'it failed; the message says why',
  usage: 'the command line, the configuration or the input is wrong',
  notFound: 'there is no such thread, message, ask, agent, key or file',
  auth: 'a valid token is needed',
  unreachable: 'no hub answers, or no database',
  denied: 'the token does not allow it',
};

/** `parley help exit-codes`: what the exit codes mean to a script. */
export function addExitCodesTopic(program: Command): void {
  const entries = entriesOf(EXIT);
  const rows = entries.map(([name, code]) => ({ code, name, meaning: MEANING[name] }));
  const lines = rows.map(({ code, meaning }) => `  ${code}  ${meaning}`);
  const topic = program
    .command('exit-codes', { hidden: true })
    .description('what the exit codes mean')
    .action((_options: unknown, command: Command) => {
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      print({ json }, { exit_codes: rows }, () => lines);
    });
  topic.helpInformation = () => `Exit codes:\n${lines.join('\n')}\n`;
}
