import { table, type Thread } from '@parley/protocol';
import type { Command } from 'commander';

import { countWithin } from '../../arguments.ts';
import { addConnectOptions, connect } from '../../connect.ts';
import { oneLine } from '../../harmless.ts';
import { localTime } from '../../message-lines.ts';
import { print } from '../../output.ts';

export const STATUSES = ['active', 'blocked', 'resolved', 'closed'] as const;

export type ThreadStatusWord = (typeof STATUSES)[number];

/** `parley thread show`: the facts of one. */
export function addShow(thread: Command): void {
  addConnectOptions(thread.command('show <thread>'))
    .description('title, status and participants of a thread')
    .addHelpText('after', '\nExample:\n  parley thread show th_01…')
    .action(async (thread_id: string, _options: unknown, command: Command) => {
      const { client, json } = await connect(command);
      const found = await client.get_thread({ thread_id });
      print({ json }, found, () => threadLines(found));
    });
}

/** `parley thread status`: another one. */
export function addStatus(thread: Command): void {
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
          // The hub knows no others.
          status: status as ThreadStatusWord,
          reason: options.reason,
          ...(options.key === undefined ? {} : { idempotency_key: options.key }),
        });
        print({ json }, changed, () => [`${changed.thread_id} is ${changed.status}`]);
      },
    );
}

/** `parley thread summary`: what happened in it. */
export function addSummary(thread: Command): void {
  addConnectOptions(thread.command('summary <thread>'))
    .description('what happened and what is open')
    .option('-n, --limit <count>', 'how many of the newest messages to read', countWithin(1, 10_000), 200)
    .addHelpText('after', '\nExample:\n  parley thread summary th_01…')
    .action(async (thread_id: string, { limit }: { limit: number }, command: Command) => {
      const { client, json } = await connect(command);
      const reported = await client.summarize_thread({ thread_id, max_messages: limit });
      print({ json }, reported, () => [
        oneLine(reported.summary),
        ...reported.open_items.map((item) => `  open  #${item.seq}  ${oneLine(`${item.by}: ${item.text}`)}`),
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
    ...settings(thread),
  ]);
}

/** What somebody has set in a thread, and what hangs on it. */
function settings(thread: Thread): string[][] {
  const { muted = [], muted_until = {}, prodded = [], profiles = {}, side_channels = [], policy } = thread;
  const mutes = muted.map((name) => {
    const until = muted_until[name];
    return until === undefined ? name : `${name} until ${localTime(until)}`;
  });
  return [
    ...(muted.length === 0 ? [] : [['muted', mutes.join(', ')]]),
    ...(thread.paused === true ? [['paused', 'only people may post']] : []),
    ...(thread.done === true ? [['done', 'agents are told not to respond']] : []),
    ...(thread.expires_at === undefined ? [] : [['ends', localTime(thread.expires_at)]]),
    ...(thread.discussion === undefined
      ? []
      : [['discussion', thread.discussion.allow_agent_mentions ? 'agents call each other' : 'on']]),
    ...(thread.invited_auto === true ? [['invited_auto', 'a person’s word to all calls everybody']] : []),
    ...(policy === undefined
      ? []
      : [['policy', [policy.mode, policy.threshold].filter(Boolean).join(', up to ')]]),
    ...(prodded.length === 0 ? [] : [['prodded', prodded.join(', ')]]),
    ...Object.entries(profiles).map(([name, { client, model, nickname, roles = [] }]) => [
      'profile',
      oneLine([`${name}:`, nickname, client, model, ...roles].filter(Boolean).join(' ')),
    ]),
    ...(thread.side_of === undefined ? [] : [['beside', thread.side_of]]),
    ...side_channels.map((side) => [
      'side',
      `${side.thread_id}  ${oneLine([side.title, side.purpose ?? 'closed'].join(': '))}`,
    ]),
  ];
}
