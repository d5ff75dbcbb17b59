import type { Client } from '@parley/client';
import { LIMITS, type OutputOf } from '@parley/protocol';
import { type Command, Option } from 'commander';

import { commaList, count } from '../../arguments.ts';
import { addConnectOptions, connect } from '../../connect.ts';
import { fittedTable } from '../../fitted.ts';
import { oneLine } from '../../harmless.ts';
import { localTime } from '../../message-lines.ts';
import { print, tell } from '../../output.ts';
import { painter } from '../../style.ts';
import { shownId } from '../../short-ids.ts';
import { STATUSES, type ThreadStatusWord } from './show.ts';

const TYPES = ['conversation', 'workflow', 'incident'] as const;

type Type = (typeof TYPES)[number];

/** `parley thread ls`: the threads there are. */
export function addList(thread: Command): void {
  addConnectOptions(thread.command('ls'))
    .alias('list')
    .description('the threads, newest activity first')
    .addOption(new Option('--status <status>', 'only threads in this status').choices(STATUSES))
    .option('--unread', 'only threads with messages you have not acknowledged')
    .addOption(new Option('--group <group>', 'open, blocked (also by a finding) or done').choices(GROUPS))
    .option('--text <words>', 'only threads whose title has these words')
    .option('--agent <name>', 'only threads that this agent takes part in')
    .option('--folder <path>', 'only threads of agents that work in this folder')
    .option('-n, --limit <count>', 'how many', count, 50)
    .addHelpText('after', '\nExample:\n  parley thread ls --status blocked')
    .action(async (options: ListOptions, command: Command) => {
      const { client, json, typed } = await connect(command);
      const paint = painter(command);
      const page = await readPages(client, options);
      print({ json }, page, () =>
        fittedTable(
          page.threads.map((row) => [
            shownId(row.thread_id),
            row.status + (row.disputed ? '!' : ''),
            row.unread === 0 ? '' : `${row.unread} unread`,
            localTime(row.updated_at),
            paint('bold', oneLine(row.title)),
          ]),
          [{}, {}, {}, { spare: true }, {}],
        ),
      );
      if (json) return;
      if (page.threads.length === 0)
        tell(`No threads. Start one with: ${typed('thread new "a title" --with alice,bob')}`);
      else if (page.next_before !== null) tell(`There are more; show them with --limit.`);
    });
}

const GROUPS = ['open', 'blocked', 'done'] as const;

interface ListOptions {
  status?: ThreadStatusWord;
  unread?: boolean;
  group?: (typeof GROUPS)[number];
  text?: string;
  agent?: string;
  folder?: string;
  limit: number;
}

/** As many threads as were asked for, over as many pages as that takes. */
async function readPages(client: Client, options: ListOptions) {
  const { status, unread, limit, group, text, agent, folder } = options;
  const threads: OutputOf<'list_threads'>['threads'] = [];
  let next_before: string | null = null;
  do {
    const page: OutputOf<'list_threads'> = await client.list_threads({
      limit: Math.min(limit - threads.length, LIMITS.page_max),
      ...(status === undefined ? {} : { status }),
      ...(unread === true ? { unread } : {}),
      ...(group === undefined ? {} : { group }),
      ...(text === undefined ? {} : { text }),
      ...(agent === undefined ? {} : { with_agent: agent }),
      ...(folder === undefined ? {} : { folder }),
      ...(next_before === null ? {} : { before: next_before }),
    });
    threads.push(...page.threads);
    ({ next_before } = page);
  } while (next_before !== null && threads.length < limit);
  return { threads, next_before };
}

/** `parley thread new`: one more. */
export function addNew(thread: Command): void {
  addConnectOptions(thread.command('new <title>'))
    .description('start a thread; you take part in it')
    .option('--with <agents>', 'who else takes part, separated by commas', commaList, [])
    .addOption(new Option('--type <type>', 'kind of thread').choices(TYPES).default('conversation'))
    .option('--key <key>', 'idempotency key: the same key starts the thread only once')
    .addHelpText('after', '\nExample:\n  parley thread new "Mapper review" --type workflow --with alice,bob')
    .action(
      async (title: string, options: { with: string[]; type: Type; key?: string }, command: Command) => {
        const { client, json } = await connect(command);
        const created = await client.create_thread({
          title,
          type: options.type,
          participants: options.with,
          ...(options.key === undefined ? {} : { idempotency_key: options.key }),
        });
        print({ json }, created, () => [created.thread_id]);
      },
    );
}
