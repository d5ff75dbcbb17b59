import type { Writable } from 'node:stream';

import { logJson } from '@parley/protocol';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

export type LogLevel = (typeof LEVELS)[number];

/** Says one thing with its facts; never what a prompt or a mail says, but at `trace`. */
export type Log = (
  level: Exclude<LogLevel, 'silent'>,
  message: string,
  facts?: Record<string, unknown>,
) => void;

const MOST_UNREAD_BYTES = 1_048_576;

/** Writes lines to a stream, but for those that come while nobody reads it: memory is bounded. */
export function writeIfRead(stream: Writable): (line: string) => void {
  return (line) => {
    if (stream.writableLength < MOST_UNREAD_BYTES) stream.write(line);
  };
}

/** JSON lines, one per call and without secrets; stdout belongs to the protocol. */
export function createLog(least: LogLevel, write: (line: string) => void, now: () => Date): Log {
  return (level, message, facts = {}) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return;
    write(`${logJson({ level, time: now().toISOString(), msg: message, ...facts })}\n`);
  };
}
