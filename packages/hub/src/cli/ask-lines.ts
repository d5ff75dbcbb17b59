import type { Ask, AskVerdict } from '@parley/protocol';

import { harmlessLines, oneLine } from './harmless.ts';
import { localTime } from './message-lines.ts';
import { ago, span } from './span.ts';
import type { Paint } from './style.ts';
import { table } from './table.ts';

const SHORT_ID = 6;

/** One ask in a list: the end of its id, whose, what kind, how long it waits or what was said, and what it is about. */
export function askRow(ask: Ask, now: number, paint: Paint): string[] {
  const { ask_id, agent_id, kind, risk, verdict, expires_at, created_at } = ask;
  const high = risk === 'high' && verdict === undefined;
  return [
    paint('bold', ask_id.slice(-SHORT_ID)),
    oneLine(agent_id),
    high ? paint('red', `${kind}!`) : kind,
    verdict === undefined
      ? paint('yellow', `${span(Date.parse(expires_at) - now)} left`)
      : paint(verdict.decision === 'denied' ? 'red' : 'green', verdict.decision),
    `${ago(created_at, now)} ago`,
    oneLine((ask.command ?? ask.prompt).replaceAll(/\s+/g, ' ')),
  ];
}

/** All of an ask, one fact a line; the command stands alone and whole, as it would be run. */
export function askLines(ask: Ask, now: number, paint: Paint): string[] {
  const { command, cwd, rule, options = [], verdict, risk_hints = [] } = ask;
  const risk = risk_hints.length === 0 ? ask.risk : `${ask.risk} (${risk_hints.join(', ')})`;
  const rows = [
    ['ask', ask.ask_id],
    ['state', stateOf(ask, now, paint)],
    ['agent', `${oneLine(ask.agent_id)} (session ${oneLine(ask.session_id)})`],
    ...several('asks', harmlessLines(ask.prompt)),
    ...(command === undefined ? [] : several(KIND_OF_TEXT[ask.kind], harmlessLines(command), paint)),
    ...(cwd === undefined ? [] : [['folder', oneLine(cwd)]]),
    ['risk', rule === undefined ? risk : `${risk}; rule: ${oneLine(rule)}`],
    ...several(
      'options',
      table(options.map(({ id, label }) => (id === label ? [oneLine(id)] : [oneLine(id), oneLine(label)]))),
    ),
    ['thread', ask.thread_id],
    ['raised', localTime(ask.created_at)],
    ...(verdict === undefined ? [] : verdictRows(verdict)),
  ];
  return table(rows);
}

const KIND_OF_TEXT: Record<Ask['kind'], string> = {
  approval: 'command',
  question: 'about',
  elicitation: 'about',
  budget: 'about',
};

function stateOf({ status, expires_at }: Ask, now: number, paint: Paint): string {
  if (status === 'open') return paint('yellow', `open, denied in ${span(Date.parse(expires_at) - now)}`);
  return status === 'answering' ? 'answered; the agent has yet to take it' : 'resolved';
}

function verdictRows({
  decision,
  option,
  scope,
  text,
  data,
  reason,
  by,
  device,
  at,
}: AskVerdict): string[][] {
  const facts = [
    decision,
    ...(option === undefined ? [] : [oneLine(option)]),
    ...(scope === undefined ? [] : [`for this ${scope}`.replace('for this once', 'once')]),
  ];
  return [
    ['verdict', facts.join(', ')],
    ...several('said', harmlessLines(text ?? reason ?? '')),
    ...(data === undefined ? [] : [['data', oneLine(JSON.stringify(data))]]),
    ['by', `${oneLine(by)} on ${oneLine(device)}, ${localTime(at)}`],
  ];
}

/** A text of several lines under one name. */
function several(name: string, lines: readonly string[], paint: Paint = (_format, text) => text): string[][] {
  if (lines.join('') === '') return [];
  return lines.map((line, i) => [i === 0 ? name : '', paint('bold', line)]);
}
