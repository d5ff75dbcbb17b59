import { type Ask, type AskVerdict, RISK_WORDS, table } from '@parley/protocol';

import { harmlessLines, oneLine } from '../harmless.ts';
import { localTime } from '../message-lines.ts';
import type { Column } from '../fitted.ts';
import { ago, span } from '../span.ts';
import type { Paint } from '../style.ts';

/** What a person must know before they answer one who is no longer there. */
export const GONE = 'the agent is gone; an answer reaches nobody';

const SHORT_ID = 6;

/** Open before answered, then what is dangerous, then what runs out first; the rest as it came. */
export function byUrgency(a: Ask, b: Ask): number {
  const open = ({ verdict, agent_gone_since }: Ask): number =>
    verdict !== undefined ? 2 : agent_gone_since !== undefined ? 1 : 0;
  const risk = ({ risk: word }: Ask): number => (word === 'high' ? 0 : 1);
  if (open(a) !== open(b)) return open(a) - open(b);
  if (open(a) === 2) return 0;
  return risk(a) - risk(b) || Date.parse(a.expires_at) - Date.parse(b.expires_at);
}

/** How the columns of such a row give way: the command and its risk stay. */
export const ASK_COLUMNS: readonly Column[] = [
  {},
  { most: 18 },
  { spare: true },
  {},
  {},
  { spare: true },
  {},
];

/** One ask in a list: the end of its id, whose, what kind, how long it waits or what was said, and what it is about. */
export function askRow(ask: Ask, now: number, paint: Paint): string[] {
  const { ask_id, agent_id, kind, risk, verdict, expires_at, created_at } = ask;
  const high = risk === 'high' && verdict === undefined;
  return [
    paint('bold', ask_id.slice(-SHORT_ID)),
    oneLine(agent_id),
    kind,
    high ? paint('red', 'high') : risk,
    verdict === undefined && ask.agent_gone_since !== undefined
      ? paint('red', 'agent gone')
      : verdict === undefined
        ? paint('yellow', `${span(Date.parse(expires_at) - now)} left`)
        : paint(verdict.decision === 'denied' ? 'red' : 'green', verdict.decision),
    `${ago(created_at, now)} ago`,
    oneLine((ask.command ?? ask.prompt).replaceAll(/\s+/g, ' ')),
  ];
}

/** All of an ask, one fact a line; the command stands alone and whole, as it would be run. */
export function askLines(ask: Ask, now: number, paint: Paint): string[] {
  const { command, cwd, rule, options = [], verdict, risk_hints = [] } = ask;
  const risk =
    risk_hints.length === 0
      ? ask.risk
      : `${ask.risk}: it ${risk_hints.map((hint) => RISK_WORDS[hint]).join(', ')}`;
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

function stateOf({ status, expires_at, agent_gone_since }: Ask, now: number, paint: Paint): string {
  if (status !== 'resolved' && agent_gone_since !== undefined)
    return paint('red', `${status}; ${GONE} (for ${ago(agent_gone_since, now)})`);
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
