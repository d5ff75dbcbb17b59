import { LIMITS, type Message } from '@parley/protocol';
import type { Command } from 'commander';

import { addConnectOptions, connect } from './connect.ts';
import { harmlessJson } from './harmless.ts';
import { messageLines } from './message-lines.ts';
import { printLines } from './output.ts';
import { painter } from './style.ts';
import { wholeNumber } from './thread.ts';

/** How long a followed hub may be away, as during an upgrade. */
const PATIENCE_MS = 120_000;

/** `parley tail`: the newest messages, and with -f each further one as it is said. */
export function addTailCommand(program: Command): void {
  addConnectOptions(program.command('tail <thread>'))
    .description('the newest messages; with --json one message a line')
    .option('-f, --follow', 'go on with each message as it is said')
    .option('-n, --lines <count>', 'how many of the newest', wholeNumber, 50)
    .addHelpText('after', '\nExample:\n  parley tail th_01… -f')
    .action(async (thread_id: string, options: { follow?: boolean; lines: number }, command: Command) => {
      const { client, json } = await connect(command, options.follow === true ? PATIENCE_MS : undefined);
      const paint = painter(command);
      const show = (message: Message): void =>
        printLines(json ? [harmlessJson(message)] : messageLines(message, paint));
      const { last_seq } = await client.get_thread({ thread_id });
      let position = Math.max(0, last_seq - options.lines);
      if (options.follow === true) {
        for await (const message of client.follow(thread_id, position)) show(message);
        return;
      }
      while (position < last_seq) {
        const limit = Math.min(last_seq - position, LIMITS.page_max);
        const page = await client.read_messages({ thread_id, since_seq: position, limit });
        page.messages.forEach(show);
        position = page.next_seq;
      }
    });
}
