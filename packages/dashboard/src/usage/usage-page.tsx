import { type OutputOf, type UsageRow } from '@parley/protocol';
import { useState } from 'preact/hooks';

import { call, hubNow } from '../data/api.ts';
import { threadNamed } from '../data/replica.ts';
import { Icon } from '../parts/icon.tsx';
import { ChartOrTable } from '../parts/chart-or-table.tsx';
import { Empty, Page } from '../parts/page.tsx';
import { Segments } from '../parts/segments.tsx';
import { useRefreshed } from '../parts/use-refreshed.ts';
import { place } from '../router.ts';
import { UsageBars } from './usage-bars.tsx';
import { UsageTable } from './usage-table.tsx';
import { costWords, isUntold, tokensOf, tokenWords } from './usage-words.ts';

type Usage = OutputOf<'get_usage'>;

const GROUPS = [
  ['', 'Agents'],
  ['thread', 'Threads'],
  ['day', 'Days'],
  ['model', 'Models'],
] as const;
const SPANS = [7, 30, 90] as const;
const DAY_MS = 86_400_000;
const LOOK_MS = 30_000;

/** What the agents used: tokens and cost by agent, thread, day or model, as far as their runtimes tell. */
export function UsagePage() {
  const by = groupOf(place.value.query.get('f'));
  const [days, choose] = useState<number>(30);
  const [asTable, setTable] = useState(false);
  const load = (): Promise<Usage> => {
    const since = new Date(hubNow() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
    return call('get_usage', { by, since });
  };
  const { found: usage, failed } = useRefreshed(load, LOOK_MS, [by, days]);
  return (
    <Page
      title="Usage"
      wide
      actions={
        <a class="button" href="/timeline">
          <Icon name="timeline" /> Timeline
        </a>
      }
    >
      <div class="timeline-head">
        <Segments path="/usage" value={by === 'agent' ? '' : by} label="By what" options={GROUPS} />
        <div class="segments" role="group" aria-label="How far back">
          {SPANS.map((span) => (
            <button key={span} type="button" aria-pressed={days === span} onClick={() => choose(span)}>
              {span} d
            </button>
          ))}
        </div>
        <ChartOrTable asTable={asTable} onChange={setTable} />
      </div>
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      {usage === undefined || usage.by !== by ? (
        <div class="skeleton" aria-busy="true" />
      ) : (
        <Content usage={usage} asTable={asTable} />
      )}
    </Page>
  );
}

function Content({ usage, asTable }: { usage: Usage; asTable: boolean }) {
  const { rows, total, complete } = usage;
  if (rows.length === 0)
    return (
      <Empty title="No usage was reported in this time.">
        <p>
          Sessions under <code>parley run --managed</code> report what their runtime tells; your own agents do
          so by <code>report_usage</code>.
        </p>
      </Empty>
    );
  const named = rows.map((row) => ({ ...row, ...nameOf(row, usage.by) }));
  return (
    <>
      <p class="usage-total">
        {isUntold(total) ? 'Tokens not reported' : `${tokenWords(tokensOf(total))} tokens`},{' '}
        {costWords(total)}
      </p>
      {asTable ? <UsageTable rows={named} total={total} by={usage.by} /> : <UsageBars rows={named} />}
      {complete ? null : <p class="meta">There is too much to add up at once. Choose fewer days.</p>}
    </>
  );
}

/** What a line is called, and where it leads. */
function nameOf(row: UsageRow, by: Usage['by']): { name: string; href?: string } {
  const { agent_id, thread_id, day, model } = row;
  if (agent_id !== undefined) return { name: agent_id, href: `/agents/${encodeURIComponent(agent_id)}` };
  if (thread_id !== undefined) {
    const known = threadNamed(thread_id);
    return { name: known?.title ?? thread_id, href: `/t/${thread_id}` };
  }
  return { name: day ?? model ?? (by === 'thread' ? 'no one thread' : 'not named') };
}

function groupOf(text: string | null): Usage['by'] {
  return text === 'thread' || text === 'day' || text === 'model' ? text : 'agent';
}
