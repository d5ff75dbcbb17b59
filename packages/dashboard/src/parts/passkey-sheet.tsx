import { useState } from 'preact/hooks';

import { attempt } from '../data/actions.ts';
import { call, newKey } from '../data/api.ts';
import { addPasskey, passkeyFault } from '../data/passkey.ts';
import { me, typed } from '../data/state.ts';
import { Sheet } from './sheet.tsx';

/** A new passkey on this device, with a code from where the hub runs; or why this page cannot have one. */
export function PasskeySheet({ origins, onClose }: { origins: readonly string[]; onClose: () => void }) {
  const [code, write] = useState('');
  const [name, rename] = useState(me.value?.device_name ?? '');
  const [busy, wait] = useState(false);
  const fault = passkeyFault(origins);
  const { agent_id = '', workspace_id = '' } = me.value ?? {};
  if (fault !== undefined)
    return (
      <Sheet title="Add a passkey" onClose={onClose}>
        <p>{fault}</p>
        <Elsewhere origins={origins} />
      </Sheet>
    );
  return (
    <Sheet title="Add a passkey" onClose={onClose}>
      <form
        class="reason"
        onSubmit={(event) => {
          event.preventDefault();
          wait(true);
          void attempt(() => addPasskey(code.trim(), name.trim()), `${name.trim()} can sign now.`).then(
            (done) => (done ? onClose() : wait(false)),
          );
        }}
      >
        <p>
          Where the hub runs, type{' '}
          <code>{typed(`passkey code --person ${agent_id} --workspace ${workspace_id}`)}</code> and enter what
          it prints. Then this device asks for your finger, face or PIN.
        </p>
        <label class="field">
          <span>Code</span>
          <input
            class="mono"
            required
            autocomplete="off"
            autocapitalize="characters"
            placeholder="XXXX-XXXX"
            maxLength={20}
            value={code}
            onInput={(event) => write(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>Name of this passkey</span>
          <input
            required
            maxLength={60}
            value={name}
            onInput={(event) => rename(event.currentTarget.value)}
          />
        </label>
        <p class="meta">It works at {location.hostname} only. At another name of the hub, add another.</p>
        <button type="submit" class="button-primary button-wide" disabled={busy}>
          {busy ? 'Waiting for the device' : 'Add a passkey'}
        </button>
      </form>
    </Sheet>
  );
}

/** The way to the same hub under its name: there this browser has to sign in anew. */
function Elsewhere({ origins }: { origins: readonly string[] }) {
  if (origins.includes(location.origin)) return null;
  const isHere = /^(127\.|\[::1\])/.test(location.hostname);
  const there = origins.filter((origin) => (new URL(origin).hostname === 'localhost') === isHere);
  return (
    <>
      {there.map((origin) => (
        <button
          key={origin}
          type="button"
          class="button-primary button-wide"
          onClick={() =>
            void attempt(async () => {
              const { key } = await call('pair_device', { idempotency_key: newKey() });
              location.assign(`${origin}/#k=${key}`);
            })
          }
        >
          Sign in at {new URL(origin).host}
        </button>
      ))}
    </>
  );
}
