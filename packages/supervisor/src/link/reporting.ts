import { randomUUID } from 'node:crypto';

import type { InputOf, TurnUsage } from '@parley/protocol';

import type { Delivery } from './outbox.ts';

export type Report = Pick<InputOf<'report_event'>, 'event_type' | 'data'>;

/** Tells it once, however often it is tried. */
export function reporting(report: Report): Delivery {
  const event = { ...report, idempotency_key: randomUUID() };
  return (agent) => agent.client.report_event(event);
}

/** Counts a turn once, however often it is tried. */
export function using(usage: TurnUsage, threadId: string | undefined): Delivery {
  const thread = threadId === undefined ? {} : { thread_id: threadId };
  const spent = { ...usage, ...thread, idempotency_key: randomUUID() };
  return (agent) => agent.client.report_usage(spent);
}
