import { AGENT_STATES, type AgentView, type OutputOf, readAll, table } from '@parley/protocol';
import { type Command, Option } from 'commander';

import { addHistoryCommand } from './agent-history.ts';
import { addScreenCommand } from './agent-screen.ts';
import { addSessionOption, ofSession, tellSeveral } from './agent-session.ts';
import { addTypeCommand } from './agent-type.ts';
import { STATE_COLOUR } from './state-colour.ts';
import { addConnectOptions, connect } from '../connect.ts';
import { durationWithin } from '../duration.ts';
import { oneLine } from '../harmless.ts';
import { localTime } from '../message-lines.ts';
import { EXIT, print, tell } from '../output.ts';
import { shownId } from '../short-ids.ts';
import { addField } from '../talk/post.ts';
import { ago } from '../span.ts';
import { type Paint, painter } from '../style.ts';
import { type Column, fittedTable } from '../fitted.ts';

type State = AgentView['state'];

/** `parley agent`: who there is, what each is at, and commands to those who are connected. */
export function addAgentCommands(program: Command): void {
  const agent = program
    .command('agent')
    .description('list, show and remove agents, and command those connected');
  addList(agent);
  addShow(agent);
  addHistoryCommand(agent);
  addScreenCommand(agent);
  addTypeCommand(agent);
  addCommand(agent);
  addDismiss(agent);
  addRemove(agent);
}

function addList(agent: Command): void {
  addConnectOptions(agent.command('ls'))
    .alias('list')
    .description('the agents, the most urgent first: state, since when, why')
    .addOption(new Option('--state <state>', 'only agents in this state').choices(AGENT_STATES))
    .addHelpText('after', '\nExample:\n  parley agent ls --state needs_you')
    .action(async ({ state }: { state?: State }, command: Command) => {
      const { client, json } = await connect(command);
      const paint = painter(command);
      const wanted = state === undefined ? {} : { state };
      const agents = await readAll(
        (place) => client.list_agents({ ...wanted, ...place }),
        (page) => page.agents,
      );
      print({ json }, { agents }, () =>
        fittedTable(
          agents.toSorted(byUrgency).map((one) => agentRow(one, paint)),
          AGENT_COLUMNS,
        ),
      );
      if (!json && agents.length === 0)
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
  session?: string;
  param?: Record<string, unknown>;
  timeout?: number;
  key?: string;
}

function addCommand(agent: Command): void {
  addSessionOption(addConnectOptions(agent.command('command <agent> <command>')))
    .description('send a command to a connected agent and wait for its answer')
    .option(
      '--param <key=value>',
      'a parameter; key:=json for a number, list or object; repeatable',
      addField,
    )
    .option('--timeout <duration>', 'how long to wait; 30s when left out', durationWithin('1ms', '5m'))
    .option('--key <key>', 'idempotency key: the same key commands only once')
    .addHelpText(
      'after',
      '\nExample:\n  parley agent command builder run_task --param taskId=TASK-1 --timeout 2m',
    )
    .action(async (of_agent: string, name: string, options: CommandOptions, command: Command) => {
      const { client, json } = await connect(command);
      const reported = await client
        .command_agent({
          of_agent,
          ...ofSession(options.session),
          command: name,
          ...(options.timeout === undefined ? {} : { timeout_ms: options.timeout }),
          ...(options.param === undefined ? {} : { parameters: options.param }),
          ...(options.key === undefined ? {} : { idempotency_key: options.key }),
        })
        .catch(tellSeveral);
      print({ json }, reported, () => answerLines(reported));
      if (!reported.success) process.exitCode = EXIT.failure;
    });
}

function addRemove(agent: Command): void {
  addConnectOptions(agent.command('rm <agent>'))
    .alias('remove')
    .description('take an agent that is gone off the list; what it said stays on record')
    .option('--reason <text>', 'why, for the record')
    .option('--key <key>', 'idempotency key: the same key removes only once')
    .addHelpText(
      'after',
      '\nOne that is connected or was just heard is refused: end its program first. It is back when it is heard again.\n\nExample:\n  parley agent rm old-reviewer',
    )
    .action(async (of_agent: string, options: { reason?: string; key?: string }, command: Command) => {
      const { client, json } = await connect(command);
      const gone = await client.forget_agent({
        of_agent,
        ...(options.reason === undefined ? {} : { reason: options.reason }),
        ...(options.key === undefined ? {} : { idempotency_key: options.key }),
      });
      print({ json }, gone, () => [
        `${oneLine(gone.agent_id)} is off the list; what it said stays on record`,
      ]);
    });
}

function addDismiss(agent: Command): void {
  addConnectOptions(agent.command('dismiss <agent>'))
    .description('say that you have seen to what an agent failed with; until then it reads error')
    .option('--key <key>', 'idempotency key: the same key dismisses only once')
    .addHelpText(
      'after',
      '\nThe error goes that `agent show` shows now; one that comes meanwhile stays. Its journal tells who dismissed it.\n\nExample:\n  parley agent dismiss builder',
    )
    .action(async (of_agent: string, options: { key?: string }, command: Command) => {
      const { client, json } = await connect(command);
      const { failure } = await client.get_agent({ of_agent });
      if (failure === undefined) {
        print({ json }, { agent_id: of_agent, dismissed: false }, () => [
          `${oneLine(of_agent)} has no error`,
        ]);
        return;
      }
      const dismissed = await client.dismiss_error({
        of_agent,
        failed_at: failure.at,
        ...(options.key === undefined ? {} : { idempotency_key: options.key }),
      });
      print({ json }, dismissed, () => [`dismissed: ${oneLine(failure.text)}`]);
    });
}

/** What needs a person first; among equals numbers inside names by their value. */
function byUrgency(a: AgentView, b: AgentView): number {
  const place = ({ state }: AgentView): number => AGENT_STATES.indexOf(state);
  return place(a) - place(b) || a.agent_id.localeCompare(b.agent_id, 'en', { numeric: true });
}

/** How the columns of a row give way: the reason stays. */
const AGENT_COLUMNS: readonly Column[] = [{}, { most: 30 }, {}, {}];

function agentRow(agent: AgentView, paint: Paint): string[] {
  const { agent_id, state, since, unread, meanwhile } = agent;
  const isElsewhere = meanwhile !== undefined && meanwhile.state !== 'idle';
  const reason = isElsewhere ? `${agent.reason}; since then ${meanwhile.state}` : agent.reason;
  return [
    paint(STATE_COLOUR[state], state.replace('_', ' ')),
    paint('bold', oneLine(agent_id)),
    ago(since),
    oneLine(unread === 0 ? reason : `${reason} (${unread} unread)`),
  ];
}

function agentLines(agent: OutputOf<'get_agent'>, paint: Paint): string[] {
  const { agent_id, name, state, since, reason, last_event, metadata, failure, meanwhile } = agent;
  const optional = (title: string, value: string | undefined): string[][] =>
    value === undefined || value === '' ? [] : [[title, oneLine(value)]];
  return table([
    ['agent', name === agent_id ? agent_id : `${agent_id}, ${oneLine(name)}`],
    ['state', `${paint(STATE_COLOUR[state], state.replace('_', ' '))} for ${ago(since)}`],
    ['reason', oneLine(reason)],
    ...optional('failed', failure && `${localTime(failure.at)}: ${failure.text}`),
    ...optional('in thread', failure?.thread_id),
    ...optional('since then', meanwhile && `${meanwhile.state}: ${meanwhile.reason}`),
    ['heard', `${ago(agent.last_seen)} ago, ${localTime(agent.last_seen)}`],
    ...optional('connected', agent.connected.join(', ')),
    ...optional('taken over', takenOver(metadata)),
    ...optional('runtimes', agent.runtimes.join(', ')),
    ...optional('takes', agent.capabilities.join(', ')),
    ...optional(
      'present',
      agent.presence.map((one) => `${one.state} in ${shownId(one.thread_id)}`).join(', '),
    ),
    ['unread', String(agent.unread)],
    ['asks', `${agent.open_asks} open`],
    ...optional('last event', last_event && `${last_event.event_type}: ${last_event.text}`),
    ...optional('endpoint', agent.endpoint),
    ...optional('reports', metadata && Object.keys(metadata).length > 0 ? JSON.stringify(metadata) : ''),
    ...optional('journal', agent.journal_thread_id ?? undefined),
  ]);
}

/** Who types at its terminal from elsewhere, by the word of its session. */
function takenOver(metadata: OutputOf<'get_agent'>['metadata']): string | undefined {
  const { taken_over_by: by, taken_over_until: until } = metadata ?? {};
  return typeof by === 'string' && typeof until === 'string'
    ? `by ${by} until ${localTime(until)}`
    : undefined;
}

function answerLines({ success, result, error, execution_ms }: OutputOf<'command_agent'>): string[] {
  const took = `${Math.round(execution_ms)} ms`;
  if (!success)
    return [`failed after ${took}: ${oneLine(`${error?.code ?? 'unknown'}: ${error?.message ?? ''}`)}`];
  if (result === undefined || result === null) return [`done in ${took}`];
  return [`done in ${took}`, oneLine(typeof result === 'string' ? result : JSON.stringify(result))];
}
