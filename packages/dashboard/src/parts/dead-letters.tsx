import type { OutputOf } from '@parley/protocol';
import { useEffect, useState } from 'preact/hooks';

import { attempt, maySteer } from '../data/actions.ts';
import { call, newKey, read, wordsOf } from '../data/api.ts';
import { agoWords, fullTime } from '../time.ts';
import { plural } from '../words.ts';
import { Icon } from './icon.tsx';
import { Empty } from './page.tsx';

type Page = OutputOf<'list_deliveries'>;
type Delivery = Page['deliveries'][number];
type Redriven = OutputOf<'redrive_deliveries'>['deliveries'][number];

const LOOK_MS = 2_000;

/** What was given up, why, and another try: of one, or of all that are shown. */
export function DeadLetters() {
  const [deliveries, set] = useState<readonly Delivery[] | undefined>();
  const [next, go] = useState<string | null>(null);
  const [outcomes, tell] = useState<ReadonlyMap<string, Redriven>>(new Map());
  const [failed, fail] = useState<string | undefined>();
  const [busy, work] = useState(false);
  const load = async (after?: string): Promise<void> => {
    try {
      const page = await read<Page>(
        `/v1/deliveries?status=dead&limit=50${after === undefined ? '' : `&after=${encodeURIComponent(after)}`}`,
      );
      set((known = []) => (after === undefined ? page.deliveries : [...known, ...page.deliveries]));
      go(page.next_after);
      fail(undefined);
    } catch (error) {
      fail(wordsOf(error));
    }
  };
  useEffect(() => void load(), []);
  // One that goes its round again is followed until it is known what became of it.
  const under = (deliveries ?? []).filter(({ status }) => status === 'waiting').map((one) => one.delivery_id);
  useEffect(() => {
    if (under.length === 0) return undefined;
    const timer = setInterval(() => void Promise.all(under.map(look)), LOOK_MS);
    return () => clearInterval(timer);
  }, [under.join(' ')]);
  const look = async (id: string): Promise<void> => {
    try {
      const path = `/v1/deliveries/${encodeURIComponent(id)}`;
      const { delivery } = await read<OutputOf<'get_delivery'>>(path);
      set((known = []) => known.map((one) => (one.delivery_id === id ? delivery : one)));
    } catch (error) {
      fail(wordsOf(error));
    }
  };
  const redrive = async (ids: string[]): Promise<void> => {
    work(true);
    await attempt(async () => {
      const answer = await call('redrive_deliveries', { delivery_ids: ids, idempotency_key: newKey() });
      const reported = new Map(answer.deliveries.map((one) => [one.delivery_id, one] as const));
      // How it stands comes with what was done: what has just gone back in line is not called given up again.
      set((known = []) =>
        known.map((one) => ({ ...one, status: reported.get(one.delivery_id)?.status ?? one.status })),
      );
      tell((known) => new Map([...known, ...reported]));
      await Promise.all(
        [...reported.values()].filter(({ status }) => status !== 'dead').map((one) => look(one.delivery_id)),
      );
    });
    work(false);
  };
  const dead = (deliveries ?? []).filter(({ status }) => status === 'dead').map((one) => one.delivery_id);
  const steer = maySteer();
  return (
    <>
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      {deliveries?.length === 0 ? (
        <Empty title="No dead letters.">
          <p>Everything that was queued is done, or still waits its turn.</p>
        </Empty>
      ) : null}
      {steer && dead.length > 1 ? (
        <div class="letters-head">
          <span class="meta">{plural(dead.length, 'dead letter')} shown</span>
          <button type="button" class="button" disabled={busy} onClick={() => void redrive(dead)}>
            <Icon name="play" /> Try all shown again
          </button>
        </div>
      ) : null}
      <div class="list">
        {(deliveries ?? []).map((delivery) => {
          const { delivery_id, action, from, status } = delivery;
          const outcome = outcomes.get(delivery_id);
          return (
            <div key={delivery_id} class="row letter" data-status={status}>
              <span class="row-main">
                <Icon name={status === 'dead' ? 'warn' : status === 'done' ? 'check' : 'play'} />
                <span class="row-text">
                  <span class="row-title mono">
                    <span>{action}</span>
                  </span>
                  {delivery.error === undefined || status === 'done' ? null : (
                    <span class="row-line row-lines letter-why">
                      <strong class="mono">{delivery.error.code}</strong> {delivery.error.message}
                    </span>
                  )}
                  <span class="row-line row-lines">
                    from {from}
                    {delivery.attempts === 0 ? '' : ` · ${plural(delivery.attempts, 'attempt')}`}
                    {delivery.redrives === 0 ? '' : ` · tried again ${plural(delivery.redrives, 'time')}`}
                    {delivery.finished_at === undefined ? null : (
                      <span title={fullTime(delivery.finished_at)}> · {agoWords(delivery.finished_at)}</span>
                    )}
                    {' · '}
                    <span class="mono">{delivery_id}</span>
                  </span>
                  {outcome === undefined ? null : (
                    <span class={`row-line row-lines letter-now letter-${status}`} role="status">
                      {nowOf(delivery, outcome)}
                    </span>
                  )}
                </span>
              </span>
              {steer && status === 'dead' ? (
                <button
                  type="button"
                  class="button"
                  disabled={busy}
                  aria-label={`Try again: ${action} of ${from}`}
                  onClick={() => void redrive([delivery_id])}
                >
                  Try again
                </button>
              ) : null}
            </div>
          );
        })}
      </div>
      {next === null ? null : (
        <button type="button" class="button button-wide" onClick={() => void load(next)}>
          Older ones
        </button>
      )}
    </>
  );
}

/** What became of another try, as the hub tells it. */
function nowOf({ status, error, next_attempt_at }: Delivery, outcome: Redriven): string {
  if (status === 'done') return 'Carried out.';
  if (status === 'waiting')
    return next_attempt_at === undefined ? 'In line again.' : 'In line again; its next attempt is to come.';
  if (outcome.redriven) return `Tried again, and given up again: ${error?.code ?? 'no reason is known'}.`;
  if (outcome.error?.code === 'EXPIRED')
    return 'It has expired and cannot be retried. Send it again instead.';
  return `Not tried: ${outcome.error?.message ?? 'it is not dead any more'}.`;
}
