import { plainWords, type ThreadEvent } from '@parley/protocol';

import { textOf } from '../words.ts';
import type { Preview } from './state.ts';

const SHOWN_CHARS = 200;

/** The last thing that was said in each thread, as the hub tells it of threads that it lists. */
export function lastWords(events: readonly ThreadEvent[]): Map<string, Preview> {
  const found = new Map<string, Preview>();
  for (const { type, thread, from, content, ts, meta } of events) {
    if (type !== 'message' && type !== 'task' && type !== 'result') continue;
    const text = plainWords(textOf(content)).slice(0, SHOWN_CHARS);
    found.set(thread, { seq: meta.seq ?? 0, agent_id: from, text, at: ts });
  }
  return found;
}
