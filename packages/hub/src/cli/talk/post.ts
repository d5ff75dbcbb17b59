import { readFileSync } from 'node:fs';

import { type PostedKind, ParleyError } from '@parley/protocol';
import { type Command, InvalidArgumentError, Option } from 'commander';

import { addConnectOptions, connect } from '../connect.ts';
import { attachFiles } from './attach.ts';
import { callLines } from './call-lines.ts';
import { print } from '../output.ts';
import { painter } from '../style.ts';

type Fields = Record<string, unknown>;

interface PostOptions {
  kind?: PostedKind;
  event?: string;
  meta: Fields;
  to?: string;
  replyTo?: string;
  key?: string;
  attach: string[];
}

/** `parley post`: say something in a thread, or report an event. */
export function addPostCommand(program: Command): void {
  addConnectOptions(program.command('post <thread> [text]'))
    .description('post a message; the text - (or none, in a pipe) is read from standard input')
    .addOption(new Option('--kind <kind>', 'kind of message').choices(['chat', 'event']))
    .option('--event <type>', 'report an event, such as finding_reported or fix_pushed')
    .option(
      '--meta <key=value>',
      'metadata; key:=json for a number, list or object; repeatable',
      addField,
      {},
    )
    .option('--to <participant>', 'the one it is for, who is called; else all')
    .option('--reply-to <message>', 'id of the message this one answers')
    .option('--attach <file>', 'keep a file as an artifact and show it; repeatable', oneMore, [])
    .option('--key <key>', 'idempotency key: the same key posts only once')
    .addHelpText(
      'after',
      `
Examples:
  parley post th_01… "The mapper is ready for review."
  parley post th_01… --to reviewer "Please look at the mapper."
  parley post th_01… --event finding_reported --meta severity=high --meta line:=42 "Null fallback is wrong"
  parley post th_01… "This is how it looks now." --attach screen.png
  git log -1 --format=%B | parley post th_01… -`,
    )
    .action(async (thread_id: string, text: string | undefined, options: PostOptions, command: Command) => {
      const isFileAlone = text === undefined && options.attach.length > 0 && process.stdin.isTTY;
      const said = isFileAlone ? '' : text === undefined || text === '-' ? readInput(text) : text;
      const metadata: Fields = { ...options.meta };
      if (options.event !== undefined) metadata['event_type'] = options.event;
      const { client, json } = await connect(command);
      const shown = await attachFiles(client, options.attach);
      const body = [said, ...shown].filter((part) => part !== '').join('\n\n');
      const posted = await client.post_message({
        thread_id,
        schema_version: 1,
        kind: options.kind ?? (options.event === undefined ? 'chat' : 'event'),
        body,
        ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
        ...(options.to === undefined ? {} : { to: options.to }),
        ...(options.replyTo === undefined ? {} : { in_reply_to: options.replyTo }),
        ...(options.key === undefined ? {} : { idempotency_key: options.key }),
      });
      print({ json }, posted, () => [
        `#${posted.seq}  ${posted.message_id}  thread ${posted.thread_status}`,
        ...callLines(posted, painter(command)),
      ]);
    });
}

/** One more of an option that may be given several times. */
function oneMore(value: string, before: string[]): string[] {
  return [...before, value];
}

function readInput(text: string | undefined): string {
  if (text === undefined && process.stdin.isTTY)
    throw new ParleyError('VALIDATION_ERROR', 'say what to post, or - to read it from standard input');
  return readFileSync(0, 'utf8').replace(/\r?\n$/, '');
}

/** One more key=value, or key:=json, of the command line. */
export function addField(text: string, fields: Fields = {}): Fields {
  const match = /^([^:=]+)(:?=)(.*)$/s.exec(text);
  const [, key = '', sign, value = ''] = match ?? [];
  if (match === null || key === '__proto__') throw new InvalidArgumentError('Write key=value or key:=json.');
  if (sign === '=') return { ...fields, [key]: value };
  try {
    return { ...fields, [key]: JSON.parse(value) };
  } catch {
    throw new InvalidArgumentError(`The value of ${key} is no JSON.`);
  }
}
