import { LIMITS, type Message, ParleyError } from '@parley/protocol';
import type { Command } from 'commander';

import { wholeNumber } from '../arguments.ts';
import { addConnectOptions, connect } from '../connect.ts';
import { eventLines } from './event-lines.ts';
import { harmlessJson } from '../harmless.ts';
import { messageLines } from '../message-lines.ts';
import { printLines } from '../output.ts';
import { painter } from '../style.ts';

/** How long a followed hub may be away, as during an upgrade. */
const PATIENCE_MS = 120_000;

interface TailOptions {
  follow?: boolean;
  limit: number;
}

/** `parley tail`: the newest messages, and with -f each further one as it is said; without a thread, all that happens. */
export function addTailCommand(program: Command): void {
  addConnectOptions(program.command('tail [thread]'))
    .description('the newest messages; with -f and no thread, all that happens; with --json one a line')
    .option('-f, --follow', 'go on with each message as it is said')
    .option('-n, --limit <count>', 'how many of the newest', wholeNumber, 50)
    .addHelpText('after', '\nExamples:\n  parley tail th_01… -f\n  parley tail -f --json')
    .action(async (thread_id: string | undefined, options: TailOptions, command: Command) => {
      if (thread_id === undefined) await followAll(options, command);
      else await tailThread(thread_id, options, command);
    });
}

async function followAll({ follow }: TailOptions, command: Command): Promise<void> {
  if (follow !== true)
    throw new ParleyError('VALIDATION_ERROR', 'name a thread, or follow all of them with -f');
  const { client, json } = await connect(command, PATIENCE_MS);
  const paint = painter(command);
  for await (const happening of client.followAll())
    printLines(json ? [harmlessJson(happening)] : eventLines(happening.event, paint));
}

async function tailThread(
  thread_id: string,
  { follow, limit }: TailOptions,
  command: Command,
): Promise<void> {
  const { client, json } = await connect(command, follow === true ? PATIENCE_MS : undefined);
  const paint = painter(command);
  const show = (message: Message): void =>
    printLines(json ? [harmlessJson(message)] : messageLines(message, paint));
  const { last_seq } = await client.get_thread({ thread_id });
  let position = Math.max(0, last_seq - limit);
  if (follow === true) {
    for await (const message of client.follow(thread_id, position)) show(message);
    return;
  }
  while (position < last_seq) {
    const rest = Math.min(last_seq - position, LIMITS.page_max);
    const page = await client.read_messages({ thread_id, since_seq: position, limit: rest });
    page.messages.forEach(show);
    position = page.next_seq;
  }
}
