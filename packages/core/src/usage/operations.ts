import { type OutputOf, ParleyError, type UsageRow } from '@parley/protocol';

import { operation, stamp } from '../operation.ts';
import type { RecordPorts, UsagePorts } from '../ports.ts';
import { checkThreadScope } from '../threads/access.ts';
import { mayOverride } from '../threads/status.ts';
import { dayOf, sumOf, usageKey, type UsageRecord } from './usage-sums.ts';

const DAY_MS = 86_400_000;
const DAYS = 30;
const PAGE = 1_000;
/** So many sums are added up at once; beyond that the answer is of the newest days alone, and says so. */
const MOST = 20_000;

const reportUsage = operation('report_usage', {
  authority: 'look',
  async run(deps: RecordPorts, caller, { thread_id, day, idempotency_key, ...input }) {
    if (thread_id !== undefined) checkThreadScope(thread_id, caller);
    const head = stamp(deps, caller, 'usage', idempotency_key);
    const where = thread_id === undefined ? {} : { thread_id };
    // A clock that is ahead of the hub's is not followed.
    const when = day === undefined || day >= dayOf(head.now) ? {} : { day };
    return (await deps.log.append({ type: 'report_usage', ...head, ...where, ...when, input })).result;
  },
});

const getUsage = operation('get_usage', {
  authority: 'look',
  async run(deps: RecordPorts & UsagePorts, caller, { by, of_agent, thread_id, ...window }) {
    const { workspace_id } = caller;
    const sees = mayOverride(caller) || caller.role === 'observer';
    if (!sees && of_agent !== undefined && of_agent !== caller.agent_id)
      throw new ParleyError('INSUFFICIENT_AUTHORITY', 'you see what you used yourself, and nobody else’s');
    const whose = sees ? of_agent : caller.agent_id;
    const until = window.until ?? dayOf(deps.clock.now());
    const since = window.since ?? dayOf(Date.parse(until) - (DAYS - 1) * DAY_MS);
    if (since > until) throw new ParleyError('VALIDATION_ERROR', '`since` must not be after `until`');
    const found: UsageRecord[] = [];
    let past = `${until}~`;
    let complete = true;
    for (let read = 0; ; read += PAGE) {
      const query = {
        kind: 'usage',
        workspace_id,
        from: since,
        past,
        descending: true,
        limit: PAGE,
      } as const;
      const page = await deps.store.records(whose === undefined ? query : { ...query, owner: whose });
      found.push(...page.filter((one) => thread_id === undefined || one.thread_id === thread_id));
      const last = page.at(-1);
      if (page.length < PAGE || last === undefined) break;
      past = usageKey(last);
      complete = read + PAGE < MOST;
      if (!complete) break;
    }
    const groups = new Map<string, UsageRecord[]>();
    for (const record of found) {
      const name = record[FIELD_OF[by]] ?? '';
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [record]);
      else group.push(record);
    }
    const rows = [...groups].map(([name, records]): UsageRow => ({
      ...(name === '' ? {} : { [FIELD_OF[by]]: name }),
      ...sumOf(records, deps.prices),
    }));
    const total: OutputOf<'get_usage'>['total'] = sumOf(found, deps.prices);
    return { by, since, until, rows: rows.toSorted(by === 'day' ? byDay : byCost), total, complete };
  },
});

const FIELD_OF = { agent: 'agent_id', thread: 'thread_id', day: 'day', model: 'model' } as const;

const byDay = (a: UsageRow, b: UsageRow): number => ((a.day ?? '') < (b.day ?? '') ? -1 : 1);

function byCost(a: UsageRow, b: UsageRow): number {
  const cost = (row: UsageRow): number => (row.cost_reported_usd ?? 0) + (row.cost_priced_usd ?? 0);
  const tokens = (row: UsageRow): number => row.input_tokens + row.output_tokens;
  return cost(b) - cost(a) || tokens(b) - tokens(a);
}

/** By name: the table of operations takes them from here. */
export const usageOperations = { report_usage: reportUsage, get_usage: getUsage };
