import type { UsageSum } from '@parley/protocol';

import type { NamedUsage } from './usage-bars.tsx';
import { isUntold, money } from './usage-words.ts';

const HEADS = {
  agent: 'Agent',
  thread: 'Thread',
  day: 'Day (UTC)',
  model: 'Model',
} as const;

/** The same as the bars, in numbers. */
export function UsageTable({
  rows,
  total,
  by,
}: {
  rows: readonly NamedUsage[];
  total: UsageSum;
  by: keyof typeof HEADS;
}) {
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="What was used">
      <table class="table table-numbers">
        <caption>Tokens and cost</caption>
        <thead>
          <tr>
            <th scope="col">{HEADS[by]}</th>
            <th scope="col">Turns</th>
            <th scope="col">Read</th>
            <th scope="col">From a cache</th>
            <th scope="col">Written</th>
            <th scope="col">Reasoning</th>
            <th scope="col">Cost reported</th>
            <th scope="col">Cost by your prices</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, href, ...sum }) => (
            <tr key={href ?? name}>
              <th scope="row">{href === undefined ? name : <a href={href}>{name}</a>}</th>
              <Numbers sum={sum} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All</th>
            <Numbers sum={total} />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

function Numbers({ sum }: { sum: UsageSum }) {
  const tokens = [sum.input_tokens, sum.cached_input_tokens, sum.output_tokens, sum.reasoning_tokens];
  const cost = (dollars: number | null): string => (dollars === null ? 'not reported' : money(dollars));
  return (
    <>
      <td>{sum.turns.toLocaleString()}</td>
      {tokens.map((count, i) => (
        <td key={i}>{isUntold(sum) ? (i === 0 ? 'not reported' : '') : count.toLocaleString()}</td>
      ))}
      <td>{cost(sum.cost_reported_usd)}</td>
      <td>{sum.cost_priced_usd === null ? 'none' : money(sum.cost_priced_usd)}</td>
    </>
  );
}
