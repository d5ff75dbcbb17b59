import { ParleyError, type Quiet, readAll } from '@parley/protocol';
import type { Command } from 'commander';

import { addConnectOptions, connect } from '../connect.ts';
import { fittedTable } from '../fitted.ts';
import { durationWithin } from '../duration.ts';
import { oneLine } from '../harmless.ts';
import { localTime } from '../message-lines.ts';
import { print } from '../output.ts';

interface QuietOptions {
  everybody?: boolean;
  for?: number;
  hours?: { from: string; to: string };
  reason?: string;
  off?: boolean;
}

/** `parley quiet`: who is not to be woken for a while, at hours of the day, or until it is taken back. */
export function addQuietCommand(program: Command): void {
  addConnectOptions(program.command('quiet [agent]'))
    .description('leave an agent alone: nobody wakes it, and what it missed follows afterwards')
    .option('--everybody', 'all agents of the workspace')
    .option('--for <duration>', 'for how long, such as 2h; else until --off', durationWithin('1s', '30d'))
    .option('--hours <from-to>', 'each day at these hours of your time zone, such as 22:00-07:00', parseHours)
    .option('--reason <text>', 'why')
    .option('--off', 'take it back')
    .addHelpText(
      'after',
      '\nWithout an agent it lists who is left alone.\n\nExamples:\n  parley quiet reviewer --for 2h\n  parley quiet --everybody --hours 22:00-07:00\n  parley quiet reviewer --off',
    )
    .action((agent: string | undefined, options: QuietOptions, command: Command) =>
      quiet(agent, options, command),
    );
}

async function quiet(agent: string | undefined, options: QuietOptions, command: Command): Promise<void> {
  const { everybody = false, for: for_ms, hours, reason, off = false } = options;
  if (agent !== undefined && everybody)
    throw new ParleyError('VALIDATION_ERROR', 'name an agent, or --everybody, not both');
  if (off && (for_ms !== undefined || hours !== undefined))
    throw new ParleyError('VALIDATION_ERROR', '--off takes neither --for nor --hours');
  const { client, json } = await connect(command);
  if (agent === undefined && !everybody) {
    if (off || for_ms !== undefined || hours !== undefined)
      throw new ParleyError('VALIDATION_ERROR', 'name the agent, or --everybody');
    const list = await readAll(
      (place) => client.list_quiet(place),
      (page) => page.quiet,
    );
    return print({ json }, { quiet: list }, () =>
      list.length === 0
        ? ['Nobody is left alone.']
        : fittedTable(list.map(row), [{ most: 24 }, { most: 40 }, { most: 16 }]),
    );
  }
  const { timeZone: time_zone } = new Intl.DateTimeFormat().resolvedOptions();
  const result = await client.set_quiet({
    quiet: !off,
    ...(agent === undefined ? {} : { of_agent: agent }),
    ...(for_ms === undefined ? {} : { for_ms }),
    ...(hours === undefined ? {} : { hours: { ...hours, time_zone } }),
    ...(reason === undefined ? {} : { reason }),
  });
  print({ json }, result, () => [
    result.quiet === null ? `${agent ?? 'everybody'} may be woken again` : row(result.quiet).join('  '),
  ]);
}

function row({ agent_id, until, hours, by, reason }: Quiet): string[] {
  const when = [
    ...(hours === undefined ? [] : [`${hours.from}-${hours.to} ${hours.time_zone}`]),
    ...(until === undefined ? [] : [`until ${localTime(until)}`]),
  ];
  return [
    agent_id ?? 'everybody',
    when.length === 0 ? 'until it is taken back' : when.join(', '),
    `by ${by}`,
    ...(reason === undefined ? [] : [oneLine(reason)]),
  ];
}

function parseHours(text: string): { from: string; to: string } {
  const [, from, to] = /^(\d{1,2}:\d{2})-(\d{1,2}:\d{2})$/.exec(text) ?? [];
  if (from === undefined || to === undefined)
    throw new ParleyError('VALIDATION_ERROR', `--hours: ${text} is not of the form 22:00-07:00`);
  return { from: from.padStart(5, '0'), to: to.padStart(5, '0') };
}
