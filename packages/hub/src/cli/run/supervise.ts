import type { Command } from 'commander';

import { ownTokens } from '../../auth/own-tokens.ts';
import { nameProgram, runAtTerminal } from './run-at-terminal.ts';
import { addRunCommand as addCommand, flagsOf, type RunOptions } from './run-options.ts';
import { settingsOf } from '../settings.ts';

/** `parley run`: a program at the person's terminal, which the hub can reach when the person is quiet. */
export function addRunCommand(program: Command): void {
  addCommand(program, async (words: string[], options: RunOptions, command: Command) => {
    const settings = settingsOf(command, flagsOf(options));
    const named = nameProgram(settings, words, options);
    if (options.managed !== true && options.acp !== true)
      return runAtTerminal(settings, named, options, ownTokens);
    const { runManagedProgram } = await import('./run-managed.ts');
    return runManagedProgram(settings, { ...options, ...named });
  });
}
