import { type Message, seqOfMessageId } from '@parley/protocol';

import { harmlessLines, oneLine } from './harmless.ts';
import type { Paint } from './style.ts';

/** A message as people read it: seq, time, who, event, text; further lines are set in, so that none can pass for another message. */
export function messageLines(message: Message, paint: Paint): string[] {
  const { seq, created_at, sender_agent_id, body, in_reply_to } = message;
  const [first = '', ...rest] = harmlessLines(body);
  const replied = in_reply_to === undefined ? undefined : seqOfMessageId(in_reply_to);
  const parts = [
    paint('dim', `#${seq}`.padStart(4)),
    paint('dim', timeOfDay(created_at)),
    paint('bold', oneLine(sender_agent_id)),
    badge(message, paint),
    replied === undefined ? '' : paint('dim', `re #${replied}`),
    first,
  ];
  return [parts.filter((part) => part !== '').join('  '), ...rest.map((line) => `      ${line}`)];
}

/** The event a message reports, with what its metadata says about it. */
function badge({ kind, metadata = {} }: Message, paint: Paint): string {
  if (kind === 'system') return paint('dim', '[system]');
  if (kind !== 'event') return '';
  const type = word(metadata['event_type']) ?? 'event';
  const line = word(metadata['line']);
  const place = [word(metadata['file'])?.split('/').at(-1), line]
    .filter((part) => part !== undefined)
    .join(':');
  const facts = [type, word(metadata['severity']), place, word(metadata['commit'])];
  return paint(COLOUR_BY_EVENT[type] ?? 'cyan', `[${facts.filter(Boolean).join(' ')}]`);
}

/** A fact of the metadata, when it is a plain one. */
function word(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? oneLine(String(value)) : undefined;
}

const COLOUR_BY_EVENT: Partial<Record<string, 'red' | 'yellow' | 'green'>> = {
  finding_reported: 'red',
  thread_escalated: 'red',
  finding_rejected: 'yellow',
  re_review_requested: 'yellow',
  finding_verified: 'green',
  thread_resolved: 'green',
};

/** Hours, minutes and seconds where the reader is. */
export function timeOfDay(iso: string): string {
  return new Date(iso).toTimeString().slice(0, 8);
}

/** A moment where the reader is, to the minute. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
