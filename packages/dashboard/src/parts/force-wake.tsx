import { useState } from 'preact/hooks';

import { wake } from '../data/actions.ts';
import { HoldButton } from './hold-button.tsx';
import { Icon } from './icon.tsx';
import { Sheet } from './sheet.tsx';

/** Wakes an agent against what would hold it back; who insists says why, and both go on record. */
export function ForceWake({ agentId }: { agentId: string }) {
  const [open, show] = useState(false);
  const [reason, write] = useState('');
  return (
    <>
      <button type="button" class="button" onClick={() => show(true)}>
        <Icon name="warn" /> Force
      </button>
      {open ? (
        <Sheet title={`Wake ${agentId} by force?`} onClose={() => show(false)}>
          <p>
            It is woken even if it is left alone, has nothing unread, or somebody types at its terminal. Your
            name, this device and the reason go into its journal.
          </p>
          <label class="field">
            <span>Why</span>
            <input
              value={reason}
              maxLength={300}
              placeholder="production is down"
              onInput={(event) => write(event.currentTarget.value)}
            />
          </label>
          <HoldButton
            disabled={reason.trim() === ''}
            onHeld={() => {
              show(false);
              void wake(agentId, undefined, reason.trim());
            }}
          >
            Hold for a second to wake it
          </HoldButton>
        </Sheet>
      ) : null}
    </>
  );
}
