import { randomUUID } from 'node:crypto';

import type { InputOf } from '@parley/protocol';
import type { CodexEvent } from '@parley/runtimes';

import type { EndedTurn, StartedTurn } from '../onlooker.ts';
import { headline, told } from './clip.ts';
import type { Delivery } from './outbox.ts';

export type Report = Pick<InputOf<'report_event'>, 'event_type' | 'data'>;

type Fields = Record<string, unknown>;

const MOST_FILES = 20;

/** What an event of Codex means to a person, whichever server told it; most mean nothing. */
export function describeEvent({ method, params }: CodexEvent): Report | undefined {
  if (method === 'item/completed') return describeItem(asFields(params['item']));
  if (method === 'error') return warning(asFields(params['error'])['message']);
  if (method === 'warning') return warning(params['message']);
  if (method !== 'codex/event') return undefined;
  const msg = asFields(params['msg']);
  switch (msg['type']) {
    case 'exec_command_end':
      return ranCommand(msg['command'], msg['cwd'], msg['exit_code']);
    case 'patch_apply_end':
      return changedFiles(Object.keys(asFields(msg['changes'])), msg['success'] !== false);
    case 'error':
    case 'stream_error':
    case 'warning':
      return warning(msg['message']);
    default:
      return undefined;
  }
}

function describeItem(item: Fields): Report | undefined {
  if (item['type'] === 'commandExecution') return ranCommand(item['command'], item['cwd'], item['exitCode']);
  if (item['type'] !== 'fileChange') return undefined;
  const changes = Array.isArray(item['changes']) ? item['changes'] : [];
  return changedFiles(
    changes.map((change) => String(asFields(change)['path'])),
    item['status'] === 'completed',
  );
}

function ranCommand(given: unknown, cwd: unknown, exitCode: unknown): Report {
  const command = told(Array.isArray(given) ? given.join(' ') : String(given));
  const ended = typeof exitCode === 'number';
  return {
    event_type: 'task_progress',
    data: {
      message: `${ended ? 'ran' : 'did not run'}: ${headline(command)}${ended ? ` (exit ${exitCode})` : ''}`,
      command,
      ...(typeof cwd === 'string' ? { cwd: told(cwd) } : {}),
      ...(ended ? { exit_code: exitCode } : {}),
    },
  };
}

function changedFiles(paths: readonly string[], done: boolean): Report {
  const files = paths.slice(0, MOST_FILES).map((path) => told(path, 150));
  const more = paths.length > files.length ? ` and ${paths.length - files.length} more` : '';
  return {
    event_type: 'task_progress',
    data: { message: told(`${done ? 'changed' : 'did not change'} ${files.join(', ')}${more}`), files, done },
  };
}

/** What went wrong on the way: the turn may yet come to a good end. */
function warning(message: unknown): Report | undefined {
  if (typeof message !== 'string' || message === '') return undefined;
  return { event_type: 'warning', data: { message: told(message) } };
}

export function describeStart({ source, prompt }: StartedTurn): Report {
  const message = source === 'summary' ? 'sums up before it closes' : headline(prompt) || 'a turn';
  return { event_type: 'task_started', data: { message, source } };
}

export function describeEnd(turn: EndedTurn): Report {
  const { end, stop } = turn;
  const failure = failureOf(turn);
  const event_type = failure === undefined ? 'task_completed' : 'task_failed';
  if (end instanceof Error) return { event_type, data: { message: told(end.message), status: 'failed' } };
  const said = told(end.text);
  return {
    event_type,
    data: {
      message: failure ?? (said || `the turn was ${end.status}`),
      status: stop ?? end.status,
      ...(said === '' || failure === undefined ? {} : { last_message: said }),
      duration_ms: Math.round(end.durationMs),
      ...(end.usage === undefined ? {} : { usage: end.usage }),
    },
  };
}

/** Why a person should look at it; undefined for a turn that went well or that someone wanted to end. */
export function failureOf({ end, stop }: EndedTurn): string | undefined {
  if (stop === 'timed_out') return 'the turn took too long and was interrupted';
  if (stop !== undefined) return undefined;
  if (end instanceof Error) return told(end.message, 300);
  if (end.status === 'completed') return undefined;
  return told(end.error?.message ?? `the turn was ${end.status}`, 300);
}

/** Tells it once, however often it is tried. */
export function reporting(report: Report): Delivery {
  const event = { ...report, idempotency_key: randomUUID() };
  return (agent) => agent.client.report_event(event);
}

function asFields(value: unknown): Fields {
  return value !== null && typeof value === 'object' ? (value as Fields) : {};
}
