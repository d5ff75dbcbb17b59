import type { Command } from 'commander';

import { addConnectOptions, connect } from './connect.ts';
import { oneLine } from './harmless.ts';
import { print, tell } from './output.ts';
import { painter } from './style.ts';
import { wholeNumber } from './arguments.ts';

/** `parley search`: full-text search over the messages of your threads. */
export function addSearchCommand(program: Command): void {
  addConnectOptions(program.command('search <query...>'))
    .description('find messages by words or "phrases", best match first')
    .option('--thread <thread>', 'only in this thread')
    .option('-n, --limit <count>', 'how many', wholeNumber, 20)
    .addHelpText('after', '\nExample:\n  parley search null fallback')
    .action(async (words: string[], options: { thread?: string; limit: number }, command: Command) => {
      const { client, json } = await connect(command);
      const paint = painter(command);
      const found = await client.search_messages({
        query: words.join(' '),
        limit: options.limit,
        ...(options.thread === undefined ? {} : { thread_id: options.thread }),
      });
      print({ json }, found, () =>
        found.hits.map(({ message, snippet }) =>
          [
            paint('dim', `${message.thread_id} #${message.seq}`),
            paint('bold', message.sender_agent_id),
            oneLine(snippet),
          ].join('  '),
        ),
      );
      if (json) return;
      if (found.hits.length === 0) tell('Nothing found.');
      if (!found.complete) tell('The index is still catching up with the log; try again in a moment.');
    });
}
