import { type OutputOf, ParleyError, type QueuedDelivery } from '@parley/protocol';
import type { Command } from 'commander';

import { count } from '../arguments.ts';
import { addConnectOptions, connect, type Connection } from '../connect.ts';
import { fittedTable } from '../fitted.ts';
import { oneLine } from '../harmless.ts';
import { localTime } from '../message-lines.ts';
import { EXIT, print, tell } from '../output.ts';

/** `parley queue`: envelopes that were accepted for later, and those that could not be delivered. */
export function addQueueCommands(program: Command): void {
  const queue = program
    .command('queue')
    .description('look at deliveries and dead letters, and try those again');
  addConnectOptions(queue.command('ls'))
    .description('deliveries, the newest first')
    .option('--status <status>', 'waiting, done or dead')
    .option('-n, --limit <count>', 'how many', count, 50)
    .addHelpText('after', '\nExample:\n  parley queue ls --status waiting')
    .action(async (options: { status?: QueuedDelivery['status']; limit: number }, command: Command) => {
      const { status, limit } = options;
      await show(await connect(command), { limit, ...(status === undefined ? {} : { status }) });
    });
  addConnectOptions(queue.command('dead'))
    .description('dead letters with the reason why, the newest first')
    .option('-n, --limit <count>', 'how many', count, 50)
    .addHelpText('after', '\nExample:\n  parley queue dead --json')
    .action(async ({ limit }: { limit: number }, command: Command) => {
      await show(await connect(command), { status: 'dead', limit });
    });
  addConnectOptions(queue.command('redrive [delivery...]'))
    .description('try dead letters again; what is past its time stays dead')
    .option('--all', 'all dead letters')
    .addHelpText('after', '\nExample:\n  parley queue redrive --all')
    .action(async (ids: string[], { all }: { all?: true }, command: Command) => {
      const connection = await connect(command);
      const { json } = connection;
      if ((all === true) === ids.length > 0)
        throw new ParleyError('VALIDATION_ERROR', 'name deliveries, or say --all');
      const deliveries = await redrive(connection, all === true ? await deadOf(connection) : ids);
      print({ json }, { deliveries }, () =>
        fittedTable(
          deliveries.map((one) => [
            one.delivery_id,
            one.redriven ? 'tried again' : one.status,
            one.error === undefined ? '' : oneLine(`${one.error.code}: ${one.error.message}`),
          ]),
        ),
      );
      if (deliveries.some(({ error }) => error !== undefined)) process.exitCode = EXIT.failure;
    });
}

async function show(
  { client, json }: Connection,
  query: { status?: QueuedDelivery['status']; limit: number },
): Promise<void> {
  const page = await client.list_deliveries({ ...query, limit: Math.min(Math.max(query.limit, 1), 200) });
  print({ json }, page, () =>
    fittedTable(
      page.deliveries.map((one) => [
        one.delivery_id,
        one.status,
        one.action,
        one.from,
        localTime(one.accepted_at),
        `${one.attempts} tried`,
        one.error === undefined ? '' : oneLine(`${one.error.code}: ${one.error.message}`),
      ]),
      [{}, {}, { most: 28 }, { most: 16, spare: true }, { spare: true }, { spare: true }, {}],
    ),
  );
  if (!json && page.deliveries.length === 0) tell('Nothing is there.');
}

const AT_ONCE = 200;

async function deadOf({ client }: Connection): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | null = ''; after !== null;) {
    const page: OutputOf<'list_deliveries'> = await client.list_deliveries({
      status: 'dead',
      limit: AT_ONCE,
      ...(after === '' ? {} : { after }),
    });
    ids.push(...page.deliveries.map(({ delivery_id }) => delivery_id));
    after = page.next_after;
  }
  return ids;
}

async function redrive({ client }: Connection, ids: readonly string[]) {
  const done: OutputOf<'redrive_deliveries'>['deliveries'] = [];
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const page = await client.redrive_deliveries({ delivery_ids: ids.slice(at, at + AT_ONCE) });
    done.push(...page.deliveries);
  }
  return done;
}
