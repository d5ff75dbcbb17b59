import { type Channel, type NoticeKind, keysOf } from '@parley/protocol';
import { useState } from 'preact/hooks';

import { attempt } from '../data/actions.ts';
import { call, newKey } from '../data/api.ts';
import { Sheet } from './sheet.tsx';

/** What each kind of news is called. */
export const NEWS: Record<NoticeKind, string> = {
  ask: 'Requests',
  trouble: 'Stuck, failing, blocked',
  mention: 'Your name',
  resolved: 'Verdicts of others',
  finished: 'Resolved threads',
};

/** What somebody has chosen for a channel. */
export interface Choice {
  wants: readonly NoticeKind[];
  quiet: { from: string; to: string; time_zone: string; urgent: boolean } | undefined;
}

/** The time zone of the person, as this device has it. */
const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** What to tell of, and when not to. */
export function Choices({ choice, onChange }: { choice: Choice; onChange: (next: Choice) => void }) {
  const { wants, quiet } = choice;
  return (
    <>
      <fieldset class="field">
        <legend>Notify about</legend>
        <div class="picks">
          {keysOf(NEWS).map((kind) => (
            <label key={kind} class="pick">
              <input
                type="checkbox"
                checked={wants.includes(kind)}
                onChange={(event) =>
                  onChange({
                    ...choice,
                    wants: event.currentTarget.checked
                      ? [...wants, kind]
                      : wants.filter((one) => one !== kind),
                  })
                }
              />
              {NEWS[kind]}
            </label>
          ))}
        </div>
      </fieldset>
      <label class="switch">
        <input
          type="checkbox"
          checked={quiet !== undefined}
          onChange={(event) =>
            onChange({
              ...choice,
              quiet: event.currentTarget.checked
                ? { from: '22:00', to: '07:00', time_zone: ownZone(), urgent: false }
                : undefined,
            })
          }
        />
        <span>
          Quiet hours <span class="meta">Notifications wait until they end</span>
        </span>
      </label>
      {quiet === undefined ? null : (
        <>
          <div class="two">
            <label class="field">
              <span>From</span>
              <input
                type="time"
                value={quiet.from}
                required
                onInput={(event) =>
                  onChange({ ...choice, quiet: { ...quiet, from: event.currentTarget.value } })
                }
              />
            </label>
            <label class="field">
              <span>To ({quiet.time_zone})</span>
              <input
                type="time"
                value={quiet.to}
                required
                onInput={(event) =>
                  onChange({ ...choice, quiet: { ...quiet, to: event.currentTarget.value } })
                }
              />
            </label>
          </div>
          <label class="switch">
            <input
              type="checkbox"
              checked={quiet.urgent}
              onChange={(event) =>
                onChange({ ...choice, quiet: { ...quiet, urgent: event.currentTarget.checked } })
              }
            />
            <span>
              Commands to approve may disturb <span class="meta">Without an answer they are denied</span>
            </span>
          </label>
        </>
      )}
    </>
  );
}

/** The settings of one channel. */
export function ChannelSheet({
  channel,
  onClose,
  onRemove,
}: {
  channel: Channel;
  onClose: () => void;
  onRemove: () => void;
}) {
  const { channel_id, paused } = channel;
  const [name, rename] = useState(channel.name);
  const [choice, choose] = useState<Choice>({ wants: channel.wants, quiet: channel.quiet });
  const change = (next: object, done: string): Promise<void> =>
    attempt(() => call('update_channel', { channel_id, ...next, idempotency_key: newKey() }), done).then(
      onClose,
    );
  return (
    <Sheet title={channel.name} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void change(
            { name: name.trim(), wants: choice.wants, quiet: choice.quiet ?? null },
            `${name.trim()} is changed.`,
          );
        }}
      >
        <label class="field">
          <span>Name</span>
          <input
            value={name}
            maxLength={60}
            required
            onInput={(event) => rename(event.currentTarget.value)}
          />
        </label>
        <Choices choice={choice} onChange={choose} />
        <button
          type="submit"
          class="button-primary button-wide"
          disabled={choice.wants.length === 0 || name.trim() === ''}
        >
          Save
        </button>
      </form>
      <div class="button-row sheet-more">
        <button
          type="button"
          class="button"
          onClick={() =>
            void change(
              { paused: !paused },
              paused ? 'Notifications are on again.' : 'Notifications are paused.',
            )
          }
        >
          {paused ? 'Resume' : 'Pause'}
        </button>
        <button type="button" class="button-danger" onClick={onRemove}>
          Remove
        </button>
      </div>
    </Sheet>
  );
}
