import type { Client } from '@parley/client';
import { type Ask, AskStatus, type InputOf, LIMITS, ParleyError } from '@parley/protocol';
import { type Command, Option } from 'commander';

import { askLines, askRow } from './ask-lines.ts';
import { addConnectOptions, connect } from './connect.ts';
import { oneLine } from './harmless.ts';
import { print, tell } from './output.ts';
import { painter } from './style.ts';
import { fitted, table } from './table.ts';
import { wholeNumber } from './arguments.ts';

const STATUSES = [...AskStatus.options, 'all'] as const;
const SCOPES = ['once', 'session', 'rule'] as const;

/** `parley ask`: what agents need of a person, and the person's answers. */
export function addAskCommands(program: Command): void {
  const ask = program
    .command('ask')
    .description('what agents need of you: list, show, approve, deny, answer')
    .addHelpText('after', '\nAn ask is named by its id, or by the last letters of it that `ask ls` shows.');
  addList(ask);
  addShow(ask);
  addApprove(ask);
  addDeny(ask);
  addAnswer(ask);
  addRules(ask);
}

function addRules(ask: Command): void {
  addConnectOptions(ask.command('rules'))
    .description('what is approved without asking')
    .addHelpText('after', '\nExample:\n  parley ask rules')
    .action(async (_options: unknown, command: Command) => {
      const { client, json } = await connect(command);
      const { leaves } = await client.list_leaves({});
      print({ json }, { leaves }, () =>
        table(
          leaves.map(({ leave_id, of_agent, command: what, cwd = '', uses }) => [
            leave_id,
            of_agent,
            oneLine(what),
            oneLine(cwd),
            `${uses} used`,
          ]),
        ),
      );
      if (!json && leaves.length === 0) tell('Everything is asked.');
    });
  addConnectOptions(ask.command('always <agent> <command>'))
    .description('approve such commands of an agent from now on; each * is anything harmless')
    .option('--cwd <folder>', 'only in this folder')
    .addHelpText(
      'after',
      "\nExample:\n  parley ask always executioner 'git push origin feature/*' --cwd '~/src/app'",
    )
    .action(async (of_agent: string, what: string, { cwd }: { cwd?: string }, command: Command) => {
      const { client, json } = await connect(command);
      const added = await client.add_leave({
        of_agent,
        command: what,
        ...(cwd === undefined ? {} : { cwd }),
      });
      print({ json }, added, () => [
        `${added.leave.leave_id}; take it back: parley ask revoke ${added.leave.leave_id}`,
      ]);
    });
  addConnectOptions(ask.command('revoke <rule>'))
    .description('ask a person again')
    .addHelpText('after', '\nExample:\n  parley ask revoke rule-1f0c22ab9d01')
    .action(async (leave_id: string, _options: unknown, command: Command) => {
      const { client, json } = await connect(command);
      const result = await client.revoke_leave({ leave_id });
      print({ json }, result, () => [`revoked ${leave_id}`]);
    });
}

interface ListOptions {
  status: (typeof STATUSES)[number];
  agent?: string;
  limit: number;
}

function addList(ask: Command): void {
  addConnectOptions(ask.command('ls'))
    .alias('list')
    .description('the asks, newest first; those still open unless --status says otherwise')
    .addOption(new Option('--status <status>', 'which ones').choices(STATUSES).default('open'))
    .option('--agent <id>', 'only asks of this agent')
    .option('-n, --limit <count>', 'how many', wholeNumber, 50)
    .addHelpText('after', '\nExample:\n  parley ask ls --status all')
    .action(async ({ status, agent, limit }: ListOptions, command: Command) => {
      const { client, json } = await connect(command);
      const paint = painter(command);
      const asks: Ask[] = [];
      let next_before: string | null = null;
      do {
        const page: Awaited<ReturnType<Client['list_asks']>> = await client.list_asks({
          status,
          limit: Math.min(limit - asks.length, LIMITS.page_max),
          ...(agent === undefined ? {} : { of_agent: agent }),
          ...(next_before === null ? {} : { before: next_before }),
        });
        asks.push(...page.asks);
        ({ next_before } = page);
      } while (next_before !== null && asks.length < limit);
      const now = Date.now();
      print({ json }, { asks, next_before }, () => fitted(table(asks.map((one) => askRow(one, now, paint)))));
      if (json) return;
      if (asks.length === 0) tell(status === 'open' ? 'Nobody waits for you.' : 'No such asks.');
      else if (next_before !== null) tell('There are more; show them with --limit.');
    });
}

function addShow(ask: Command): void {
  addConnectOptions(ask.command('show <ask>'))
    .description('all of one ask: the exact command, the folder, the options, the verdict')
    .addHelpText('after', '\nExample:\n  parley ask show 7K3QXF')
    .action(async (name: string, _options: unknown, command: Command) => {
      const { client, json } = await connect(command);
      const found = (await client.get_ask({ ask_id: await resolve(client, name) })).ask;
      print({ json }, { ask: found }, () => askLines(found, Date.now(), painter(command)));
    });
}

interface AnswerOptions {
  scope?: (typeof SCOPES)[number];
  option?: string;
  message?: string;
  key?: string;
}

function addApprove(ask: Command): void {
  answering(ask.command('approve <ask>'), 'say yes')
    .addOption(new Option('--scope <scope>', 'for how long it holds').choices(SCOPES))
    .addHelpText('after', '\nExample:\n  parley ask approve 7K3QXF --scope session')
    .action((name: string, options: AnswerOptions, command: Command) =>
      answer(command, name, options, { decision: 'approved', ...said('text', options.message) }),
    );
}

function addDeny(ask: Command): void {
  answering(ask.command('deny <ask>'), 'say no')
    .addHelpText('after', '\nExample:\n  parley ask deny 7K3QXF -m "not on a Friday"')
    .action((name: string, options: AnswerOptions, command: Command) =>
      answer(command, name, options, { decision: 'denied', ...said('reason', options.message) }),
    );
}

function addAnswer(ask: Command): void {
  answering(ask.command('answer <ask> [text]'), 'answer a question in words, by an option, or both')
    .addHelpText('after', '\nExample:\n  parley ask answer 7K3QXF --option "Fix both"')
    .action((name: string, text: string | undefined, options: AnswerOptions, command: Command) => {
      if (text === undefined && options.message === undefined && options.option === undefined)
        throw new ParleyError('VALIDATION_ERROR', 'say something, or choose with --option');
      return answer(command, name, options, {
        decision: 'answered',
        ...said('text', text ?? options.message),
      });
    });
}

function answering(command: Command, description: string): Command {
  return addConnectOptions(command)
    .description(description)
    .option('--option <id>', 'one of the options the agent offers')
    .option('-m, --message <text>', 'a word to the agent')
    .option('--key <key>', 'idempotency key');
}

type Said = Omit<InputOf<'answer_ask'>, 'ask_id'>;

async function answer(command: Command, name: string, options: AnswerOptions, words: Said): Promise<void> {
  const { client, json } = await connect(command);
  const told = await client.answer_ask({
    ask_id: await resolve(client, name),
    ...words,
    ...(options.scope === undefined ? {} : { scope: options.scope }),
    ...(options.option === undefined ? {} : { option: options.option }),
    ...(options.key === undefined ? {} : { idempotency_key: options.key }),
  });
  const { ask_id, agent_id, verdict } = told.ask;
  print({ json }, told, () => [`${ask_id} of ${agent_id}: ${verdict?.decision ?? told.ask.status}`]);
}

function said(field: 'text' | 'reason', words: string | undefined): Partial<Said> {
  return words === undefined ? {} : { [field]: words };
}

/** The whole id of an ask that is named by its last letters. */
async function resolve(client: Client, name: string): Promise<string> {
  if (name.startsWith('ask_')) return name;
  for (const status of ['open', 'all'] as const) {
    const { asks } = await client.list_asks({ status, limit: LIMITS.page_max });
    const fitting = asks.filter(({ ask_id }) => ask_id.endsWith(name.toUpperCase()));
    if (fitting.length > 1)
      throw new ParleyError('VALIDATION_ERROR', `${fitting.length} asks end in ${name}; give more of the id`);
    if (fitting[0] !== undefined) return fitting[0].ask_id;
  }
  throw new ParleyError('NOT_FOUND', `no ask ends in ${name}; see parley ask ls`);
}
