import { setTimeout as sleep } from 'node:timers/promises';

import type { Client } from '@parley/client';
import { type Message, type OutputOf, ParleyError } from '@parley/protocol';
import type { Command } from 'commander';

import { addConnectOptions, connect } from '../connect.ts';
import { oneLine } from '../harmless.ts';
import { localTime } from '../message-lines.ts';
import { print, printLines } from '../output.ts';
import { type Paint, painter } from '../style.ts';

interface WakeOptions {
  thread?: string;
  prompt?: string;
  force?: boolean;
  reason?: string;
  wait: boolean;
}

type WakeOutput = OutputOf<'trigger_participant'>;

/** `parley wake`: wakes an agent for what it has not read, and shows the ladder of doors as it is tried. */
export function addWakeCommand(program: Command): void {
  addConnectOptions(program.command('wake <agent>'))
    .description('wake an agent that has unread messages, and show door by door what happens')
    .option(
      '--thread <thread>',
      'the thread to wake it for; else the newest in which it has something unread',
    )
    .option('--prompt <text>', 'a word for the agent; it arrives as data, not as an instruction')
    .option('--force', 'do not wait for a person who types there; needs --reason')
    .option('--reason <text>', 'why; with --force it is the audit record')
    .option('--no-wait', 'do not wait for a wake that is deferred')
    .addHelpText(
      'after',
      '\nExamples:\n  parley wake reviewer\n  parley wake reviewer --force --reason "the release waits"',
    )
    .action((agent: string, options: WakeOptions, command: Command) => wake(agent, options, command));
}

async function wake(agent: string, options: WakeOptions, command: Command): Promise<void> {
  if (options.force === true && options.reason === undefined)
    throw new ParleyError('VALIDATION_ERROR', '--force: say why with --reason; it goes on record');
  const { client, json } = await connect(command, WAKE_PATIENCE_MS);
  const paint = painter(command);
  const steps: Message[] = [];
  const show = (step: Message): void => {
    steps.push(step);
    if (!json) printLines([stepLine(step, paint)]);
  };
  const journal = await openJournal(client, agent);
  const asked = trigger(client, agent, options);
  const settled = asked.then(
    () => true,
    () => true,
  );
  for (let answered = false; !answered;) {
    answered = await Promise.race([settled, sleep(LOOK_MS, false)]);
    await journal.read(show);
  }
  const answer = await asked;
  const reported = (): Message[] =>
    steps.filter(({ metadata }) => metadata?.['trigger_id'] === answer.trigger_id);
  // Whoever is left alone may be so for hours.
  const isAwaited = options.wait && answer.result === 'deferred' && answer.defer_reason !== 'quiet';
  if (isAwaited)
    while (endOf(reported()) === undefined) {
      await sleep(LOOK_MS);
      await journal.read(show);
    }
  const final = answer.result === 'deferred' ? settledBy(answer, endOf(reported())) : answer;
  print({ json }, { ...final, steps: reported().map(toStep) }, () => [answerLine(final)]);
}

/** A door may take its time to prove that it delivered. */
const WAKE_PATIENCE_MS = 60_000;
const LOOK_MS = 200;
const LAST_STEPS = new Set(['delivered', 'queued', 'failed', 'skipped']);

function endOf(steps: readonly Message[]): Message | undefined {
  return steps.find(({ metadata }) => LAST_STEPS.has(String(metadata?.['step'])));
}

/** A deferred wake as it came out; throws what it failed with. */
function settledBy(answer: WakeOutput, end: Message | undefined): WakeOutput {
  if (end === undefined) return answer;
  // The waker writes these into each of its steps.
  const { step, door, proof, code } = (end.metadata ?? {}) as Record<string, string>;
  // As above: with a failure goes its code.
  if (step === 'failed') throw new ParleyError(code as 'WAKE_FAILED', end.body);
  return {
    ...answer,
    // It ends with one of the results.
    result: step as WakeOutput['result'],
    ...(door === undefined ? {} : { door }),
    ...(proof === undefined ? {} : { proof }),
  };
}

/** Reads on in the journal of an agent, which may have no journal before its first entry. */
async function openJournal(client: Client, of_agent: string) {
  const find = async (): Promise<string | undefined> => {
    try {
      return (await client.get_agent({ of_agent })).journal_thread_id ?? undefined;
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'NOT_FOUND') return undefined;
      throw error;
    }
  };
  let thread_id = await find();
  let since_seq = thread_id === undefined ? 0 : (await client.get_thread({ thread_id })).last_seq;
  return {
    async read(show: (step: Message) => void): Promise<void> {
      thread_id ??= await find();
      if (thread_id === undefined) return;
      for (let more = true; more;) {
        const page = await client.read_messages({ thread_id, since_seq });
        since_seq = page.next_seq;
        more = page.has_more;
        for (const message of page.messages)
          if (typeof message.metadata?.['step'] === 'string') show(message);
      }
    },
  };
}

async function trigger(client: Client, agent: string, options: WakeOptions): Promise<WakeOutput> {
  const threads = options.thread === undefined ? await threadsOf(client, agent) : [options.thread];
  let answer: WakeOutput | undefined;
  for (const thread_id of threads) {
    answer = await client.trigger_participant({
      thread_id,
      target_agent_id: agent,
      ...(options.reason === undefined ? {} : { reason: options.reason }),
      ...(options.prompt === undefined ? {} : { trigger_prompt: options.prompt }),
      ...(options.force === true ? { force: true, audit: { reason: options.reason } } : {}),
    });
    if (answer.reason !== 'nothing_unread') return answer;
  }
  if (answer === undefined) throw new ParleyError('NOT_FOUND', `${agent} takes part in no open thread`);
  return answer;
}

/** The open threads of an agent, the newest first. */
async function threadsOf(client: Client, agent: string): Promise<string[]> {
  const { threads } = await client.list_threads({ limit: 200 });
  return threads
    .filter(({ participants, status }) => participants.includes(agent) && status !== 'closed')
    .map(({ thread_id }) => thread_id)
    .slice(0, MOST_THREADS);
}

const MOST_THREADS = 20;

const COLOUR: Partial<Record<string, 'green' | 'yellow' | 'red' | 'gray'>> = {
  delivered: 'green',
  queued: 'yellow',
  deferred: 'yellow',
  door_passed: 'gray',
  door_failed: 'red',
  failed: 'red',
};

function stepLine({ body, metadata, created_at }: Message, paint: Paint): string {
  return `  ${paint(COLOUR[String(metadata?.['step'])] ?? 'cyan', '·')} ${localTime(created_at)}  ${oneLine(body)}`;
}

function toStep({ body, metadata, created_at }: Message): Record<string, unknown> {
  const { trigger_id: _id, thread_id: _thread, ...facts } = metadata ?? {};
  return { at: created_at, text: body, ...facts };
}

function answerLine(answer: WakeOutput): string {
  const { target_agent_id, result, door, proof, deferred_until: until } = answer;
  if (answer.defer_reason === 'quiet')
    return `${target_agent_id} is left alone${until === undefined ? '' : ` until ${localTime(until)}`}; it is woken afterwards`;
  const { reason } = answer;
  const why = reason === undefined ? '' : `: ${reason.replaceAll('_', ' ')}`;
  const way = door === undefined ? '' : ` through ${door}${proof === undefined ? '' : `, shown by ${proof}`}`;
  return `${target_agent_id} ${result}${way}${why}`;
}
