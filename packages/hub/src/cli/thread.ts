import type { Client } from '@parley/client';
import { LIMITS, type OutputOf, type Thread } from '@parley/protocol';
import { type Command, InvalidArgumentError, Option } from 'commander';

import { addConnectOptions, connect } from './connect.ts';
import { oneLine } from './harmless.ts';
import { localTime } from './message-lines.ts';
import { print, tell } from './output.ts';
import { painter } from './style.ts';
import { table } from './table.ts';

const TYPES = ['conversation', 'workflow', 'incident'] as const;
const STATUSES = ['active', 'blocked', 'resolved', 'closed'] as const;

type Type = (typeof TYPES)[number];
type Status = (typeof STATUSES)[number];

/** `parley thread`: list, start, look at and steer threads. */
export function addThreadCommands(program: Command): void {
  const thread = program.command('thread').description('list, start, show and steer threads');
  addList(thread);
  addNew(thread);
  addShow(thread);
  addStatus(thread);
  addSummary(thread);
}

function addList(thread: Command): void {
  addConnectOptions(thread.command('ls'))
    .alias('list')
    .description('the threads, newest activity first')
    .addOption(new Option('--status <status>', 'only threads in this status').choices(STATUSES))
    .option('--unread', 'only threads with messages you have not acknowledged')
    .option('-n, --limit <count>', 'how many', wholeNumber, 50)
    .addHelpText('after', '\nExample:\n  parley thread ls --status blocked')
    .action(async (options: ListOptions, command: Command) => {
      const { client, json, typed } = await connect(command);
      const paint = painter(command);
      const page = await readPages(client, options);
      print({ json }, page, () =>
        table(
          page.threads.map((row) => [
            row.thread_id,
            row.status + (row.disputed ? '!' : ''),
            row.unread === 0 ? '' : `${row.unread} unread`,
            localTime(row.updated_at),
            paint('bold', oneLine(row.title)),
          ]),
        ),
      );
      if (json) return;
      if (page.threads.length === 0)
        tell(`No threads. Start one with: ${typed('thread new "a title" --with alice,bob')}`);
      else if (page.next_before !== null) tell(`There are more; show them with --limit.`);
    });
}

interface ListOptions {
  status?: Status;
  unread?: boolean;
  limit: number;
}

/** As many threads as were asked for, over as many pages as that takes. */
async function readPages(client: Client, { status, unread, limit }: ListOptions) {
  const threads: OutputOf<'list_threads'>['threads'] = [];
  let next_before: string | null = null;
  do {
    const page: OutputOf<'list_threads'> = await client.list_threads({
      limit: Math.min(limit - threads.length, LIMITS.page_max),
      ...(status === undefined ? {} : { status }),
      ...(unread === true ? { unread } : {}),
      ...(next_before === null ? {} : { before: next_before }),
    });
    threads.push(...page.threads);
    ({ next_before } = page);
  } while (next_before !== null && threads.length < limit);
  return { threads, next_before };
}

function addNew(thread: Command): void {
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

function addShow(thread: Command): void {
  addConnectOptions(thread.command('show <thread>'))
    .description('title, status and participants of a thread')
    .addHelpText('after', '\nExample:\n  parley thread show th_01…')
    .action(async (thread_id: string, _options: unknown, command: Command) => {
      const { client, json } = await connect(command);
      const found = await client.get_thread({ thread_id });
      print({ json }, found, () => threadLines(found));
    });
}

function addStatus(thread: Command): void {
  addConnectOptions(thread.command('status <thread> <status>'))
    .description(`set the status: ${STATUSES.join(', ')}`)
    .requiredOption('-m, --reason <text>', 'why; it stands in the thread')
    .option('--key <key>', 'idempotency key')
    .addHelpText('after', '\nExample:\n  parley thread status th_01… resolved -m "all findings verified"')
    .action(
      async (
        thread_id: string,
        status: string,
        options: { reason: string; key?: string },
        command: Command,
      ) => {
        const { client, json } = await connect(command);
        const changed = await client.update_thread_status({
          thread_id,
          status: status as Status,
          reason: options.reason,
          ...(options.key === undefined ? {} : { idempotency_key: options.key }),
        });
        print({ json }, changed, () => [`${changed.thread_id} is ${changed.status}`]);
      },
    );
}

function addSummary(thread: Command): void {
  addConnectOptions(thread.command('summary <thread>'))
    .description('what happened and what is open')
    .option('-n, --max-messages <count>', 'how many of the newest messages to read', wholeNumber, 200)
    .addHelpText('after', '\nExample:\n  parley thread summary th_01…')
    .action(async (thread_id: string, options: { maxMessages: number }, command: Command) => {
      const { client, json } = await connect(command);
      const told = await client.summarize_thread({ thread_id, max_messages: options.maxMessages });
      print({ json }, told, () => [
        oneLine(told.summary),
        ...told.open_items.map((item) => `  open  #${item.seq}  ${oneLine(`${item.by}: ${item.text}`)}`),
      ]);
    });
}

/** The facts of a thread, one a line. */
function threadLines(thread: Thread): string[] {
  return table([
    ['thread', thread.thread_id],
    ['title', oneLine(thread.title)],
    ['type', thread.type],
    ['status', thread.status + (thread.disputed ? ' (disputed)' : '')],
    ['participants', thread.participants.join(', ')],
    ['messages', String(thread.last_seq)],
    ['created', `${localTime(thread.created_at)} by ${thread.created_by}`],
    ['updated', localTime(thread.updated_at)],
    ['workspace', thread.workspace_id],
  ]);
}

/** Reads a count from the command line. */
export function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function commaList(text: string): string[] {
  return text.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
}
