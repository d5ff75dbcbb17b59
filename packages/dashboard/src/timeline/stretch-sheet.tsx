import type { AgentStretch } from '@parley/protocol';

import { hubNow } from '../data/api.ts';
import { StateChip } from '../parts/avatar.tsx';
import { Exact } from '../parts/exact.tsx';
import { Icon } from '../parts/icon.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { clockTime, fullTime } from '../time.ts';
import { plainTimes } from '../words.ts';
import { lasting, lengthOf } from './window.ts';

/** One stretch of an agent: why it was so, what it waited for, and the way there. */
export function StretchSheet({
  agent,
  stretches,
  since,
  onMove,
  onClose,
}: {
  agent: string;
  stretches: readonly AgentStretch[];
  since: string;
  onMove: (since: string) => void;
  onClose: () => void;
}) {
  const at = Math.max(
    0,
    stretches.findLastIndex((one) => one.since <= since),
  );
  const stretch = stretches[at];
  if (stretch === undefined) return null;
  const [before, after] = [stretches[at - 1], stretches[at + 1]];
  const { state, reason, until, waits_for, thread_id } = stretch;
  return (
    <Sheet title={agent} onClose={onClose}>
      <div class="stretch-head">
        <StateChip state={state} />
        <span class="meta">{lasting(lengthOf(stretch, hubNow()))}</span>
      </div>
      <p class="stretch-reason">
        <Exact text={plainTimes(reason)} />
      </p>
      <dl class="facts">
        <div>
          <dt>From</dt>
          <dd>{fullTime(stretch.since)}</dd>
        </div>
        <div>
          <dt>To</dt>
          <dd>{until === null ? 'now' : fullTime(until)}</dd>
        </div>
        {waits_for === undefined ? null : (
          <div>
            <dt>{until === null ? 'Waits for' : 'Waited for'}</dt>
            <dd>{waitWords(waits_for)}</dd>
          </div>
        )}
      </dl>
      <p class="section-links stretch-links">
        <WayThere waits_for={waits_for} thread_id={thread_id} />
        <a href={`/agents/${encodeURIComponent(agent)}`}>About {agent}</a>
      </p>
      <div class="stretch-steps">
        <button
          type="button"
          class="button"
          disabled={before === undefined}
          onClick={() => before && onMove(before.since)}
        >
          <Icon name="back" /> Before
        </button>
        <button
          type="button"
          class="button"
          disabled={after === undefined}
          onClick={() => after && onMove(after.since)}
        >
          After <Icon name="right" />
        </button>
      </div>
    </Sheet>
  );
}

/** Links to what was asked and to where it was said. */
export function WayThere({ waits_for, thread_id }: Pick<AgentStretch, 'waits_for' | 'thread_id'>) {
  return (
    <>
      {waits_for?.ask_id === undefined ? null : <a href={`/asks/${waits_for.ask_id}`}>The request</a>}
      {thread_id === undefined ? null : <a href={`/t/${thread_id}`}>The thread</a>}
    </>
  );
}

/** What somebody waited for, in the words of people. */
export function waitWords({ what, until }: NonNullable<AgentStretch['waits_for']>): string {
  if (what === 'answer') return 'an answer';
  if (what === 'prompt') return 'somebody at its terminal';
  const isMoment = until !== undefined && !Number.isNaN(Date.parse(until));
  return isMoment ? `its rate limit, until ${clockTime(until)}` : 'its rate limit';
}
