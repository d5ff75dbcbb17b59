import type { Client } from '@parley/client';
import { type DocumentSummary, LIMITS, type OutputOf } from '@parley/protocol';
import type { Command } from 'commander';

import { countWithin, count } from '../arguments.ts';
import { addConnectOptions, connect } from '../connect.ts';
import { fittedTable } from '../fitted.ts';
import { harmlessLines, oneLine } from '../harmless.ts';
import { localTime } from '../message-lines.ts';
import { print, printLines, tell } from '../output.ts';
import { painter } from '../style.ts';
import { childrenOf, resolve, resolveDocument } from './resolve.ts';

type History = OutputOf<'get_document_history'>;

/** So many changes of a document, over as many pages as that takes. */
async function historyOf(client: Client, document_id: string, limit: number): Promise<History> {
  const revisions: History['revisions'] = [];
  for (let after: string | undefined; ;) {
    const page: History = await client.get_document_history({
      document_id,
      limit: Math.min(limit - revisions.length, LIMITS.page_max),
      ...(after === undefined ? {} : { after }),
    });
    revisions.push(...page.revisions);
    after = page.next_after ?? undefined;
    if (after === undefined || revisions.length >= limit) return { ...page, revisions };
  }
}

/** `parley know ls`, `cat` and `history`: look at documents. */
export function addReadCommands(know: Command): void {
  addConnectOptions(know.command('ls [document]'))
    .description('the documents under one, or at the top')
    .option('--deleted', 'those that are deleted and can be restored')
    .addHelpText('after', '\nExample:\n  parley know ls Guide')
    .action(async (word: string | undefined, options: { deleted?: true }, command: Command) => {
      const { client, json, typed } = await connect(command);
      const paint = painter(command);
      const parent = word === undefined ? 'root' : await resolve(client, word);
      const documents: DocumentSummary[] = [];
      for await (const child of childrenOf(client, parent, options.deleted)) documents.push(child);
      print({ json }, { documents }, () =>
        fittedTable(
          documents.map((one) => [
            one.document_id,
            `r${one.revision}`,
            localTime(one.updated_at),
            one.updated_by,
            paint('bold', oneLine(one.metadata.title)),
          ]),
          [{}, {}, { spare: true }, { most: 16, spare: true }],
        ),
      );
      if (!json && documents.length === 0)
        tell(`Nothing is there. Write something with: ${typed('know put "A title" file.md')}`);
    });
  addConnectOptions(know.command('cat <document>'))
    .description('the text of a document; in a pipe it comes out as it went in')
    .option('--revision <number>', 'as it was in this revision', count)
    .addHelpText('after', '\nExample:\n  parley know cat Guide/Setup')
    .action(async (word: string, options: { revision?: number }, command: Command) => {
      const { client, json } = await connect(command);
      const document_id = await resolveDocument(client, word);
      const { revision } = options;
      const { document } = await client.get_document({
        document_id,
        ...(revision === undefined ? {} : { revision }),
      });
      const { body } = document.content;
      if (json) print({ json }, document, () => []);
      else if (process.stdout.isTTY) printLines(harmlessLines(body));
      else process.stdout.write(body);
    });
  addConnectOptions(know.command('history <document>'))
    .description('every change of a document, the newest first')
    .option('-n, --limit <count>', 'how many', countWithin(1, 1_000_000), 50)
    .addHelpText('after', '\nExample:\n  parley know history Guide/Setup')
    .action(async (word: string, { limit }: { limit: number }, command: Command) => {
      const { client, json } = await connect(command);
      const document_id = await resolveDocument(client, word);
      const history = await historyOf(client, document_id, limit);
      print({ json }, history, () =>
        fittedTable(
          history.revisions.map((one) => [
            `r${one.revision}`,
            localTime(one.at),
            one.by,
            one.action,
            oneLine([one.changed.join(', '), one.reason ?? ''].filter((part) => part !== '').join(': ')),
          ]),
          [{}, {}, { most: 20 }, {}],
        ),
      );
    });
}
