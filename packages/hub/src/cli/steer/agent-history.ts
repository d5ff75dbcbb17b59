import { type AgentStretch, type OutputOf, readAll } from '@parley/protocol';
import type { Command } from 'commander';

import { addConnectOptions, connect } from '../connect.ts';
import { durationWithin } from '../duration.ts';
import { type Column, fittedTable } from '../fitted.ts';
import { oneLine } from '../harmless.ts';
import { localTime } from '../message-lines.ts';
import { print, tell } from '../output.ts';
import { shownId } from '../short-ids.ts';
import { span } from '../span.ts';
import { painter } from '../style.ts';
import { STATE_COLOUR } from './state-colour.ts';

type History = OutputOf<'list_agent_states'>['agents'][number];

const DAY_MS = 86_400_000;
const COLUMNS: readonly Column[] = [{ most: 30 }, {}, {}, {}, {}];

/** `parley agent history`: what one agent, or each, was at and what it waited for. */
export function addHistoryCommand(agent: Command): void {
  addConnectOptions(agent.command('history [agent]'))
    .alias('timeline')
    .description('what an agent, or each, was at: since when, for how long, why, what it waited for')
    .option(
      '--for <duration>',
      'how far back, at most 366d; 24h when left out',
      durationWithin('1m', '366d'),
      DAY_MS,
    )
    .addHelpText(
      'after',
      '\nThe hub keeps this for 30 days (sessions.states_keep_days). While it does not run, it notes nothing.\n\nExample:\n  parley agent history reviewer --for 6h',
    )
    .action(async (of_agent: string | undefined, options: { for: number }, command: Command) => {
      const { client, json } = await connect(command);
      const paint = painter(command);
      const now = Date.now();
      const since = new Date(now - options.for).toISOString();
      const agents: History[] = [];
      const wanted = of_agent === undefined ? {} : { of_agent };
      const found = await readAll(
        (place) => client.list_agent_states({ ...wanted, since, ...place }),
        (page) => page.agents,
      );
      for (const one of found) agents.push(await withOlder(one));
      print({ json }, { since, agents }, () =>
        fittedTable(
          agents.flatMap(({ agent_id, stretches }) =>
            stretches.map((one) => [
              paint('bold', oneLine(agent_id)),
              localTime(one.since),
              span((one.until === null ? now : Date.parse(one.until)) - Date.parse(one.since)),
              paint(STATE_COLOUR[one.state], one.state.replace('_', ' ')),
              oneLine(wordsOf(one)),
            ]),
          ),
          COLUMNS,
        ),
      );
      if (!json && agents.every(({ stretches }) => stretches.length === 0))
        tell('Nothing was noted in this time.');

      /** One that changed often has more than a page. */
      async function withOlder(one: History): Promise<History> {
        let { stretches, older_than } = one;
        while (older_than !== null) {
          const [older] = (
            await client.list_agent_states({ of_agent: one.agent_id, since, until: older_than })
          ).agents;
          stretches = [...(older?.stretches ?? []), ...stretches];
          older_than = older?.older_than ?? null;
        }
        return { ...one, stretches, older_than };
      }
    });
}

function wordsOf({ reason, waits_for, thread_id }: AgentStretch): string {
  const ask = waits_for?.ask_id === undefined ? [] : [`ask ${waits_for.ask_id}`];
  const thread = thread_id === undefined ? [] : [`thread ${shownId(thread_id)}`];
  const where = [...ask, ...thread];
  return where.length === 0 ? reason : `${reason} (${where.join(', ')})`;
}
