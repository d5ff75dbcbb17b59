import type { Command } from 'commander';

import { wholeNumber } from '../arguments.ts';
import { addConnectOptions, connect } from '../connect.ts';
import { harmlessLines, oneLine } from '../harmless.ts';
import { print, tell } from '../output.ts';
import { painter } from '../style.ts';

interface Options {
  limit: number;
  tag?: string[];
  within: number;
}

const SHOWN = 200;

/** What each word of `missing` means to a person. */
const LEFT_OUT = {
  changes: 'the newest changes are not indexed yet',
  meaning: 'only the words were compared, not the meaning',
  vectors: 'some passages are compared by their words alone until their vectors are made',
  answer: 'the model gave no answer in time',
} as const;

/** `parley know search`: ask the documents. */
export function addSearchDocumentsCommand(know: Command): void {
  addConnectOptions(know.command('search <words...>'))
    .description('find passages by words and meaning, the best first, with the sentences that answer')
    .option('-n, --limit <count>', 'how many passages, at most 20', wholeNumber, 5)
    .option('--tag <tag...>', 'only documents that have all of these tags')
    .option('--within <ms>', 'how long it may take, 1000 to 10000', wholeNumber, 4_000)
    .addHelpText('after', '\nExample:\n  parley know search how do we deploy --tag guide')
    .action(async (words: string[], options: Options, command: Command) => {
      const { client, json } = await connect(command);
      const paint = painter(command);
      const found = await client.query_knowledge({
        query: words.join(' '),
        top_k: options.limit,
        filters: options.tag === undefined ? {} : { tags: options.tag },
        context_hints: { preferred_format: 'plain' },
        routing: { max_latency_ms: options.within },
      });
      print({ json }, found, () => [
        ...(found.response === '' ? [] : [...harmlessLines(found.response), '']),
        ...found.context.map(({ n, heading_path, snippet, document_id, revision }) =>
          [
            paint('bold', `[${n}] ${oneLine(heading_path.join(' > '))}`),
            paint('dim', `${document_id} r${revision}`),
            oneLine(snippet).slice(0, SHOWN),
          ].join('  '),
        ),
      ]);
      if (json) return;
      if (found.context.length === 0) tell('Nothing found.');
      for (const word of found.missing) tell(`Note: ${LEFT_OUT[word]}.`);
    });
}
