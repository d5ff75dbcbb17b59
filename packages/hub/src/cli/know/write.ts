import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { ParleyError, TREE_ROOT } from '@parley/protocol';
import { type Command } from 'commander';

import { commaList, count } from '../arguments.ts';
import { addConnectOptions, connect } from '../connect.ts';
import { print } from '../output.ts';
import { typeOf } from './layout.ts';
import { resolve, resolveDocument, walk } from './resolve.ts';

interface PutOptions {
  tags?: string[];
  revision?: number;
}

interface PromoteOptions {
  title?: string;
  tags?: string[];
}

/** `parley know put`, `promote`, `mv`, `rm` and `restore`: change documents. */
export function addWriteCommands(know: Command): void {
  addConnectOptions(know.command('put <document> [file]'))
    .description('write a document: a new one by its path, or the next revision of one that is there')
    .option('--tags <tags>', 'tags, separated by commas', commaList)
    .option('--revision <number>', 'refuse unless the document is at this revision', count)
    .addHelpText(
      'after',
      '\nThe file - (or none) is standard input.\n\nExample:\n  parley know put Guide/Setup setup.md',
    )
    .action(async (word: string, file: string | undefined, options: PutOptions, command: Command) => {
      const { client, json } = await connect(command);
      const body = readFileSync(file === undefined || file === '-' ? 0 : file, 'utf8');
      const { id, missing } = await walk(client, word);
      if (missing.length > 1)
        throw new ParleyError(
          'NOT_FOUND',
          `there is no document called ${missing[0] ?? ''}; put that one first`,
        );
      const { tags, revision } = options;
      const [title] = missing;
      if (title === undefined && id === 'root')
        throw new ParleyError('VALIDATION_ERROR', 'say where: a title, or a path such as Guide/Setup');
      const mime_type = typeOf(file ?? '');
      const done =
        title === undefined
          ? await client.update_document({
              document_id: id,
              patch: { content: { body }, ...(tags === undefined ? {} : { metadata: { tags } }) },
              update_mask: ['content.body', ...(tags === undefined ? [] : ['metadata.tags'])],
              ...(revision === undefined ? {} : { last_known_revision: revision }),
            })
          : await client.create_document({
              document_id: randomUUID(),
              parent_id: id,
              content: { mime_type, body },
              metadata: { title, ...(tags === undefined ? {} : { tags }) },
            });
      print({ json }, done, () => [`${done.id}  r${done.revision}`]);
    });
  addConnectOptions(know.command('promote <thread> [parent]'))
    .description('make a document of a resolved thread, under a parent or root; everybody here can read it')
    .option('--title <title>', "its title; else the thread's own")
    .option('--tags <tags>', 'tags, separated by commas', commaList)
    .addHelpText('after', '\nExample:\n  parley know promote th_01… Decisions --tags review')
    .action(
      async (thread_id: string, parent: string | undefined, options: PromoteOptions, command: Command) => {
        const { client, json } = await connect(command);
        const done = await client.promote_thread({
          thread_id,
          parent_id: parent === undefined ? TREE_ROOT : await resolve(client, parent),
          ...(options.title === undefined ? {} : { title: options.title }),
          ...(options.tags === undefined ? {} : { tags: options.tags }),
        });
        print({ json }, done, () => [`${done.id}  r${done.revision}  rests on ${done.cited} entries`]);
      },
    );
  addConnectOptions(know.command('mv <document> <parent>'))
    .description('move a document under another, or root; last unless --before says where')
    .option('--before <document>', 'put it before this sibling')
    .addHelpText('after', '\nExample:\n  parley know mv Drafts/Setup Guide --before Guide/Use')
    .action(async (word: string, parent: string, options: { before?: string }, command: Command) => {
      const { client, json } = await connect(command);
      const [document_id, new_parent_id] = [
        await resolveDocument(client, word),
        await resolve(client, parent),
      ];
      const before = options.before === undefined ? undefined : await resolve(client, options.before);
      const done = await client.move_document({
        document_id,
        new_parent_id,
        ...(before === undefined ? {} : { position: { before } }),
      });
      print({ json }, done, () => [`${done.id}  r${done.revision}`]);
    });
  addConnectOptions(know.command('rm <document>'))
    .description('delete a document and all below it; it can be restored for 90 days')
    .option('--reason <text>', 'why')
    .option('--at <time>', 'when, such as 2030-01-31T12:00:00Z; else now')
    .addHelpText('after', '\nExample:\n  parley know rm Drafts --reason "moved to the wiki"')
    .action(async (word: string, options: { reason?: string; at?: string }, command: Command) => {
      const { client, json, typed } = await connect(command);
      const done = await client.delete_document({
        document_id: await resolveDocument(client, word),
        ...(options.reason === undefined ? {} : { reason: options.reason }),
        ...(options.at === undefined ? {} : { delete_at: options.at }),
      });
      print({ json }, done, () => [
        `${done.deleted ? 'deleted' : `goes at ${done.delete_at}`}; until ${done.purge_at} it comes back with: ${typed(`know restore ${done.id}`)}`,
      ]);
    });
  addConnectOptions(know.command('restore <id>'))
    .description('bring back a deleted document and what went with it')
    .addHelpText('after', '\nExample:\n  parley know ls --deleted\n  parley know restore 6f1c…')
    .action(async (document_id: string, _options: unknown, command: Command) => {
      const { client, json } = await connect(command);
      const done = await client.restore_document({ document_id });
      print({ json }, done, () => [`${done.id}  r${done.revision}`]);
    });
}
