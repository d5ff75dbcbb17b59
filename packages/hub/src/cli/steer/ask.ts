import { homedir } from 'node:os';
import { resolve as resolvePath } from 'node:path';

import type { Client } from '@parley/client';
import { type Ask, ASK_STATUSES, type InputOf, LIMITS, ParleyError, readAll } from '@parley/protocol';
import { type Command, Option } from 'commander';

import { ASK_COLUMNS, askLines, askRow, byUrgency, GONE } from './ask-lines.ts';
import { asksElsewhere } from '../asks-elsewhere.ts';
import { addConnectOptions, connect } from '../connect.ts';
import { oneLine } from '../harmless.ts';
import { print, tell } from '../output.ts';
import { describeSpeaker } from '../speaker.ts';
import { painter } from '../style.ts';
import { fittedTable } from '../fitted.ts';
import { count } from '../arguments.ts';

const STATUSES = [...ASK_STATUSES, 'all'] as const;
/** So many open asks are put in the order of their urgency. */
const MOST_OPEN = 1_000;
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
      const approval_rules = await readAll(
        (place) => client.list_approval_rules(place),
        (page) => page.approval_rules,
      );
      print({ json }, { approval_rules }, () =>
        fittedTable(
          approval_rules.map(({ approval_rule_id, of_agent, command: what, cwd = '', uses }) => [
            approval_rule_id,
            of_agent,
            `${uses} used`,
            oneLine(cwd),
            oneLine(what),
          ]),
          [{}, { most: 20 }, { spare: true }, { most: 30 }],
        ),
      );
      if (!json && approval_rules.length === 0) tell('Everything is asked.');
    });
  addConnectOptions(ask.command('always <agent> <command>'))
    .description('approve such commands of an agent from now on; each * is anything harmless')
    .option('--cwd <folder>', 'only in this folder; ~ is your home, and . where you are')
    .addHelpText(
      'after',
      "\nExample:\n  parley ask always executioner 'git push origin feature/*' --cwd ~/src/app",
    )
    .action(async (of_agent: string, what: string, { cwd }: { cwd?: string }, command: Command) => {
      const { client, json } = await connect(command);
      const added = await client.add_approval_rule({
        of_agent,
        command: what,
        ...(cwd === undefined ? {} : { cwd: folderOf(cwd) }),
      });
      print({ json }, added, () => [
        `${added.approval_rule.approval_rule_id}; take it back: parley ask revoke ${added.approval_rule.approval_rule_id}`,
      ]);
    });
  addConnectOptions(ask.command('revoke <rule>'))
    .description('ask a person again')
    .addHelpText('after', '\nExample:\n  parley ask revoke rule-1f0c22ab9d01')
    .action(async (approval_rule_id: string, _options: unknown, command: Command) => {
      const { client, json } = await connect(command);
      const result = await client.revoke_approval_rule({ approval_rule_id });
      print({ json }, result, () => [`revoked ${approval_rule_id}`]);
    });
}

/** Agents tell the whole path of the folder they work in: a rule for `~/src` or `.` would never fit. */
function folderOf(text: string): string {
  return resolvePath(/^~(?=\/|$)/.test(text) ? homedir() + text.slice(1) : text);
}

interface ListOptions {
  status: (typeof STATUSES)[number];
  agent?: string;
  limit: number;
}

function addList(ask: Command): void {
  addConnectOptions(ask.command('ls'))
    .alias('list')
    .description('the open asks, the most urgent first; others with --status, the newest first')
    .addOption(new Option('--status <status>', 'which ones').choices(STATUSES).default('open'))
    .option('--agent <id>', 'only asks of this agent')
    .option('-n, --limit <count>', 'how many', count, 50)
    .addHelpText('after', '\nExample:\n  parley ask ls --status all')
    .action(async ({ status, agent, limit }: ListOptions, command: Command) => {
      const { client, json, loaded, minted, speaker, typed } = await connect(command);
      const paint = painter(command);
      const asks: Ask[] = [];
      // The most urgent may be the oldest: all that are open are looked at.
      const most = status === 'open' && !json ? Math.max(limit, MOST_OPEN) : limit;
      let next_before: string | null = null;
      do {
        const page: Awaited<ReturnType<Client['list_asks']>> = await client.list_asks({
          status,
          limit: Math.min(most - asks.length, LIMITS.page_max),
          ...(agent === undefined ? {} : { of_agent: agent }),
          ...(next_before === null ? {} : { before: next_before }),
        });
        asks.push(...page.asks);
        ({ next_before } = page);
      } while (next_before !== null && asks.length < most);
      const now = Date.now();
      print({ json }, { asks: asks.slice(0, limit), next_before }, () =>
        fittedTable(
          asks
            .toSorted(byUrgency)
            .slice(0, limit)
            .map((one) => askRow(one, now, paint)),
          ASK_COLUMNS,
        ),
      );
      if (json) return;
      if (next_before !== null || asks.length > limit) tell('There are more; show them with --limit.');
      if (asks.length === 0) tell(status === 'open' ? 'Nobody waits for you.' : 'No such asks.');
      if (minted) for (const line of await asksElsewhere(loaded.config, typed)) tell(line);
      else if (speaker !== undefined && speaker.role !== 'operator')
        tell(`But ${describeSpeaker(speaker)}: an agent sees only what it asked itself.`);
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
    .option('--option <option>', 'one of the options the agent offers, by its id or its words')
    .option('-m, --message <text>', 'a word to the agent')
    .option('--key <key>', 'idempotency key');
}

type Said = Omit<InputOf<'answer_ask'>, 'ask_id'>;

async function answer(command: Command, name: string, options: AnswerOptions, words: Said): Promise<void> {
  const { client, json } = await connect(command);
  const ask_id = await resolve(client, name);
  const option = options.option === undefined ? undefined : await optionOf(client, ask_id, options.option);
  const reported = await client.answer_ask({
    ask_id,
    ...words,
    ...(options.scope === undefined ? {} : { scope: options.scope }),
    ...(option === undefined ? {} : { option }),
    ...(options.key === undefined ? {} : { idempotency_key: options.key }),
  });
  const { agent_id, verdict } = reported.ask;
  print({ json }, reported, () => [`${ask_id} of ${agent_id}: ${verdict?.decision ?? reported.ask.status}`]);
  if (!json && reported.ask.agent_gone_since !== undefined) tell(`But ${GONE}.`);
}

/** The id of an option, which a person may name by the words on it too. */
async function optionOf(client: Client, ask_id: string, named: string): Promise<string> {
  const { options = [] } = (await client.get_ask({ ask_id })).ask;
  if (options.some(({ id }) => id === named)) return named;
  const fitting = options.filter(({ label }) => label.toLowerCase() === named.toLowerCase());
  return fitting.length === 1 ? (fitting[0]?.id ?? named) : named;
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
