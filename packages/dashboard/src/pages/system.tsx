import { type OutputOf, readAll } from '@parley/protocol';
import { useEffect, useState } from 'preact/hooks';

import { attempt, maySteer } from '../data/actions.ts';
import { call, newKey, read, wordsOf } from '../data/api.ts';
import { enterWorkspace } from '../data/enter-workspace.ts';
import { signOut } from '../data/session.ts';
import { me, signInAt } from '../data/state.ts';
import { Channels } from '../parts/channels.tsx';
import { Pulse, sample, ServiceLevels } from '../parts/figures.tsx';
import { Icon } from '../parts/icon.tsx';
import { ApprovalRules } from '../parts/approval-rules.tsx';
import { Page, Section } from '../parts/page.tsx';
import { Passkeys } from '../parts/passkeys.tsx';
import { PairSheet } from '../parts/pair-sheet.tsx';
import { Row } from '../parts/row.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { setTheme, theme, type Theme } from '../theme.ts';
import { ago, agoWords, fullTime, span } from '../time.ts';
import { plural } from '../words.ts';

type Hub = OutputOf<'describe_hub'>;
type Device = OutputOf<'list_devices'>['devices'][number];

/** The parts that are read each for itself. */
const PARTS = ['hub', 'levels', 'devices', 'passkeys', 'rules', 'channels'] as const;
/** So long those that have their answer wait for the others. */
const TOGETHER_MS = 3_000;

const THEMES: readonly [Theme, string][] = [
  ['auto', 'Like this device'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

/** The hub itself: how it is, who is signed in, its keys, and how this device looks. */
export function SystemPage() {
  const [hub, set] = useState<Hub | undefined>();
  const [devices, list] = useState<readonly Device[] | undefined>();
  const [failed, fail] = useState<string | undefined>();
  const [open, show] = useState<'pair' | 'out' | Device | undefined>();
  const [answered, note] = useState<ReadonlySet<(typeof PARTS)[number]>>(new Set());
  const noting = (part: (typeof PARTS)[number]) => (): void =>
    note((had) => (had.has(part) ? had : new Set([...had, part])));
  const workspaces = me.value?.workspaces ?? [];
  const isPerson = workspaces.length > 0;
  const failing = (error: unknown): void => fail(wordsOf(error));
  const look = (): void => {
    void read<Hub>('/v1/hub')
      .then((about) => {
        set(about);
        sample(about);
        fail(undefined);
      }, failing)
      .then(noting('hub'));
  };
  const load = (): void => {
    void readAll(
      (place) => call('list_devices', place),
      (page) => page.devices,
    )
      .then(list, failing)
      .then(noting('devices'));
  };
  useEffect(() => {
    look();
    load();
    const timers = [setInterval(look, 2_000), setInterval(load, 10_000)];
    const late = setTimeout(() => note(new Set(PARTS)), TOGETHER_MS);
    return () => {
      clearTimeout(late);
      timers.forEach(clearInterval);
    };
  }, []);
  return (
    <Page title="System">
      <Section title="This device">
        <div class="segments" role="group" aria-label="Appearance">
          {THEMES.map(([value, word]) => (
            <button
              key={value}
              type="button"
              aria-pressed={theme.value === value}
              onClick={() => setTheme(value)}
            >
              {word}
            </button>
          ))}
        </div>
        {workspaces.length > 1 ? (
          <div class="segments" role="group" aria-label="Workspace">
            {workspaces.map((name) => (
              <button
                key={name}
                type="button"
                aria-pressed={name === me.value?.workspace_id}
                onClick={() => void attempt(() => enterWorkspace(name))}
              >
                {name}
              </button>
            ))}
          </div>
        ) : null}
        <div class="button-row">
          <button type="button" class="button-danger" onClick={() => show('out')}>
            {isPerson ? 'Sign out everywhere' : `Sign out of ${me.value?.device_name ?? 'this device'}`}
          </button>
        </div>
      </Section>
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      {/* Shown together: parts that grow as the hub answers would move a button away from under a finger. */}
      <div hidden={answered.size < PARTS.length}>
        <Section title="Hub">
          <dl class="facts">
            <Fact name="Health">
              {hub === undefined ? (
                ''
              ) : (
                <span class={`chip ${hub.writable ? 'chip-working' : 'chip-error'}`}>
                  {hub.writable ? 'Accepts writes' : 'Cannot write'}
                </span>
              )}
            </Fact>
            {hub?.trouble === undefined ? null : <Fact name="Trouble">{hub.trouble}</Fact>}
            {hub?.nodes === undefined ? null : (
              <Fact name="Other nodes">
                {hub.nodes.connected ? (
                  hub.nodes.others
                ) : (
                  <>
                    <span class="chip chip-stuck">Not heard</span> {hub.nodes.trouble}
                  </>
                )}
              </Fact>
            )}
            <Fact name="Search index">{hub === undefined ? '' : lagOf(hub)}</Fact>
            {hub === undefined || hub.clock.ahead_ms === 0 ? null : (
              <Fact name="Clock">
                <span class="chip chip-stuck">Jumped ahead by {span(hub.clock.ahead_ms)}</span> Nothing
                expires because of it before {fullTime(hub.clock.believed_at ?? '')}.
              </Fact>
            )}
            {hub === undefined || hub.rebuilt.length === 0 ? null : (
              <Fact name="Rebuilt from the log">{hub.rebuilt.join(', ')}</Fact>
            )}
            <Fact name="Version">{hub?.version ?? ''}</Fact>
            <Fact name="Running for">{hub === undefined ? '' : ago(hub.started_at)}</Fact>
            <Fact name="Entries in the log">{hub?.position.toLocaleString() ?? ''}</Fact>
            <Fact name="Workspace">{me.value?.workspace_id ?? ''}</Fact>
          </dl>
          <Pulse />
          <p class="section-links">
            <a href="/log">The log</a>
            {' · '}
            <a href="/docs" target="_blank" rel="noopener">
              Documentation
            </a>
          </p>
        </Section>
        <ServiceLevels onAnswer={noting('levels')} />
        <Section
          title="Devices"
          count={devices?.length}
          action={
            maySteer() ? (
              <button type="button" class="button" onClick={() => show('pair')}>
                <Icon name="plus" /> Sign one in
              </button>
            ) : null
          }
        >
          <div class="list">
            {(devices ?? []).map((device) => (
              <Row
                key={device.device_id}
                icon="device"
                title={
                  <>
                    {device.name} {device.this_one === true ? <span class="tag">this one</span> : null}
                    {device.read_only ? <span class="tag">may only look</span> : null}
                  </>
                }
                lines={
                  <span class="row-line">
                    {device.agent_id} · seen {agoWords(device.last_seen_at)}
                  </span>
                }
              >
                {maySteer() && device.this_one !== true ? (
                  <button type="button" class="button-danger" onClick={() => show(device)}>
                    Revoke
                  </button>
                ) : null}
              </Row>
            ))}
          </div>
        </Section>
        <Passkeys onAnswer={noting('passkeys')} />
        <ApprovalRules onAnswer={noting('rules')} />
        <Channels onAnswer={noting('channels')} />
        <Section title="Keys" count={hub?.keys.length}>
          <div class="list">
            {(hub?.keys ?? []).map((key) => (
              <Row
                key={key.kid}
                icon="key"
                isMono
                title={<span>{key.kid}</span>}
                lines={
                  <span class="row-line">
                    {key.own ? 'the hub signs with it' : 'accepted from elsewhere'} · made{' '}
                    {fullTime(key.created_at)}
                    {key.retired_at === undefined ? '' : ' · retired'}
                  </span>
                }
              />
            ))}
          </div>
        </Section>
      </div>
      {open === 'pair' ? (
        <PairSheet
          onClose={() => {
            show(undefined);
            load();
          }}
        />
      ) : null}
      {open === 'out' ? (
        <Sheet
          title={isPerson ? 'Sign out on every device?' : 'Sign this device out?'}
          onClose={() => show(undefined)}
        >
          <p>
            Drafts and all else that this browser has kept of the hub are removed.{' '}
            {isPerson
              ? 'All your devices, and agents that came with your account, are signed out too.'
              : 'To come back you need a new link.'}
          </p>
          <button type="button" class="button-danger button-wide" onClick={() => void attempt(signOut)}>
            Sign out
          </button>
        </Sheet>
      ) : null}
      {typeof open === 'object' ? (
        <Sheet title={`Revoke ${open.name}?`} onClose={() => show(undefined)}>
          <p>
            It is signed out at once. To come back it needs a new link or code.
            {signInAt.value === undefined
              ? ''
              : ` Where its person signed in with ${signInAt.value}, all their devices are signed out.`}
          </p>
          <button
            type="button"
            class="button-danger button-wide"
            onClick={() => {
              show(undefined);
              void attempt(
                () => call('revoke_device', { device_id: open.device_id, idempotency_key: newKey() }),
                `${open.name} is signed out.`,
              ).then(load);
            }}
          >
            Revoke
          </button>
        </Sheet>
      ) : null}
    </Page>
  );
}

/** How far the index of words is behind the log. */
function lagOf({ search: { behind, lag_ms } }: Hub): string {
  return behind === 0
    ? 'Up to date'
    : `${plural(behind, 'entry', 'entries')} behind, ${(lag_ms / 1_000).toFixed(1)} s`;
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
