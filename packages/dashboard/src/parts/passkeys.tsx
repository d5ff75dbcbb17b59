import { type OutputOf, type Passkey, readAll } from '@parley/protocol';
import { useState } from 'preact/hooks';

import { attempt, maySteer } from '../data/actions.ts';
import { call, newKey } from '../data/api.ts';
import { me } from '../data/state.ts';
import { agoWords } from '../time.ts';
import { plural } from '../words.ts';
import { Icon } from './icon.tsx';
import { Section } from './page.tsx';
import { PasskeySheet } from './passkey-sheet.tsx';
import { Row } from './row.tsx';
import { Sheet } from './sheet.tsx';
import { useRefreshed } from './use-refreshed.ts';

type Listed = Pick<OutputOf<'list_passkeys'>, 'demanded' | 'origins' | 'passkeys'>;

const NONE: Listed = { demanded: 'off', origins: [], passkeys: [] };

/** The keys with which people sign what is of high risk. */
export function Passkeys({ onAnswer }: { onAnswer: () => void }) {
  const load = async (): Promise<Listed> => {
    let listed = NONE;
    const passkeys = await readAll(
      async (place) => {
        const page = await call('list_passkeys', place);
        listed = page;
        return page;
      },
      (page) => page.passkeys,
    ).finally(onAnswer);
    return { ...listed, passkeys };
  };
  const { found = NONE, failed, again } = useRefreshed(load, 10_000, []);
  const { passkeys, ...listed } = found;
  const [open, show] = useState<'add' | Passkey | undefined>();
  const close = (): void => {
    show(undefined);
    again();
  };
  return (
    <Section
      title="Passkeys"
      count={passkeys.length}
      action={
        maySteer() ? (
          <button type="button" class="button" onClick={() => show('add')}>
            <Icon name="plus" /> Add a passkey
          </button>
        ) : null
      }
    >
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      <p class="meta passkey-note">
        {listed.demanded === 'high_risk'
          ? 'Approvals of high risk need a passkey. Denying needs none.'
          : 'Not required. With asks.passkey = "high_risk" in the configuration, approvals of high risk need one.'}
      </p>
      {passkeys.length === 0 ? null : (
        <div class="list">
          {passkeys.map((passkey) => (
            <Row
              key={passkey.passkey_id}
              icon="key"
              title={
                <>
                  {passkey.name}{' '}
                  {passkey.site === location.hostname ? null : <span class="tag">at {passkey.site}</span>}
                </>
              }
              lines={
                <span class="row-line">
                  {passkey.person === me.value?.agent_id ? 'yours' : passkey.person} ·{' '}
                  {passkey.last_used_at === undefined
                    ? 'not used yet'
                    : `${plural(passkey.uses, 'approval')}, last ${agoWords(passkey.last_used_at)}`}
                </span>
              }
            >
              {maySteer() ? (
                <button type="button" class="button-danger" onClick={() => show(passkey)}>
                  Remove
                </button>
              ) : null}
            </Row>
          ))}
        </div>
      )}
      {open === 'add' ? <PasskeySheet origins={listed.origins} onClose={close} /> : null}
      {typeof open === 'object' ? (
        <Sheet title={`Remove ${open.name}?`} onClose={close}>
          <p>It cannot approve anything any more. What it has signed stays valid.</p>
          <button
            type="button"
            class="button-danger button-wide"
            onClick={() =>
              void attempt(
                () => call('remove_passkey', { passkey_id: open.passkey_id, idempotency_key: newKey() }),
                `${open.name} is removed.`,
              ).then(close)
            }
          >
            Remove
          </button>
        </Sheet>
      ) : null}
    </Section>
  );
}
