import type { Channel, OutputOf } from '@parley/protocol';
import { useState } from 'preact/hooks';

import { attempt, maySteer } from '../data/actions.ts';
import { call, newKey, read } from '../data/api.ts';
import { me } from '../data/state.ts';
import { pushFault, subscribe, unsubscribe } from '../push.ts';
import { agoWords } from '../time.ts';
import { ChannelSheet, NEWS } from './channel-sheet.tsx';
import { Icon } from './icon.tsx';
import { NewChannel } from './new-channel.tsx';
import { Section } from './page.tsx';
import { Row } from './row.tsx';
import { say } from './toast.tsx';
import { useRefreshed } from './use-refreshed.ts';

type Listed = OutputOf<'list_channels'>;

/** How the person is told when nobody looks at the dashboard. */
export function Channels({ onAnswer }: { onAnswer: () => void }) {
  const load = (): Promise<Listed> => read<Listed>('/v1/channels').finally(onAnswer);
  const { found: listed, failed, again } = useRefreshed(load, 10_000, []);
  const [open, show] = useState<'new' | Channel | undefined>();
  const channels = listed?.channels ?? [];
  const device = me.value?.device_id;
  const here = channels.find((one) => one.kind === 'push' && one.device_id === device);
  const close = (): void => {
    show(undefined);
    again();
  };
  return (
    <Section
      title="Notifications"
      count={channels.length}
      action={
        maySteer() ? (
          <button type="button" class="button" onClick={() => show('new')}>
            <Icon name="plus" /> Add
          </button>
        ) : null
      }
    >
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      <div class="list">
        {here === undefined && maySteer() ? <ThisDevice pushKey={listed?.push_key} onDone={again} /> : null}
        {channels.map((channel) => (
          <ChannelRow
            key={channel.channel_id}
            channel={channel}
            isHere={channel === here}
            onOpen={() => show(channel)}
          />
        ))}
        {channels.length === 0 && !maySteer() ? <p class="row meta">No notifications are set up.</p> : null}
      </div>
      {open === 'new' ? <NewChannel onClose={close} /> : null}
      {typeof open === 'object' ? (
        <ChannelSheet
          channel={open}
          onClose={close}
          onRemove={() => void remove(open, open === here).then(close)}
        />
      ) : null}
    </Section>
  );
}

/** Offers push to the device in hand, or says plainly why it cannot be had there. */
function ThisDevice({ pushKey, onDone }: { pushKey: string | undefined; onDone: () => void }) {
  const fault = pushFault();
  const [busy, work] = useState(false);
  return (
    <Row
      icon="bell"
      title="Push to this device"
      lines={
        <span class="row-line row-lines">
          {fault ?? 'When an agent needs you, also while Parley is closed'}
        </span>
      }
    >
      {fault === undefined ? (
        <button
          type="button"
          class="button-primary"
          disabled={busy || pushKey === undefined}
          onClick={() => {
            work(true);
            void attempt(
              () => subscribe(pushKey ?? '', me.value?.device_name ?? 'This device'),
              'This device gets notifications from now on.',
            ).then(() => {
              work(false);
              onDone();
            });
          }}
        >
          {busy ? 'Asking' : 'Turn on'}
        </button>
      ) : null}
    </Row>
  );
}

function ChannelRow({ channel, isHere, onOpen }: { channel: Channel; isHere: boolean; onOpen: () => void }) {
  const { name, kind, host, wants, quiet, paused, last_failure, last_sent_at } = channel;
  const reported = wants.map((want) => NEWS[want].toLowerCase()).join(', ');
  return (
    <Row
      icon={kind === 'push' ? 'device' : 'bell'}
      title={
        <>
          {name} {isHere ? <span class="tag">this one</span> : null}
          {paused ? <span class="tag">paused</span> : null}
        </>
      }
      lines={
        <>
          <span class="row-line row-lines">
            {kind === 'push' ? 'push' : `${kind} at ${host}`} · {reported}
            {quiet === undefined ? '' : ` · quiet ${quiet.from}–${quiet.to}`}
          </span>
          {last_failure === undefined ? (
            <span class="row-line">
              {last_sent_at === undefined ? 'nothing sent yet' : `sent ${agoWords(last_sent_at)}`}
            </span>
          ) : (
            <span class="row-line row-bad">
              failed {agoWords(last_failure.at)}: {last_failure.why}
            </span>
          )}
        </>
      }
    >
      {maySteer() ? (
        <span class="row-end">
          <button type="button" class="button" onClick={() => void test(channel)}>
            Test
          </button>
          <button
            type="button"
            class="button-quiet icon-button"
            aria-label={`Settings of ${name}`}
            onClick={onOpen}
          >
            <Icon name="more" />
          </button>
        </span>
      ) : null}
    </Row>
  );
}

function test({ channel_id, name }: Channel): Promise<boolean> {
  return attempt(async () => {
    const { sent, why } = await call('test_channel', { channel_id, idempotency_key: newKey() });
    say(sent ? `Sent to ${name}.` : `${name}: ${why ?? 'not sent'}`, sent ? 'good' : 'bad');
  });
}

function remove({ channel_id, name }: Channel, isHere: boolean): Promise<boolean> {
  return attempt(async () => {
    await call('remove_channel', { channel_id, idempotency_key: newKey() });
    if (isHere) await unsubscribe();
  }, `${name} is not notified any more.`);
}
