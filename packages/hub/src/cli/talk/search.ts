import { type Command, Option } from 'commander';

import { addConnectOptions, connect } from '../connect.ts';
import { fittedTable } from '../fitted.ts';
import { oneLine } from '../harmless.ts';
import { print, tell } from '../output.ts';
import { shownId } from '../short-ids.ts';
import { painter } from '../style.ts';
import { count } from '../arguments.ts';

interface Options {
  thread?: string;
  limit: number;
  mode: 'keyword' | 'hybrid';
}

/** What each word of `missing` means to a person. */
const LEFT_OUT = {
  changes: 'the newest messages are not indexed yet; try again in a moment',
  older_matches:
    'very many messages have these words and only the newest were compared; add a rarer word or --thread',
  words: 'only the first 16 different words were looked for',
  meaning: 'only the words were compared, not the meaning',
  vectors: 'some messages are compared by their words alone until their vectors are made',
  older: 'messages older than search.messages.keep are found by their words alone',
} as const;

/** `parley search`: search over the messages of your threads. */
export function addSearchCommand(program: Command): void {
  addConnectOptions(program.command('search <query...>'))
    .description('find messages by words or "phrases", best match first')
    .option('--thread <thread>', 'only in this thread')
    .option('-n, --limit <count>', 'how many', count, 20)
    .addOption(
      new Option('--mode <mode>', 'by all the words, or by any of them and by meaning')
        .choices(['keyword', 'hybrid'])
        .default('keyword'),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  parley search null fallback\n  parley search --mode hybrid who broke the build',
    )
    .action(async (words: string[], options: Options, command: Command) => {
      const { client, json } = await connect(command);
      const paint = painter(command);
      const found = await client.search_messages({
        query: words.join(' '),
        limit: options.limit,
        mode: options.mode,
        ...(options.thread === undefined ? {} : { thread_id: options.thread }),
      });
      print({ json }, found, () =>
        fittedTable(
          found.hits.map(({ message, snippet }) => [
            paint('dim', shownId(message.thread_id)),
            paint('dim', `#${message.seq}`),
            paint('bold', message.sender_agent_id),
            oneLine(snippet),
          ]),
          [{}, {}, { most: 20, spare: true }, {}],
        ),
      );
      if (json) return;
      if (found.hits.length === 0) tell('Nothing found.');
      for (const word of found.missing) tell(`Note: ${LEFT_OUT[word]}.`);
    });
}
