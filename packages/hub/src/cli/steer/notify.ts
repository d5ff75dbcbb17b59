import { text as readText } from 'node:stream/consumers';

import type { Client } from '@parley/client';
import {
  type Channel,
  NOTICE_KINDS,
  type NoticeKind,
  ParleyError,
  type QuietHours,
  readAll,
} from '@parley/protocol';
import { type Command, InvalidArgumentError, Option } from 'commander';

import { addConnectOptions, connect } from '../connect.ts';
import { type Column, fittedTable } from '../fitted.ts';
import { readTokenFile } from '../../auth/token-file.ts';
import { oneLine } from '../harmless.ts';
import { print, tell } from '../output.ts';
import { span } from '../span.ts';

/** `parley notify`: how a person is told when an agent needs them. */
export function addNotifyCommands(program: Command): void {
  const notify = program
    .command('notify')
    .description('how you are told: list, add, change, try and remove channels')
    .addHelpText(
      'after',
      `\nKinds of news: ${NOTICE_KINDS.join(', ')}.\nWeb push is added in the browser itself: System, Notifications.`,
    );
  addList(notify);
  addAdd(notify);
  addSet(notify);
  addTest(notify);
  addRemove(notify);
}

function addList(notify: Command): void {
  addConnectOptions(notify.command('ls').alias('list').description('your channels'))
    .addHelpText('after', '\nExample:\n  parley notify ls')
    .action(async (_options: unknown, command: Command) => {
      const { client, json, typed } = await connect(command);
      const channels = await channelsOf(client);
      print({ json }, { channels }, () => fittedTable(channels.map(rowOf), CHANNEL_COLUMNS));
      if (!json && channels.length === 0)
        tell(`Nobody notifies you yet. Add a channel: ${typed('notify add ntfy')}`);
    });
}

function channelsOf(client: Client) {
  return readAll(
    (place) => client.list_channels(place),
    (page) => page.channels,
  );
}

interface AddOptions {
  name?: string;
  want?: NoticeKind[];
  quietHours?: QuietHours;
  quiet?: QuietHours;
  ntfyTokenFile?: string;
}

function addAdd(notify: Command): void {
  const command = notify
    .command('add <kind>')
    .description('add an ntfy topic or a webhook; its address comes from stdin, so that it stays out of `ps`')
    .option('--name <name>', 'what to call it')
    .option('--ntfy-token-file <file>', ' file with the access token, mode 0600');
  addChoices(addConnectOptions(command))
    .addHelpText(
      'after',
      '\nExamples:\n  echo https://ntfy.sh/my-secret-topic | parley notify add ntfy --quiet-hours 22:00-07:00\n  parley notify add webhook < address.txt',
    )
    .action(async (kind: string, options: AddOptions, self: Command) => {
      if (kind !== 'ntfy' && kind !== 'webhook')
        throw new ParleyError('VALIDATION_ERROR', 'kind: ntfy or webhook; web push is added in the browser');
      const url = await readAddress(kind);
      const token =
        options.ntfyTokenFile === undefined ? {} : { token: readTokenFile(options.ntfyTokenFile) };
      const { client, json, typed } = await connect(self);
      const added = await client.add_channel({
        kind,
        name: options.name ?? kind,
        target: { url, ...token },
        ...(options.want === undefined ? {} : { wants: options.want }),
        ...(hoursOf(options) === undefined ? {} : { quiet: hoursOf(options) }),
      });
      print({ json }, added, () => [
        `added ${added.channel.channel_id}; try it: ${typed(`notify test ${added.channel.channel_id}`)}`,
        ...(added.secret === undefined
          ? []
          : [`what is sent is signed with this secret, shown only now: ${added.secret}`]),
      ]);
    });
}

async function readAddress(kind: string): Promise<string> {
  if (process.stdin.isTTY) tell(`The address of the ${kind === 'ntfy' ? 'topic' : 'webhook'}, then Ctrl-D:`);
  const url = (await readText(process.stdin)).trim();
  if (url === '')
    throw new ParleyError(
      'VALIDATION_ERROR',
      `give the address on stdin: echo https://… | parley notify add ${kind}`,
    );
  return url;
}

function addChoices(command: Command): Command {
  return (
    command
      .addOption(
        new Option('--want <kinds>', 'what to tell of, with commas between').argParser((text: string) =>
          text.split(',').map((kind) => {
            const known = NOTICE_KINDS.find((name) => name === kind.trim());
            if (known === undefined) throw new InvalidArgumentError(`one of ${NOTICE_KINDS.join(', ')}`);
            return known;
          }),
        ),
      )
      .addOption(
        new Option('--quiet-hours <from-to>', 'hours in which nothing is sent, in your time zone').argParser(
          parseQuiet,
        ),
      )
      // What it was called before; `--quiet` of `parley run` is another thing.
      .addOption(new Option('--quiet <from-to>').argParser(parseQuiet).hideHelp())
  );
}

const hoursOf = ({ quietHours, quiet }: AddOptions): QuietHours | undefined => quietHours ?? quiet;

/** Quiet hours as they are typed, in the time zone of this machine. */
function parseQuiet(text: string): QuietHours {
  const match = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(text);
  if (match === null) throw new InvalidArgumentError('such as 22:00-07:00');
  const [, from = '', to = ''] = match;
  return { from, to, time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone, urgent: false };
}

interface SetOptions extends AddOptions {
  urgent?: boolean;
  pause?: boolean;
  resume?: boolean;
  loud?: boolean;
}

function addSet(notify: Command): void {
  const command = notify
    .command('set <channel>')
    .description('what a channel tells of, its quiet hours, its name, or a pause')
    .option('--name <name>', 'what to call it')
    .option('--urgent', 'let commands to approve through the quiet hours')
    .option('--loud', 'no quiet hours')
    .option('--pause', 'send nothing for now')
    .option('--resume', 'send again');
  addChoices(addConnectOptions(command))
    .addHelpText(
      'after',
      '\nExample:\n  parley notify set ntfy-1f0c22ab9d01 --want ask,trouble --quiet-hours 22:00-07:00',
    )
    .action(async (channel_id: string, options: SetOptions, self: Command) => {
      const { client, json } = await connect(self);
      const known = (await channelsOf(client)).find((one) => one.channel_id === channel_id);
      const quiet = hoursOf(options) ?? known?.quiet;
      const { channel } = await client.update_channel({
        channel_id,
        ...(options.name === undefined ? {} : { name: options.name }),
        ...(options.want === undefined ? {} : { wants: options.want }),
        ...(options.loud === true
          ? { quiet: null }
          : quiet === undefined
            ? {}
            : { quiet: { ...quiet, urgent: options.urgent ?? quiet.urgent } }),
        ...(options.pause === true ? { paused: true } : options.resume === true ? { paused: false } : {}),
      });
      print({ json }, { channel }, () => fittedTable([rowOf(channel)], CHANNEL_COLUMNS));
    });
}

function addTest(notify: Command): void {
  addConnectOptions(
    notify.command('test <channel>').description('send a test at once and say what came of it'),
  )
    .addHelpText('after', '\nExample:\n  parley notify test ntfy-1f0c22ab9d01')
    .action(async (channel_id: string, _options: unknown, command: Command) => {
      const { client, json } = await connect(command);
      const outcome = await client.test_channel({ channel_id });
      print({ json }, outcome, () => [outcome.sent ? 'sent' : `not sent: ${outcome.why ?? 'unknown'}`]);
      if (!outcome.sent) process.exitCode = 1;
    });
}

function addRemove(notify: Command): void {
  addConnectOptions(
    notify.command('rm <channel>').description('send nothing more there, and forget its address'),
  )
    .addHelpText('after', '\nExample:\n  parley notify rm ntfy-1f0c22ab9d01')
    .action(async (channel_id: string, _options: unknown, command: Command) => {
      const { client, json } = await connect(command);
      const result = await client.remove_channel({ channel_id });
      print({ json }, result, () => [`removed ${channel_id}`]);
    });
}

const CHANNEL_COLUMNS: readonly Column[] = [
  {},
  { most: 20 },
  { most: 26 },
  { most: 24 },
  { spare: true },
  {},
];

function rowOf(channel: Channel): string[] {
  const { channel_id, name, kind, host, wants, quiet, paused, last_sent_at, last_failure } = channel;
  const when =
    last_failure !== undefined
      ? `failed ${span(Date.now() - Date.parse(last_failure.at))} ago: ${oneLine(last_failure.why)}`
      : last_sent_at === undefined
        ? 'nothing sent yet'
        : `sent ${span(Date.now() - Date.parse(last_sent_at))} ago`;
  return [
    channel_id,
    oneLine(name),
    `${kind} ${host}`,
    paused ? 'paused' : wants.join(','),
    quiet === undefined ? '' : `quiet ${quiet.from}-${quiet.to} ${quiet.time_zone}`,
    when,
  ];
}
