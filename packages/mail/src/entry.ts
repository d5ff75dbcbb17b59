import { createHash } from 'node:crypto';

import { fieldsOf } from '@parley/protocol';
/** One entry of an inbox as Claude Code and ATM write it; fields that we do not know are kept. */
export interface MailEntry {
  from: string;
  text: string;
  timestamp: string;
  read?: boolean;
  summary?: string;
  message_id?: string;
  source_team?: string;
  [field: string]: unknown;
}

/** True for what Claude Code takes as mail; it drops anything else. */
export function isMailEntry(value: unknown): value is MailEntry {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  const { from, text, timestamp, read } = fieldsOf(value);
  return (
    typeof from === 'string' &&
    typeof text === 'string' &&
    typeof timestamp === 'string' &&
    (read === undefined || typeof read === 'boolean')
  );
}

/** The id of a mail: the one it carries, else one that follows from what it says, the same every time. */
export function idOf(entry: MailEntry): string {
  for (const name of ['message_id', 'msg_id'] as const) {
    const id = entry[name];
    if (typeof id === 'string' && id !== '') return id;
  }
  const said = JSON.stringify([entry.from, entry.timestamp, entry.text]);
  return `sha256-${createHash('sha256').update(said).digest('hex').slice(0, 32)}`;
}
