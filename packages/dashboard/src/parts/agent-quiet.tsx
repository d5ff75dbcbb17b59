import { type InputOf, type OutputOf, readAll } from '@parley/protocol';
import { useState } from 'preact/hooks';

import { attempt, maySteer } from '../data/actions.ts';
import { call, hubNow, newKey } from '../data/api.ts';
import { fullTime } from '../time.ts';
import { Icon } from './icon.tsx';
import { Section } from './page.tsx';
import { Row } from './row.tsx';
import { Sheet } from './sheet.tsx';
import { useRefreshed } from './use-refreshed.ts';

type Quiet = OutputOf<'list_quiet'>['quiet'][number];

const HOUR_MS = 3_600_000;
const LOOK_MS = 10_000;

/** Whether an agent may be woken, and what a person can change about it: for a time, at hours of the day, until undone. */
export function AgentQuiet({ agentId }: { agentId: string }) {
  const [open, show] = useState(false);
  const load = async (): Promise<Quiet[]> => {
    const quiet = await readAll(
      (place) => call('list_quiet', place),
      (page) => page.quiet,
    );
    return quiet.filter(({ agent_id }) => agent_id === null || agent_id === agentId);
  };
  const { found: rows, failed, again } = useRefreshed(load, LOOK_MS, [agentId]);
  const change = (input: InputOf<'set_quiet'>, done: string): void => {
    show(false);
    const before = rows?.find(({ agent_id }) => agent_id === (input.of_agent ?? null));
    const put = async (wanted: InputOf<'set_quiet'>): Promise<void> => {
      await call('set_quiet', { ...wanted, idempotency_key: newKey() });
      again();
    };
    void attempt(
      () => put(input),
      done,
      () => put(asItWas(input.of_agent, before)),
    );
  };
  const own = rows?.find(({ agent_id }) => agent_id === agentId);
  return (
    <Section
      title="Left alone"
      action={
        maySteer() ? (
          <button type="button" class="button" onClick={() => show(true)}>
            <Icon name="mute" /> {own === undefined ? 'Leave alone' : 'Change'}
          </button>
        ) : null
      }
    >
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      {rows?.length === 0 ? <p class="meta">No. A message that calls it wakes it.</p> : null}
      {rows === undefined || rows.length === 0 ? null : (
        <div class="list">
          {rows.map((quiet) => (
            <Row
              key={quiet.agent_id ?? ''}
              icon="mute"
              title={<span>{whenOf(quiet)}</span>}
              lines={
                <span class="row-line row-lines">
                  {quiet.agent_id === null ? 'everybody · ' : ''}by {quiet.by}
                  {quiet.reason === undefined ? '' : ` · ${quiet.reason}`} · since {fullTime(quiet.since)}
                </span>
              }
            >
              {maySteer() ? (
                <button
                  type="button"
                  class="button"
                  aria-label={quiet.agent_id === null ? 'Undo it for everybody' : `Undo it for ${agentId}`}
                  onClick={() =>
                    change(
                      quiet.agent_id === null ? { quiet: false } : { of_agent: agentId, quiet: false },
                      'May be woken again.',
                    )
                  }
                >
                  Undo
                </button>
              ) : null}
            </Row>
          ))}
        </div>
      )}
      {open ? <QuietSheet agentId={agentId} onClose={() => show(false)} onChange={change} /> : null}
    </Section>
  );
}

/** What makes it stand as it stood. */
function asItWas(of_agent: string | undefined, before: Quiet | undefined): InputOf<'set_quiet'> {
  const whom = of_agent === undefined ? {} : { of_agent };
  if (before === undefined) return { ...whom, quiet: false };
  const { hours, reason, until } = before;
  return {
    ...whom,
    ...(hours === undefined ? {} : { hours }),
    ...(reason === undefined ? {} : { reason }),
    ...(until === undefined ? {} : { for_ms: Math.max(1_000, Date.parse(until) - hubNow()) }),
  };
}

function QuietSheet({
  agentId,
  onClose,
  onChange,
}: {
  agentId: string;
  onClose: () => void;
  onChange: (input: InputOf<'set_quiet'>, done: string) => void;
}) {
  const [from, begin] = useState('22:00');
  const [to, end] = useState('07:00');
  const [reason, write] = useState('');
  const why = reason.trim() === '' ? {} : { reason: reason.trim() };
  const choice = (label: string, note: string, input: InputOf<'set_quiet'>) => (
    <button
      type="button"
      class="choice"
      onClick={() => onChange({ of_agent: agentId, ...why, ...input }, `${agentId} is left alone.`)}
    >
      <strong>{label}</strong>
      <span>{note}</span>
    </button>
  );
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <Sheet title={`Leave ${agentId} alone`} onClose={onClose}>
      <p class="meta">
        Nobody wakes it during this time. A message that calls it wakes it afterwards, unless it has read it
        by then.
      </p>
      <label class="field">
        <span>Reason (optional)</span>
        <input value={reason} maxLength={300} onInput={(event) => write(event.currentTarget.value)} />
      </label>
      <div class="choices">
        {choice('For an hour', 'then it may be woken again', { for_ms: HOUR_MS })}
        {choice('For 8 hours', 'then it may be woken again', { for_ms: 8 * HOUR_MS })}
        {choice('Until I undo it', 'it stays so until then', {})}
      </div>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const hours = { from, to, time_zone: zone };
          onChange({ of_agent: agentId, ...why, hours }, `${agentId} is left alone from ${from} to ${to}.`);
        }}
      >
        <div class="two">
          <label class="field">
            <span>Each day from</span>
            <input type="time" required value={from} onInput={(event) => begin(event.currentTarget.value)} />
          </label>
          <label class="field">
            <span>To ({zone})</span>
            <input type="time" required value={to} onInput={(event) => end(event.currentTarget.value)} />
          </label>
        </div>
        <button type="submit" class="button button-wide" disabled={from === to}>
          At these hours
        </button>
      </form>
    </Sheet>
  );
}

function whenOf({ until, hours }: Quiet): string {
  const end = until === undefined ? undefined : `until ${fullTime(until)}`;
  if (hours !== undefined)
    return [`Each day from ${hours.from} to ${hours.to} (${hours.time_zone})`, end]
      .filter((part) => part !== undefined)
      .join(', ');
  return end === undefined ? 'Until somebody undoes it' : `${end[0]?.toUpperCase()}${end.slice(1)}`;
}
