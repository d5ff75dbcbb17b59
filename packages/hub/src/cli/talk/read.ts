import { LIMITS, type Message } from '@parley/protocol';
import type { Command } from 'commander';

import { addConnectOptions, connect } from '../connect.ts';
import { messageLines } from '../message-lines.ts';
import { print, tell } from '../output.ts';
import { painter } from '../style.ts';
import { count, wholeNumber } from '../arguments.ts';

interface ReadOptions {
  since: number;
  limit: number;
  ack?: boolean;
}

/** `parley read`: messages after a position, and the acknowledgement of having read them. */
export function addReadCommand(program: Command): void {
  addConnectOptions(program.command('read <thread>'))
    .description('messages in order, from a position on')
    .option('--since <seq>', 'only messages after this seq', wholeNumber, 0)
    .option('-n, --limit <count>', 'how many at most', count, 50)
    .option('--ack', 'record that you have read what is shown')
    .addHelpText('after', '\nExample:\n  parley read th_01… --since 20 --ack')
    .action(async (thread_id: string, options: ReadOptions, command: Command) => {
      const { client, json, typed } = await connect(command);
      const messages: Message[] = [];
      let next_seq = options.since;
      let has_more = true;
      while (has_more && messages.length < options.limit) {
        const limit = Math.min(options.limit - messages.length, LIMITS.page_max);
        const page = await client.read_messages({ thread_id, since_seq: next_seq, limit });
        messages.push(...page.messages);
        ({ next_seq, has_more } = page);
      }
      if (options.ack === true && messages.length > 0)
        await client.ack_read({ thread_id, last_read_seq: next_seq });
      const paint = painter(command);
      print({ json }, { messages, next_seq, has_more }, () =>
        messages.flatMap((message) => messageLines(message, paint)),
      );
      if (!json && has_more) tell(`There is more: ${typed(`read ${thread_id} --since ${next_seq}`)}`);
      if (!json && messages.length === 0) tell(`Nothing after seq ${options.since}.`);
    });
}
