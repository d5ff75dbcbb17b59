import { ParleyError } from '@parley/protocol';

import { idOf, type MailEntry } from './entry.ts';

/** Which mail is wanted. */
export interface MailQuery {
  /** Also what was read, and what Claude Code has deleted since. */
  all?: boolean | undefined;
  /** At most so many: of unread mail the oldest, of all mail the newest. */
  limit?: number | undefined;
  /** Only what is newer than this instant, in ISO 8601. */
  since?: string | undefined;
  /** Only what this sender wrote: `agent`, or `agent@team`. */
  from?: string | undefined;
}

/** A mail as its reader sees it. */
export interface Mail {
  message_id: string;
  from: string;
  /** The sender's team, when it is another. */
  source_team?: string;
  message: string;
  summary?: string;
  timestamp: string;
  /** Only where it is not normal. */
  priority?: 'urgent' | 'low';
  /** Where it was found, if not in the inbox: its reader had deleted it. */
  found_in?: 'transcript';
  read: boolean;
}

/** An instant with its zone, or a day. */
const INSTANT = /^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:?\d{2}))?$/;

/** The test that a query stands for; wrong values are refused before anything is read. */
export function matcher({ since, from, limit }: MailQuery): (mail: Mail) => boolean {
  if (limit !== undefined && (!Number.isInteger(limit) || limit < 1))
    throw new ParleyError('VALIDATION_ERROR', `limit must be a whole number from 1, not ${limit}`);
  const after = since === undefined ? undefined : instantOf(since);
  const [sender, team] = from?.split('@') ?? [];
  return (mail) =>
    (sender === undefined || mail.from === sender || mail.from === from) &&
    (team === undefined || mail.from === from || mail.source_team === team) &&
    (after === undefined || Date.parse(mail.timestamp) > after);
}

/** Shows an entry to its reader. */
export function toMail(entry: MailEntry, read: boolean, found_in?: 'transcript'): Mail {
  const { from, text, timestamp, summary, source_team, priority } = entry;
  return {
    message_id: idOf(entry),
    from,
    ...(typeof source_team === 'string' ? { source_team } : {}),
    message: text,
    ...(typeof summary === 'string' ? { summary } : {}),
    timestamp,
    ...(priority === 'urgent' || priority === 'low' ? { priority } : {}),
    ...(found_in === undefined ? {} : { found_in }),
    read,
  };
}

function instantOf(text: string): number {
  const instant = INSTANT.test(text.trim()) ? Date.parse(text.trim()) : Number.NaN;
  if (!Number.isNaN(instant)) return instant;
  throw new ParleyError(
    'VALIDATION_ERROR',
    `since must be an instant such as 2026-02-18T09:30:00Z, not ${JSON.stringify(text)}`,
  );
}
