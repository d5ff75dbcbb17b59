import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Client } from '@parley/client';
import { syncFolderSync, writeNewSync } from '@parley/files';
import { type Document, LIMITS, ParleyError } from '@parley/protocol';
import type { Command } from 'commander';

import { addConnectOptions, connect } from '../connect.ts';
import { EXIT, print, tell } from '../output.ts';
import { layOut, MANIFEST } from './layout.ts';
import { createCounter } from '../progress.ts';
import { resolve } from './resolve.ts';
import { sendPages } from './send-pages.ts';

/** What is exported is for others to read, as far as the caller's umask lets them. */
const SHARED = 0o666;

/** `parley know import` and `export`: a folder of Markdown, both ways. */
export function addTransferCommands(know: Command): void {
  addConnectOptions(know.command('import <folder>'))
    .description(
      'make documents of a folder of .md, .txt and .json files; again, only what changed is written',
    )
    .option('--to <document>', 'hang them under this document', 'root')
    .addHelpText('after', '\nExample:\n  parley know import ./docs --to Guide')
    .action(async (folder: string, options: { to: string }, command: Command) => {
      const { client, json } = await connect(command);
      const to = await resolve(client, options.to);
      const { readFolder } = await import('./read-folder.ts');
      const { pages, skipped } = readFolder(folder, to);
      const counts = await sendPages(client, { folder, to, pages, skipped });
      print({ json }, { ...counts, skipped }, () => [
        `${counts.created} created, ${counts.updated} updated, ${counts.unchanged} unchanged, ${skipped.length} skipped`,
      ]);
      if (skipped.length === 0) return;
      if (!json) for (const { path, reason } of skipped) tell(`skipped ${path}: ${reason}`);
      process.exitCode = EXIT.failure;
    });
  addConnectOptions(know.command('export <folder>'))
    .description('write every document into a new folder, with a list that brings ids and metadata back')
    .addHelpText('after', '\nExample:\n  parley know export ./copy')
    .action(async (folder: string, _options: unknown, command: Command) => {
      const { client, json } = await connect(command);
      const made = mkdirSync(folder, { recursive: true });
      if (readdirSync(folder).length > 0)
        throw new ParleyError('CONFLICT', `${folder} is not empty; name a new folder`);
      let count: number;
      try {
        count = writePages(folder, await everything(client));
      } catch (error) {
        // Half an export would be taken for a whole one.
        for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
        if (made !== undefined) rmSync(made, { recursive: true });
        throw error;
      }
      print({ json }, { folder, documents: count }, () => [`${folder}: ${count} documents`]);
    });
}

/** Fills an empty folder; the list is last, so that a folder with one is whole. */
function writePages(folder: string, documents: readonly Document[]): number {
  const pages = layOut(documents);
  const bodies = new Map(documents.map((one) => [one.document_id, one.content.body]));
  const progress = createCounter('exported', pages.length);
  const folders = new Set([folder]);
  for (const [i, { path, document_id }] of pages.entries()) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    folders.add(dirname(file));
    writeNewSync(file, bodies.get(document_id) ?? '', SHARED);
    progress.reached(i + 1);
  }
  progress.end();
  folders.forEach(syncFolderSync);
  writeNewSync(join(folder, MANIFEST), `${JSON.stringify({ version: 1, pages }, null, 2)}\n`, SHARED);
  syncFolderSync(folder);
  return pages.length;
}

async function everything(client: Client): Promise<Document[]> {
  const documents: Document[] = [];
  for (let after: string | null = ''; after !== null;) {
    const page: { documents: Document[]; next_after: string | null } = await client.export_documents({
      limit: LIMITS.page_max,
      ...(after === '' ? {} : { after }),
    });
    documents.push(...page.documents);
    after = page.next_after;
  }
  return documents;
}
