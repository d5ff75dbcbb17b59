import { AGENT_STATES, type AgentView, type OutputOf } from '@parley/protocol';
import { type Command, Option } from 'commander';

import { addScreenCommand } from './agent-screen.ts';
import { addTypeCommand } from './agent-type.ts';
import { addConnectOptions, connect } from './connect.ts';
import { parseDuration } from './duration.ts';
import { oneLine } from './harmless.ts';
import { localTime } from './message-lines.ts';
import { EXIT, print, tell } from './output.ts';
import { addField } from './post.ts';
import { ago } from './span.ts';
import { type Paint, painter } from './style.ts';
import { fitted, table } from './table.ts';

type State = AgentView['state'];

/** `parley agent`: who there is, what each is at, and commands to those who are connected. */
export function addAgentCommands(program: Command): void {
  const agent = program.command('agent').description('list and show agents, and command those connected');
  addList(agent);
  addShow(agent);
  addScreenCommand(agent);
  addTypeCommand(agent);
  addCommand(agent);
}

function addList(agent: Command): void {
  addConnectOptions(agent.command('ls'))
    .alias('list')
    .description('the agents by name: state, since when, why')
    .addOption(new Option('--state <state>', 'only agents in this state').choices(AGENT_STATES))
    .addHelpText('after', '\nExample:\n  parley agent ls --state needs_you')
    .action(async ({ state }: { state?: State }, command: Command) => {
      const { client, json } = await connect(command);
      const paint = painter(command);
      const found = await client.list_agents(state === undefined ? {} : { state });
      print({ json }, found, () => fitted(table(found.agents.map((one) => agentRow(one, paint)))));
      if (!json && found.agents.length === 0)
        tell(
          state === undefined
            ? 'No agents: one appears with its first heartbeat, registration or connection.'
            : `No agent is in the state ${state}.`,
        );
    });
}

function addShow(agent: Command): void {
  addConnectOptions(agent.command('show <agent>'))
    .description('all that is known of one agent')
    .addHelpText('after', '\nExample:\n  parley agent show reviewer')
    .action(async (of_agent: string, _options: unknown, command: Command) => {
      const { client, json } = await connect(command);
      const found = await client.get_agent({ of_agent });
      print({ json }, found, () => agentLines(found, painter(command)));
    });
}

interface CommandOptions {
  param?: Record<string, unknown>;
  timeout?: number;
  key?: string;
}

function addCommand(agent: Command): void {
  addConnectOptions(agent.command('command <agent> <command>'))
    .description('send a command to a connected agent and wait for its answer')
    .option(
      '--param <key=value>',
      'a parameter; key:=json for a number, list or object; repeatable',
      addField,
    )
    .option('--timeout <duration>', 'how long to wait; 30s when left out', parseDuration)
    .option('--key <key>', 'idempotency key: the same key commands only once')
    .addHelpText(
      'after',
      '\nExample:\n  parley agent command builder run_task --param taskId=TASK-1 --timeout 2m',
    )
    .action(async (of_agent: string, name: string, options: CommandOptions, command: Command) => {
      const { client, json } = await connect(command);
      const told = await client.command_agent({
        of_agent,
        command: name,
        ...(options.timeout === undefined ? {} : { timeout_ms: options.timeout }),
        ...(options.param === undefined ? {} : { parameters: options.param }),
        ...(options.key === undefined ? {} : { idempotency_key: options.key }),
      });
      print({ json }, told, () => answerLines(told));
      if (!told.success) process.exitCode = EXIT.failure;
    });
}

const COLOUR: Record<State, 'yellow' | 'red' | 'green' | 'gray' | 'cyan' | 'magenta'> = {
  needs_you: 'yellow',
  stuck: 'magenta',
  error: 'red',
  working: 'green',
  idle: 'cyan',
  offline: 'gray',
};

function agentRow({ agent_id, state, since, reason, unread }: AgentView, paint: Paint): string[] {
  return [
    paint(COLOUR[state], state.replace('_', ' ')),
    paint('bold', oneLine(agent_id)),
    ago(since),
    oneLine(unread === 0 ? reason : `${reason} (${unread} unread)`),
  ];
}

function agentLines(agent: OutputOf<'get_agent'>, paint: Paint): string[] {
  const { agent_id, name, state, since, reason, last_event, metadata } = agent;
  const optional = (title: string, value: string | undefined): string[][] =>
    value === undefined || value === '' ? [] : [[title, oneLine(value)]];
  return table([
    ['agent', name === agent_id ? agent_id : `${agent_id}, ${oneLine(name)}`],
    ['state', `${paint(COLOUR[state], state.replace('_', ' '))} for ${ago(since)}`],
    ['reason', oneLine(reason)],
    ['heard', `${ago(agent.last_seen)} ago, ${localTime(agent.last_seen)}`],
    ...optional('connected', agent.connected.join(', ')),
    ...optional('runtimes', agent.runtimes.join(', ')),
    ...optional('takes', agent.capabilities.join(', ')),
    ...optional('present', agent.presence.map((one) => `${one.state} in ${one.thread_id}`).join(', ')),
    ['unread', String(agent.unread)],
    ['asks', `${agent.open_asks} open`],
    ...optional('last event', last_event && `${last_event.event_type}: ${last_event.text}`),
    ...optional('endpoint', agent.endpoint),
    ...optional('reports', metadata && Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : ''),
    ...optional('journal', agent.journal_thread_id ?? undefined),
  ]);
}

function answerLines({ success, result, error, execution_ms }: OutputOf<'command_agent'>): string[] {
  const took = `${Math.round(execution_ms)} ms`;
  if (!success)
    return [`failed after ${took}: ${oneLine(`${error?.code ?? 'unknown'}: ${error?.message ?? ''}`)}`];
  if (result === undefined || result === null) return [`done in ${took}`];
  return [`done in ${took}`, oneLine(typeof result === 'string' ? result : JSON.stringify(result))];
}
