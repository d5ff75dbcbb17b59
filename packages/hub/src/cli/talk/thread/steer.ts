import type { InputOf, OutputOf } from '@parley/protocol';
import type { Command } from 'commander';

import { commaList } from '../../arguments.ts';
import { callLines } from '../call-lines.ts';
import { addConnectOptions, connect } from '../../connect.ts';
import { durationWithin } from '../../duration.ts';
import { oneLine } from '../../harmless.ts';
import { print } from '../../output.ts';
import { painter } from '../../style.ts';

type Control = InputOf<'control_thread'>['control'];

const spanWithin = durationWithin('1s', '365d');

interface ProfileOptions {
  client?: string;
  model?: string;
  nickname?: string;
  roles?: string[];
}

/** The controls of a thread, one command each. */
export function addSteerCommands(thread: Command): void {
  addInvite(thread);
  addMute(thread);
  addToAgents(thread, 'unmute', 'let these agents post again', (targets) => ({ unmute: { targets } }));
  addToAgents(thread, 'prod', 'ask these agents to respond', (targets) => ({ prod: targets }));
  addToAll(thread, 'pause', 'let only people post', { pause: { on: true } });
  addToAll(thread, 'resume', 'let everybody post again', { pause: { on: false } });
  addDone(thread);
  addRename(thread);
}

function addInvite(thread: Command): void {
  addConnectOptions(thread.command('invite <thread> <agent>'))
    .description('ask somebody into a thread, and call upon them')
    .option('--client <name>', 'the program it is, such as codex or claude')
    .option('--model <name>', 'its model')
    .option('--nickname <name>', 'a further name to mention it by')
    .option('--roles <roles>', 'what it is here for, separated by commas', commaList)
    .addHelpText('after', '\nExample:\n  parley thread invite th_01… codex-1 --client codex --roles planner')
    .action(async (thread_id: string, participant_id: string, options: ProfileOptions, command: Command) => {
      const { client, model, nickname, roles } = options;
      const profile = {
        ...(client === undefined ? {} : { client }),
        ...(model === undefined ? {} : { model }),
        ...(nickname === undefined ? {} : { nickname }),
        ...(roles === undefined ? {} : { roles }),
      };
      const known = Object.keys(profile).length === 0 ? {} : { profile };
      await control(
        command,
        thread_id,
        { invite: { participant_id, ...known } },
        `invited ${participant_id}`,
      );
    });
}

function addMute(thread: Command): void {
  addConnectOptions(thread.command('mute <thread> <agents...>'))
    .description('refuse what these agents post until they are unmuted, or for a while')
    .option('--for <duration>', 'for how long, such as 15m or 1h; the hub unmutes them then')
    .addHelpText('after', '\nExample:\n  parley thread mute th_01… alice bob --for 1h')
    .action(async (thread_id: string, targets: string[], options: { for?: string }, command: Command) => {
      const span = options.for;
      const end = span === undefined ? {} : { for_seconds: Math.ceil(spanWithin(span) / 1_000) };
      const said = `mute ${targets.join(', ')}${span === undefined ? '' : ` for ${span}`}`;
      await control(command, thread_id, { mute: { targets, ...end } }, said);
    });
}

function addToAgents(
  thread: Command,
  verb: string,
  what: string,
  toControl: (targets: string[]) => Control,
): void {
  addConnectOptions(thread.command(`${verb} <thread> <agents...>`))
    .description(what)
    .addHelpText('after', `\nExample:\n  parley thread ${verb} th_01… alice bob`)
    .action((thread_id: string, targets: string[], _options: unknown, command: Command) =>
      control(command, thread_id, toControl(targets), `${verb} ${targets.join(', ')}`),
    );
}

function addToAll(thread: Command, verb: string, what: string, given: Control): void {
  addConnectOptions(thread.command(`${verb} <thread>`))
    .description(what)
    .addHelpText('after', `\nExample:\n  parley thread ${verb} th_01…`)
    .action((thread_id: string, _options: unknown, command: Command) =>
      control(command, thread_id, given, `${verb}d`),
    );
}

function addDone(thread: Command): void {
  addConnectOptions(thread.command('done <thread>'))
    .description('tell agents not to respond any more, at once or in a while')
    .option('--in <duration>', 'end then, such as 10m or 2h')
    .option('--undo', 'it goes on after all')
    .addHelpText('after', '\nExample:\n  parley thread done th_01… --in 10m')
    .action(async (thread_id: string, options: { in?: string; undo?: boolean }, command: Command) => {
      const given: Control =
        options.in === undefined
          ? { done: options.undo !== true }
          : { ttl_seconds: Math.ceil(spanWithin(options.in) / 1_000) };
      const said =
        options.in === undefined ? (options.undo === true ? 'goes on' : 'done') : `ends in ${options.in}`;
      await control(command, thread_id, given, said);
    });
}

function addRename(thread: Command): void {
  addConnectOptions(thread.command('rename <thread> <title>'))
    .description('give a thread another title; the old one stays in its log')
    .addHelpText('after', '\nExample:\n  parley thread rename th_01… "Mapper review, second round"')
    .action(async (thread_id: string, title: string, _options: unknown, command: Command) => {
      const { client, json } = await connect(command);
      const renamed = await client.rename_thread({ thread_id, title });
      print({ json }, renamed, () => [`${renamed.thread_id} is “${oneLine(renamed.title)}”`]);
    });
}

async function control(command: Command, thread_id: string, given: Control, said: string): Promise<void> {
  const { client, json } = await connect(command);
  const answer: OutputOf<'control_thread'> = await client.control_thread({ thread_id, control: given });
  const { seq, called, not_called } = answer;
  print({ json }, answer, () => [
    `#${seq}  ${oneLine(said)}${called.length === 0 ? '' : `; calls upon ${called.join(', ')}`}`,
    ...callLines({ called: [], not_called }, painter(command)),
  ]);
}
