import { type OutputOf, USAGE_GROUPS, type UsageSum } from '@parley/protocol';
import { type Command, Option } from 'commander';

import { countWithin } from '../arguments.ts';
import { addConnectOptions, connect } from '../connect.ts';
import { type Column, fittedTable } from '../fitted.ts';
import { oneLine } from '../harmless.ts';
import { print, tell } from '../output.ts';
import { shownId } from '../short-ids.ts';

type Usage = OutputOf<'get_usage'>;

const DAY_MS = 86_400_000;
const DAYS = 30;
const MOST_DAYS = 3_660;
/** What was cached is part of the input, and reasoning of the output. */
const COLUMNS: readonly Column[] = [{ most: 30 }, {}, {}, { spare: true }, {}, { spare: true }, {}];

interface Options {
  by: Usage['by'];
  days: number;
  of?: string;
  thread?: string;
}

/** `parley usage`: tokens and cost per agent, thread, day or model, as far as runtimes report them. */
export function addUsageCommand(program: Command): void {
  addConnectOptions(program.command('usage'))
    .description('tokens and cost per agent, thread, day or model, as far as the runtimes report them')
    .addOption(new Option('--by <what>', 'what each line is for').choices(USAGE_GROUPS).default('agent'))
    .option('--days <count>', 'how many days back, today included', countWithin(1, MOST_DAYS), DAYS)
    .option('--of <agent>', 'only this agent')
    .option('--thread <thread>', 'only this thread')
    .addHelpText(
      'after',
      '\nA cost is what a runtime reports, or what tokens come to by the prices that are set (usage.prices); the line says which.\n\nExample:\n  parley usage --by day --days 7',
    )
    .action(async (options: Options, command: Command) => {
      const { client, json } = await connect(command);
      const since = new Date(Date.now() - (options.days - 1) * DAY_MS).toISOString().slice(0, 10);
      const usage = await client.get_usage({
        by: options.by,
        since,
        ...(options.of === undefined ? {} : { of_agent: options.of }),
        ...(options.thread === undefined ? {} : { thread_id: options.thread }),
      });
      print({ json }, usage, () => (usage.rows.length === 0 ? [] : fittedTable(rowsOf(usage), COLUMNS)));
      if (json) return;
      if (usage.rows.length === 0) tell('No usage was reported in this time.');
      if (!usage.complete) tell('There is more than is summed up at once: choose fewer days.');
    });
}

function rowsOf({ by, rows, total }: Usage): string[][] {
  const head = [by, 'turns', 'input', 'cached', 'output', 'reasoning', 'cost'];
  const line = (name: string, sum: UsageSum): string[] => [
    oneLine(name),
    String(sum.turns),
    ...(sum.turns_without_tokens === sum.turns
      ? ['not reported', '', '', '']
      : [sum.input_tokens, sum.cached_input_tokens, sum.output_tokens, sum.reasoning_tokens].map((count) =>
          count.toLocaleString('en'),
        )),
    costOf(sum),
  ];
  const nameOf = ({ agent_id, thread_id, day, model }: Usage['rows'][number]): string =>
    agent_id ?? (thread_id && shownId(thread_id)) ?? day ?? model ?? `no ${by}`;
  return [head, ...rows.map((row) => line(nameOf(row), row)), line('all', total)];
}

/** What it cost, and by whose word. */
function costOf({ cost_reported_usd, cost_priced_usd, turns_without_cost }: UsageSum): string {
  const parts = [
    ...(cost_reported_usd === null ? [] : [`$${cost_reported_usd.toFixed(4)} reported`]),
    ...(cost_priced_usd === null ? [] : [`$${cost_priced_usd.toFixed(4)} by your prices`]),
  ];
  if (parts.length === 0) return 'not reported';
  const rest = turns_without_cost === 0 ? '' : `, ${turns_without_cost} turns without a cost`;
  return parts.join(' + ') + rest;
}
