import type { Command } from 'commander';

import { commaList } from '../../arguments.ts';
import { addConnectOptions, connect } from '../../connect.ts';
import { print } from '../../output.ts';

/** `parley thread side`: threads beside a thread, for detail that not everybody must read. */
export function addSideCommands(thread: Command): void {
  const side = thread.command('side').description('open and close side channels');
  addConnectOptions(side.command('open <thread> <title>'))
    .description('a thread beside this one, which all of this one can see')
    .requiredOption('-m, --purpose <text>', 'what it is for; it stands in the main thread')
    .option('--with <agents>', 'who else takes part, separated by commas', commaList, [])
    .addHelpText(
      'after',
      '\nExample:\n  parley thread side open th_01… "The cache" -m "find the leak" --with bob',
    )
    .action(
      async (
        thread_id: string,
        title: string,
        options: { purpose: string; with: string[] },
        command: Command,
      ) => {
        const { client, json } = await connect(command);
        const { purpose, with: participants } = options;
        const opened = await client.open_side_channel({ thread_id, title, purpose, participants });
        print({ json }, opened, () => [opened.thread_id]);
      },
    );
  addConnectOptions(side.command('close <side>'))
    .description('end a side channel and bring its summary back to the main thread')
    .requiredOption('-m, --summary <text>', 'what came of it')
    .addHelpText('after', '\nExample:\n  parley thread side close th_02… -m "it was the cache"')
    .action(async (thread_id: string, { summary }: { summary: string }, command: Command) => {
      const { client, json } = await connect(command);
      const closed = await client.close_side_channel({ thread_id, summary });
      print({ json }, closed, () => [
        `${closed.thread_id} is closed; its summary stands in ${closed.main_thread_id}`,
      ]);
    });
}
