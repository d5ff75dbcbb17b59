import { fieldsOf } from '@parley/protocol';
import type { ManagedReport } from '../managed/session.ts';
import { headline, publicText } from '../public-text.ts';
import type { CodexEvent } from './backend.ts';

type Fields = Record<string, unknown>;

const MOST_FILES = 20;

/** What an event of Codex means to a person, whichever server told it; most mean nothing. */
export function describeEvent({ method, params }: CodexEvent): ManagedReport | undefined {
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

function describeItem(item: Fields): ManagedReport | undefined {
  if (item['type'] === 'commandExecution') return ranCommand(item['command'], item['cwd'], item['exitCode']);
  if (item['type'] !== 'fileChange') return undefined;
  const changes = Array.isArray(item['changes']) ? item['changes'] : [];
  return changedFiles(
    changes.map((change) => String(asFields(change)['path'])),
    item['status'] === 'completed',
  );
}

function ranCommand(given: unknown, cwd: unknown, exitCode: unknown): ManagedReport {
  const command = publicText(Array.isArray(given) ? given.join(' ') : String(given));
  const ended = typeof exitCode === 'number';
  return {
    event_type: 'task_progress',
    data: {
      message: `${ended ? 'ran' : 'did not run'}: ${headline(command)}${ended ? ` (exit ${exitCode})` : ''}`,
      command,
      ...(typeof cwd === 'string' ? { cwd: publicText(cwd) } : {}),
      ...(ended ? { exit_code: exitCode } : {}),
    },
  };
}

function changedFiles(paths: readonly string[], done: boolean): ManagedReport {
  const files = paths.slice(0, MOST_FILES).map((path) => publicText(path, 150));
  const more = paths.length > files.length ? ` and ${paths.length - files.length} more` : '';
  return {
    event_type: 'task_progress',
    data: {
      message: publicText(`${done ? 'changed' : 'did not change'} ${files.join(', ')}${more}`),
      files,
      done,
    },
  };
}

/** What went wrong on the way: the turn may yet come to a good end. */
function warning(message: unknown): ManagedReport | undefined {
  if (typeof message !== 'string' || message === '') return undefined;
  return { event_type: 'warning', data: { message: publicText(message) } };
}

function asFields(value: unknown): Fields {
  return fieldsOf(value);
}
