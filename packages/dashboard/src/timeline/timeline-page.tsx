import { useState } from 'preact/hooks';

import { hubNow } from '../data/api.ts';
import { ChartOrTable } from '../parts/chart-or-table.tsx';
import { Empty, Page } from '../parts/page.tsx';
import { Segments } from '../parts/segments.tsx';
import { useRefreshed } from '../parts/use-refreshed.ts';
import { place } from '../router.ts';
import { byName } from '../words.ts';
import { fetchHistories } from './history-data.ts';
import { Legend, Patterns, TimelineRows } from './timeline-rows.tsx';
import { TimelineTable } from './timeline-table.tsx';
import { type History, type Range, WINDOWS } from './window.ts';

interface Shown {
  range: Range;
  histories: readonly History[];
}

/** While somebody looks, it moves on. */
const LOOK_MS = 10_000;

/** What every agent was at over hours or days, as a picture and as a table. */
export function TimelinePage() {
  const chosen = place.value.query.get('f') ?? '';
  const window = WINDOWS.find(({ key }) => key === chosen) ?? WINDOWS[2];
  const [asTable, setTable] = useState(false);
  const load = async (): Promise<Shown> => {
    const to = hubNow();
    const range = { from: to - window.ms, to };
    const histories = await fetchHistories(range);
    return { range, histories: histories.toSorted((a, b) => byName(a.agent_id, b.agent_id)) };
  };
  const { found: shown, failed } = useRefreshed(load, LOOK_MS, [window.key]);
  return (
    <Page
      title="Timeline"
      wide
      actions={
        <a class="button" href="/usage">
          Usage
        </a>
      }
    >
      <div class="timeline-head">
        <Segments
          path="/timeline"
          value={window.key}
          label="How far back"
          options={WINDOWS.map(({ key, word }) => [key, word] as const)}
        />
        <ChartOrTable asTable={asTable} onChange={setTable} />
      </div>
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      {shown === undefined ? (
        <div class="skeleton" aria-busy="true" />
      ) : (
        <Content {...shown} says={window.says} step={window.step} asTable={asTable} />
      )}
    </Page>
  );
}

function Content({
  range,
  histories,
  says,
  step,
  asTable,
}: Shown & { says: string; step: number; asTable: boolean }) {
  const known = histories.filter(({ stretches }) => stretches.length > 0);
  const isGone = ({ stretches }: History): boolean => stretches.every(({ state }) => state === 'offline');
  const there = known.filter((one) => !isGone(one));
  const gone = known.filter(isGone);
  const cut = known.filter(({ older_than }) => older_than !== null);
  if (known.length === 0)
    return (
      <Empty title={`Nothing was recorded in ${says}.`}>
        <p>The hub records what an agent is doing from the moment it first connects.</p>
      </Empty>
    );
  return (
    <>
      {asTable ? (
        <TimelineTable range={range} histories={known} says={says} />
      ) : (
        <>
          <Patterns />
          {there.length === 0 ? null : <TimelineRows range={range} histories={there} step={step} />}
          <Legend />
        </>
      )}
      {gone.length === 0 || asTable ? null : (
        <p class="meta">Offline all the time: {gone.map(({ agent_id }) => agent_id).join(', ')}.</p>
      )}
      {cut.length === 0 ? null : (
        <p class="meta">
          {cut.map(({ agent_id }) => agent_id).join(', ')} changed too often to show all of it: the oldest
          part is left out. Choose a shorter time.
        </p>
      )}
    </>
  );
}
