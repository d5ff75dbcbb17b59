import * as z from 'zod';

import { contract, READS, WRITES } from './contract.ts';
import { IdempotencyKey, ThreadId } from './entities.ts';
import { Name } from './text.ts';
import { TurnUsage, USAGE_GROUPS, UsageRow, UsageSum } from './usage.ts';

const Day = z.iso.date();

const reportUsage = contract({
  name: 'report_usage',
  version: '1.0.0',
  title: 'Report what a turn used',
  description:
    'Tokens and cost of one of your turns, as your runtime reports them; leave out what it does not.',
  input: TurnUsage.extend({
    thread_id: ThreadId.optional().describe('the thread that the turn served'),
    day: Day.optional().describe(
      'the day it counts for, in UTC, where it is reported later; never one to come',
    ),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ ok: z.literal(true), day: Day.describe('the day it counts for, in UTC') }),
  annotations: WRITES,
  essential: false,
});

const getUsage = contract({
  name: 'get_usage',
  version: '1.0.0',
  title: 'Get what agents used',
  description:
    'Tokens and cost per agent, thread, day or model, as far as runtimes report them. Workers see their own.',
  input: z.object({
    by: z.enum(USAGE_GROUPS).default('agent'),
    since: Day.optional().describe('first day, in UTC; 29 days before `until` when left out'),
    until: Day.optional().describe('last day, in UTC; today when left out'),
    of_agent: Name.optional(),
    thread_id: ThreadId.optional(),
  }),
  output: z.object({
    by: z.enum(USAGE_GROUPS),
    since: Day,
    until: Day,
    rows: z.array(UsageRow).describe('the costliest first, days in their order'),
    total: UsageSum,
    complete: z.boolean().describe('false: there is more than is summed up at once; choose fewer days'),
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/usage' },
  essential: false,
});

/** By name: the table of contracts takes them from here. */
export const usageContracts = {
  report_usage: reportUsage,
  get_usage: getUsage,
};
