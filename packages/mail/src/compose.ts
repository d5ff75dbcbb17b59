import { ParleyError } from '@parley/protocol';

import { sameInbox } from './address.ts';
import type { MailEntry } from './entry.ts';
import { LEAD, type Member } from './team-config.ts';
import { isControlFrame, summaryOf } from './text.ts';

/** Mail that is neither urgent nor low is normal. */
type Priority = 'urgent' | 'normal' | 'low';

/** What a sender says. */
export interface NewMail {
  message: string;
  /** The first words of the message unless given. */
  summary?: string | undefined;
  /** How soon the sender would have it read. */
  priority?: Priority | undefined;
  /** The sender's own id for this mail, so that a repetition is known as one. */
  message_id?: string | undefined;
}

export interface Composing {
  from: string;
  mail: NewMail;
  ownTeam: string;
  target: string;
  members: readonly Member[];
  now: () => Date;
  newId: () => string;
}

const MOST_BYTES = 1_048_576;
const MOST_SUMMARY = 200;

/** Makes the entry of a mail; what Claude Code would drop or take for forged is refused here. */
export function compose({ from, mail, ownTeam, target, members, now, newId }: Composing) {
  const { message, summary, priority, message_id = newId() } = mail;
  if (message.trim() === '') throw invalid('a mail needs a message');
  if (Buffer.byteLength(message) > MOST_BYTES)
    throw invalid(`a mail has at most ${MOST_BYTES} bytes; put it into a file and send its path`);
  if (!/^[\x21-\x7e]{1,128}$/.test(message_id)) throw invalid('a message_id is 1 to 128 letters and signs');
  if (isControlFrame(message))
    throw new ParleyError(
      'FORBIDDEN',
      "this is a command of Claude Code's own protocol, which it takes for forged when it comes by mail; send plain text",
    );
  const isLead = ({ name, is_lead }: Member): boolean => is_lead && sameInbox(name, from);
  if (sameInbox(from, LEAD) || members.some(isLead))
    throw new ParleyError(
      'FORBIDDEN',
      `${from} is the name of the lead; Claude Code takes mail under it for forged: send it under a name of your own`,
    );
  return {
    from,
    text: message,
    timestamp: now().toISOString(),
    read: false,
    summary: summary === undefined || summary.trim() === '' ? summaryOf(message) : cut(summary),
    message_id,
    ...(priority === undefined || priority === 'normal' ? {} : { priority }),
    ...(target === ownTeam ? {} : { source_team: ownTeam }),
  };
}

/** True when two entries say the same, so that one may stand for the other. */
export function isSameMail(a: MailEntry, b: MailEntry): boolean {
  return a.from === b.from && a.text === b.text;
}

function cut(summary: string): string {
  return summary.trim().slice(0, MOST_SUMMARY);
}

function invalid(message: string): ParleyError {
  return new ParleyError('VALIDATION_ERROR', message);
}
