import { readAll } from '@parley/protocol';
import { type Command, Option } from 'commander';

import { addConnectOptions, connect } from '../connect.ts';
import { fittedTable } from '../fitted.ts';
import { oneLine } from '../harmless.ts';
import { localTime } from '../message-lines.ts';
import { print, tell } from '../output.ts';

const STATUSES = ['active', 'idle', 'offline'] as const;

interface SessionsOptions {
  agent?: string;
  status?: (typeof STATUSES)[number];
}

/** `parley sessions`: which agents have reported themselves, and when last. */
export function addSessionsCommand(program: Command): void {
  addConnectOptions(program.command('sessions'))
    .description('the sessions that have sent a heartbeat')
    .option('--agent <id>', 'only sessions of this agent')
    .addOption(new Option('--status <status>', 'only sessions in this status').choices(STATUSES))
    .addHelpText('after', '\nExample:\n  parley sessions --status active')
    .action(async ({ agent, status }: SessionsOptions, command: Command) => {
      const { client, json } = await connect(command);
      const wanted = {
        ...(agent === undefined ? {} : { of_agent: agent }),
        ...(status === undefined ? {} : { status }),
      };
      const sessions = await readAll(
        (place) => client.list_sessions({ ...wanted, ...place }),
        (page) => page.sessions,
      );
      print({ json }, { sessions }, () =>
        fittedTable(
          sessions.map((row) => [
            row.agent_id,
            row.status,
            oneLine(row.runtime),
            row.management_mode,
            `heard ${localTime(row.last_heartbeat_at)}`,
            row.session_id,
          ]),
          [{ most: 24 }, {}, { most: 16 }, { spare: true }, { spare: true }],
        ),
      );
      if (!json && sessions.length === 0)
        tell('No sessions: an agent appears here with its first heartbeat_session call.');
    });
}
