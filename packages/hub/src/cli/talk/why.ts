import { type OutputOf, table } from '@parley/protocol';
import type { Command } from 'commander';

import { whyNotRows } from './call-lines.ts';
import { addConnectOptions, connect } from '../connect.ts';
import { oneLine } from '../harmless.ts';
import { localTime, messageLines } from '../message-lines.ts';
import { print } from '../output.ts';
import { type Paint, painter } from '../style.ts';

/** `parley why`: what became of a message, as far as the hub has evidence of it. */
export function addWhyCommand(program: Command): void {
  addConnectOptions(program.command('why <thread> <message>'))
    .description('what became of a message: accepted, durable, offered, woken for, read, acted on')
    .addHelpText(
      'after',
      '\nThe message is its id, or its seq in the thread.\n\nExample:\n  parley why th_01… 3',
    )
    .action(async (thread_id: string, message: string, _options: unknown, command: Command) => {
      const { client, json } = await connect(command);
      // Asked by its number too, so that to look at a message does not count as being given it.
      const reported = await client.get_message_evidence({
        thread_id,
        message_id: message.replace(/^#(?=\d+$)/, ''),
      });
      const paint = painter(command);
      print({ json }, reported, () => [
        ...messageLines(reported.message, paint),
        ...evidenceLines(reported, paint),
      ]);
    });
}

/** One line per fact; what is not known is not told. */
function evidenceLines(reported: OutputOf<'get_message_evidence'>, paint: Paint): string[] {
  const { accepted, durable, called, not_called, offered, woken, not_woken, read, unread, acted } = reported;
  const good = (word: string): string => `  ${paint('green', word)}`;
  return table([
    [good('accepted'), `${localTime(accepted.at)} from ${accepted.by}, session ${oneLine(accepted.session)}`],
    [good('durable'), `as #${durable.seq}, on disk before it was acknowledged`],
    ...(called.length === 0 ? [] : [['  calls', `upon ${called.join(', ')}`]]),
    ...whyNotRows('not called', not_called, paint),
    ...offered.map(({ agent_id, how, by }) => [
      good('offered'),
      `to ${agent_id} ${WAYS[how] ?? `by ${oneLine(how)}`}, by ${localTime(by)}`,
    ]),
    ...woken.map((wake) => [
      `  ${paint(WAKE_COLOUR[wake.result] ?? 'yellow', NOT_WOKEN.has(wake.result) ? 'not woken' : 'woken')}`,
      wakeLine(wake),
    ]),
    ...whyNotRows('not woken', not_woken, paint),
    ...read.map(({ agent_id, at }) => [good('read'), `by ${agent_id} (cursor of ${localTime(at)})`]),
    ...unread.map((name) => [`  ${paint('yellow', 'unread')}`, `by ${name}`]),
    ...acted.map(({ seq, agent_id, what, commit, at }) => [
      good('acted on'),
      `by ${agent_id}: ${oneLine(what)} #${seq}${commit === undefined ? '' : ` (${oneLine(commit)})`}, ${localTime(at)}`,
    ]),
  ]);
}

type Woken = OutputOf<'get_message_evidence'>['woken'][number];

/** How a wake ends that has reached nobody. */
const NOT_WOKEN = new Set(['skipped', 'failed']);

const WAKE_COLOUR: Partial<Record<string, 'green' | 'red'>> = { delivered: 'green', failed: 'red' };

/** How one wake for the message went, and past which doors. */
function wakeLine({ agent_id, by, result, door, proof, why, passed, at }: Woken): string {
  const way = result === 'delivered' && door !== undefined ? ` through ${door} (${proof ?? 'no proof'})` : '';
  const tried = passed.filter(({ reason }) => reason !== 'not_configured');
  const past = tried.map((one) => `${one.door}: ${oneLine(one.reason)}`).join('; ');
  return `${agent_id}, for ${by}: ${result}${why === undefined ? '' : ` (${oneLine(why)})`}${way}, ${localTime(at)}${past === '' ? '' : `; past ${past}`}`;
}

const WAYS: Partial<Record<string, string>> = {
  read: 'who fetched it',
  wait: 'who waited for it',
  sse: 'on a stream',
  ws: 'on a WebSocket',
  mcp: 'as a notice that the thread grew',
};
