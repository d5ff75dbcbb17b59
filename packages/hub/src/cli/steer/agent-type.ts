import { ParleyError, TERMINAL_COMMANDS, type TerminalCommand, type TerminalOutput } from '@parley/protocol';
import type { Command } from 'commander';

import { tellNoTerminal } from './agent-screen.ts';
import { addSessionOption, ofSession } from './agent-session.ts';
import { addConnectOptions, connect } from '../connect.ts';
import { durationWithin } from '../duration.ts';
import { localTime } from '../message-lines.ts';
import { print } from '../output.ts';

interface TypeOptions {
  enter?: boolean;
  keep?: boolean;
  session?: string;
  for: number;
  force?: boolean;
  reason?: string;
}

const TIMEOUT_MS = 10_000;

/** `parley agent type`: takes over the terminal of an agent for a moment, types, and gives it back. */
export function addTypeCommand(agent: Command): void {
  addSessionOption(addConnectOptions(agent.command('type <agent> [keys]')))
    .description('type keys into the terminal of an agent that runs under parley run, as they are')
    .option('--enter', 'press Enter after them')
    .option('--keep', 'keep the terminal afterwards: nothing else is typed there until the time is up')
    .option(
      '--for <duration>',
      'how long it is yours at most; up to 10m',
      durationWithin('1s', '10m'),
      60_000,
    )
    .option('--force', 'take it over although a person types there; needs --reason')
    .option('--reason <text>', 'why; with --force it is the audit record')
    .addHelpText(
      'after',
      '\nWhoever sits at the machine takes it back by pressing any key.\n\nExamples:\n  parley agent type reviewer "go on" --enter\n  parley agent type reviewer --keep --for 5m',
    )
    .action((of_agent: string, keys: string | undefined, options: TypeOptions, command: Command) =>
      type(of_agent, keys, options, command),
    );
}

async function type(
  of_agent: string,
  keys: string | undefined,
  options: TypeOptions,
  command: Command,
): Promise<void> {
  const { enter = false, keep = false } = options;
  const text = `${keys ?? ''}${enter ? '\r' : ''}`;
  if (text === '' && !keep)
    throw new ParleyError('VALIDATION_ERROR', 'say what to type, or --enter, or --keep to only take it over');
  if (options.force === true && options.reason === undefined)
    throw new ParleyError('VALIDATION_ERROR', '--force: say why with --reason; it goes on record');
  const { client, json } = await connect(command);
  const ask = async <C extends TerminalCommand>(
    name: C,
    parameters: Record<string, unknown>,
  ): Promise<TerminalOutput<C>> => {
    const about = {
      of_agent,
      ...ofSession(options.session),
      command: name,
      parameters,
      timeout_ms: TIMEOUT_MS,
    };
    const { success, result, error } = await client.command_agent(about).catch(tellNoTerminal);
    if (!success) throw new ParleyError('CONFLICT', error?.message ?? `${name} failed`);
    // It was parsed by the schema of this very command.
    return TERMINAL_COMMANDS[name].output.parse(result) as TerminalOutput<C>;
  };
  const forced =
    options.force === true
      ? { force: true, operator: (await client.whoami({})).agent_id, audit: { reason: options.reason } }
      : {};
  const { lock_id, until } = await ask('terminal_lock', { ttl_ms: options.for, ...forced });
  const { typed } = text === '' ? { typed: 0 } : await ask('terminal_type', { lock_id, keys: text });
  if (!keep) await ask('terminal_unlock', { lock_id });
  print({ json }, { of_agent, typed, ...(keep ? { lock_id, until } : {}) }, () => [
    `typed ${typed} bytes into ${of_agent}${keep ? `; it is yours until ${localTime(until)}` : ''}`,
  ]);
}
