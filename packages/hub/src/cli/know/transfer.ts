import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import type { Client } from '@parley/client';
import { syncFolderSync, writeNewSync } from '@parley/files';
import { canonicalJson, type Document, type DocumentSummary, ParleyError } from '@parley/protocol';
import type { Command } from 'commander';

import { addConnectOptions, connect } from '../connect.ts';
import { EXIT, print, tell } from '../output.ts';
import { type FolderPage, layOut, MANIFEST } from './layout.ts';
import { readFolder, readPage } from './read-folder.ts';
import { resolve } from './resolve.ts';

/** What is exported is for others to read, as far as the caller's umask lets them. */
const SHARED = 0o666;

type Outcome = 'created' | 'updated' | 'unchanged';

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
      const { pages, skipped } = readFolder(folder, to);
      const known = new Map((await everything(client)).map((one) => [one.document_id, one]));
      const counts: Record<Outcome, number> = { created: 0, updated: 0, unchanged: 0 };
      const progress = progressOf('imported', pages.length);
      for (const [i, page] of pages.entries()) {
        try {
          counts[await write(client, folder, to, page, known.get(page.document_id))] += 1;
        } catch (error) {
          if (!(error instanceof ParleyError) || error.code === 'UNAVAILABLE') throw error;
          skipped.push({ path: page.path ?? page.metadata.title, reason: error.message });
        }
        progress(i + 1);
      }
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
  const progress = progressOf('exported', pages.length);
  const folders = new Set([folder]);
  for (const [i, { path, document_id }] of pages.entries()) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    folders.add(dirname(file));
    writeNewSync(file, bodies.get(document_id) ?? '', SHARED);
    progress(i + 1);
  }
  folders.forEach(syncFolderSync);
  writeNewSync(join(folder, MANIFEST), `${JSON.stringify({ version: 1, pages }, null, 2)}\n`, SHARED);
  syncFolderSync(folder);
  return pages.length;
}

/** Brings one document to what the folder says of it. */
async function write(
  client: Client,
  folder: string,
  to: string,
  page: FolderPage,
  known: DocumentSummary | undefined,
): Promise<Outcome> {
  const { path, document_id, mime_type, is_human_readable } = page;
  const { body, heading } = path === undefined ? { body: '', heading: undefined } : readPage(folder, path);
  const named = page.nameless === true && heading !== undefined ? { title: heading } : {};
  const metadata = { ...page.metadata, ...named };
  const parent_id = page.parent_id ?? to;
  const content = { mime_type, body };
  if (known === undefined) {
    await client.create_document({ document_id, parent_id, content, metadata, is_human_readable });
    return 'created';
  }
  const moved = known.parent_id !== parent_id;
  if (moved) await client.move_document({ document_id, new_parent_id: parent_id });
  const same =
    known.sha256 === hash('sha256', body, 'hex') &&
    known.mime_type === mime_type &&
    known.is_human_readable === is_human_readable &&
    canonicalJson(known.metadata) === canonicalJson(metadata);
  if (same) return moved ? 'updated' : 'unchanged';
  const dropped = Object.keys(known.metadata).filter((name) => !Object.hasOwn(metadata, name));
  const patch = {
    content,
    metadata: { ...metadata, ...Object.fromEntries(dropped.map((name) => [name, null])) },
    is_human_readable,
  };
  await client.update_document({
    document_id,
    patch,
    update_mask: ['content', 'metadata', 'is_human_readable'],
  });
  return 'updated';
}

async function everything(client: Client): Promise<Document[]> {
  const documents: Document[] = [];
  for (let after: string | null = ''; after !== null;) {
    const page: { documents: Document[]; next_after: string | null } = await client.export_documents({
      limit: 200,
      ...(after === '' ? {} : { after }),
    });
    documents.push(...page.documents);
    after = page.next_after;
  }
  return documents;
}

/** Says about once a second how far a long work has come. */
function progressOf(what: string, total: number): (count: number) => void {
  let toldAt = Date.now();
  return (count) => {
    if (Date.now() - toldAt < 1_000) return;
    toldAt = Date.now();
    tell(`${what} ${count} of ${total}`);
  };
}
