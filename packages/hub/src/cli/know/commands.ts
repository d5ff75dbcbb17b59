import type { Command } from 'commander';

import { addReadCommands } from './read.ts';
import { addSearchDocumentsCommand } from './search.ts';
import { addTransferCommands } from './transfer.ts';
import { addWriteCommands } from './write.ts';

/** `parley know`: the tree of documents. */
export function addKnowCommands(program: Command): void {
  const know = program
    .command('know')
    .description('read, search, write, move, import and export documents')
    .addHelpText('after', '\nA document is named by its id, or by a path of titles such as Guide/Setup.');
  addReadCommands(know);
  addSearchDocumentsCommand(know);
  addWriteCommands(know);
  addTransferCommands(know);
}
