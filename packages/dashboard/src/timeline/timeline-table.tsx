import { useState } from 'preact/hooks';

import { Exact } from '../parts/exact.tsx';
import { plainTimes, STATE_WORDS, STATES } from '../words.ts';
import { WayThere, waitWords } from './stretch-sheet.tsx';
import { type History, lasting, lengthOf, type Range, totals } from './window.ts';

const shortTime = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** So many rows are drawn at first. */
const ROWS = 100;

/** The same as the picture for those who would rather read: how long in each state, and every stretch. */
export function TimelineTable({
  range,
  histories,
  says,
}: {
  range: Range;
  histories: readonly History[];
  says: string;
}) {
  const [most, set] = useState(ROWS);
  const used = STATES.filter((state) =>
    histories.some(({ stretches }) => stretches.some((one) => one.state === state)),
  );
  const rows = histories
    .flatMap(({ agent_id, stretches }) => stretches.map((stretch) => ({ agent_id, stretch })))
    .toSorted((a, b) => (a.stretch.since < b.stretch.since ? 1 : -1));
  return (
    <>
      <div class="table-box" tabIndex={0} role="region" aria-label="Time in each state">
        <table class="table">
          <caption>Time in each state in {says}</caption>
          <thead>
            <tr>
              <th scope="col">Agent</th>
              {used.map((state) => (
                <th key={state} scope="col">
                  {STATE_WORDS[state]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {histories.map(({ agent_id, stretches }) => {
              const spent = totals(stretches, range);
              return (
                <tr key={agent_id}>
                  <th scope="row">
                    <a href={`/agents/${encodeURIComponent(agent_id)}`}>{agent_id}</a>
                  </th>
                  {used.map((state) => (
                    <td key={state}>{spent[state] === undefined ? '' : lasting(spent[state])}</td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      <div class="table-box" tabIndex={0} role="region" aria-label="What each agent was at">
        <table class="table">
          <caption>What each agent was at, the newest first</caption>
          <thead>
            <tr>
              <th scope="col">Agent</th>
              <th scope="col">State</th>
              <th scope="col">From</th>
              <th scope="col">For</th>
              <th scope="col">Why</th>
              <th scope="col">Waited for</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, most).map(({ agent_id, stretch }) => (
              <tr key={`${agent_id} ${stretch.since}`}>
                <th scope="row">{agent_id}</th>
                <td>
                  <span class={`chip chip-${stretch.state}`}>{STATE_WORDS[stretch.state]}</span>
                </td>
                <td>{shortTime.format(new Date(stretch.since))}</td>
                <td>
                  {lasting(lengthOf(stretch, range.to))}
                  {stretch.until === null ? ' so far' : ''}
                </td>
                <td class="table-words">
                  <Exact text={plainTimes(stretch.reason)} />
                </td>
                <td class="table-words">
                  {stretch.waits_for === undefined ? '' : waitWords(stretch.waits_for)}{' '}
                  <WayThere waits_for={stretch.waits_for} thread_id={stretch.thread_id} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length <= most ? null : (
        <button type="button" class="button" onClick={() => set(most + 2 * ROWS)}>
          Show more
        </button>
      )}
    </>
  );
}
