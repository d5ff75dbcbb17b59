import { headline, publicText } from '@parley/runtimes';
import type { Report } from '@parley/supervisor/link';

import type { EndedTurn, StartedTurn } from '../session-observer.ts';

export function describeStart({ source, prompt }: StartedTurn): Report {
  const message = source === 'summary' ? 'sums up before it closes' : headline(prompt) || 'a turn';
  return { event_type: 'task_started', data: { message, source } };
}

export function describeEnd(turn: EndedTurn): Report {
  const { end, stop } = turn;
  const failure = failureOf(turn);
  const event_type = failure === undefined ? 'task_completed' : 'task_failed';
  if (end instanceof Error)
    return { event_type, data: { message: publicText(end.message), status: 'failed' } };
  const said = publicText(end.text);
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
  if (end instanceof Error) return publicText(end.message, 300);
  if (end.status === 'completed') return undefined;
  return publicText(end.error?.message ?? `the turn was ${end.status}`, 300);
}
