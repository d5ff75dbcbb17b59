import type { ThreadEvent } from '@parley/protocol';

import { harmlessLines, oneLine } from '../harmless.ts';
import { timeOfDay } from '../message-lines.ts';
import type { Paint } from '../style.ts';

/** An event as people read it: thread, seq, time, who, what; further lines are set in, so that none can pass for another. */
export function eventLines(event: ThreadEvent, paint: Paint): string[] {
  const { thread, type, ts, from, to, content, meta } = event;
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const [first = '', ...rest] = harmlessLines(text);
  const parts = [
    paint('dim', oneLine(thread)),
    paint('dim', meta.seq === undefined ? '   ·' : `#${meta.seq}`.padStart(4)),
    paint('dim', timeOfDay(ts)),
    paint('bold', oneLine(from)),
    to === 'all' ? '' : paint('dim', `to ${oneLine(to)}`),
    type === 'message' ? '' : paint('cyan', `[${type}]`),
    first,
  ];
  return [parts.filter((part) => part !== '').join('  '), ...rest.map((line) => `      ${line}`)];
}
