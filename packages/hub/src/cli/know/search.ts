import type { OutputOf } from '@parley/protocol';
import { type Command, Option } from 'commander';

import { commaList, countWithin } from '../arguments.ts';
import { addConnectOptions, connect } from '../connect.ts';
import { durationWithin } from '../duration.ts';
import { fittedTable } from '../fitted.ts';
import { harmlessLines, oneLine } from '../harmless.ts';
import { print, tell } from '../output.ts';
import { shownId } from '../short-ids.ts';
import { painter } from '../style.ts';

interface Options {
  limit: number;
  scope: 'documents' | 'threads' | 'all';
  tags?: string[];
  timeout: number;
}

const SHOWN = 200;

/** What each word of `missing` means to a person. */
const LEFT_OUT = {
  changes: 'the newest changes are not indexed yet',
  meaning: 'only the words were compared, not the meaning',
  vectors: 'some passages are compared by their words alone until their vectors are made',
  answer: 'the model gave no answer in time',
  older: 'messages older than search.messages.keep are found by their words alone',
  older_matches: 'very many messages have these words and only the newest were compared',
} as const;

type QueryOutput = OutputOf<'query_knowledge'>;

/** One line for each thing found: what it is, where it is, and the sentence that the answer cites, or its beginning. */
function linesOf({ context, messages, citations }: QueryOutput, paint: ReturnType<typeof painter>): string[] {
  const sentenceOf = (n: number, text: string, from: number): string => {
    const cited = citations.find((one) => one.n === n);
    return inOneLine(cited === undefined ? text : text.slice(cited.start - from, cited.end - from));
  };
  const documents = context.map(({ n, heading_path, document_id, revision, snippet, start }) => ({
    n,
    parts: [
      paint('bold', `[${n}] ${oneLine(heading_path.join(' > '))}`),
      paint('dim', `${document_id} r${revision}`),
      sentenceOf(n, snippet, start).slice(0, SHOWN),
    ],
  }));
  const said = messages.map(({ n, sender_agent_id, thread_title, thread_id, seq, snippet }) => ({
    n,
    parts: [
      paint('bold', `[${n}] ${oneLine(`${sender_agent_id} in ${thread_title}`)}`),
      paint('dim', `${shownId(thread_id)} #${seq}`),
      inOneLine(snippet).slice(0, SHOWN),
    ],
  }));
  // Each for itself: titles and ids are of very different lengths.
  return [...documents, ...said]
    .toSorted((a, b) => a.n - b.n)
    .flatMap(({ parts }) => fittedTable([parts], [{ most: 40 }, { spare: true }, {}]));
}

/** Where a document begins a new line, a blank is enough here. */
function inOneLine(text: string): string {
  return oneLine(text.replaceAll(/\s+/g, ' '));
}

/** `parley know search`: ask the documents. */
export function addSearchDocumentsCommand(know: Command): void {
  addConnectOptions(know.command('search <words...>'))
    .description('find passages by words and meaning, the best first, with the sentences that answer')
    .option('-n, --limit <count>', 'how many passages, at most 20', countWithin(1, 20), 5)
    .addOption(
      new Option('--scope <scope>', 'ask the documents, the messages of threads, or both')
        .choices(['documents', 'threads', 'all'])
        .default('documents'),
    )
    .option('--tags <tags>', 'only documents that have all of these, separated by commas', commaList)
    .option('--timeout <duration>', 'how long it may take, 1s to 10s', durationWithin('1s', '10s'), 4_000)
    .addHelpText(
      'after',
      '\nExamples:\n  parley know search how do we deploy --tags guide\n  parley know search who broke the build --scope all',
    )
    .action(async (words: string[], options: Options, command: Command) => {
      const { client, json } = await connect(command);
      const paint = painter(command);
      const found = await client.query_knowledge({
        query: words.join(' '),
        top_k: options.limit,
        scope: options.scope,
        filters: options.tags === undefined ? {} : { tags: options.tags },
        context_hints: { preferred_format: 'plain' },
        routing: { max_latency_ms: options.timeout },
      });
      print({ json }, found, () => [
        ...(found.response === '' ? [] : [...harmlessLines(found.response), '']),
        ...linesOf(found, paint),
      ]);
      if (json) return;
      if (found.context.length + found.messages.length === 0) tell('Nothing found.');
      for (const word of found.missing) tell(`Note: ${LEFT_OUT[word]}.`);
    });
}
