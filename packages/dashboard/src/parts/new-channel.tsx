import { useState } from 'preact/hooks';

import { attempt } from '../data/actions.ts';
import { call, newKey } from '../data/api.ts';
import { type Choice, Choices } from './channel-sheet.tsx';
import { CodeLine } from './code-line.tsx';
import { Sheet } from './sheet.tsx';

const KINDS = [
  ['ntfy', 'ntfy'],
  ['webhook', 'Webhook'],
] as const;

/** Adds an ntfy topic or a webhook; the device in hand has a button of its own. */
export function NewChannel({ onClose }: { onClose: () => void }) {
  const [kind, turn] = useState<'ntfy' | 'webhook'>('ntfy');
  const [url, lead] = useState('');
  const [token, keep] = useState('');
  const [name, rename] = useState('');
  const [choice, choose] = useState<Choice>({ wants: ['ask', 'trouble', 'mention'], quiet: undefined });
  const [secret, show] = useState<string | undefined>();
  const add = (): Promise<boolean> =>
    attempt(async () => {
      const added = await call('add_channel', {
        kind,
        name: name.trim() === '' ? kind : name.trim(),
        target: { url: url.trim(), ...(kind === 'ntfy' && token !== '' ? { token } : {}) },
        wants: [...choice.wants],
        ...(choice.quiet === undefined ? {} : { quiet: choice.quiet }),
        idempotency_key: newKey(),
      });
      if (added.secret === undefined) onClose();
      else show(added.secret);
    }, 'Added.');
  if (secret !== undefined)
    return (
      <Sheet title="The secret of this webhook" onClose={onClose}>
        <p>What is sent is signed with it. It is shown only now.</p>
        <CodeLine text={secret} />
      </Sheet>
    );
  return (
    <Sheet title="Add notifications" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <div class="segments" role="group" aria-label="How">
          {KINDS.map(([value, word]) => (
            <button key={value} type="button" aria-pressed={kind === value} onClick={() => turn(value)}>
              {word}
            </button>
          ))}
        </div>
        <label class="field">
          <span>{kind === 'ntfy' ? 'Address of the topic' : 'Address'}</span>
          <input
            type="url"
            required
            value={url}
            placeholder={
              kind === 'ntfy' ? 'https://ntfy.sh/a-topic-nobody-guesses' : 'https://example.com/hook'
            }
            onInput={(event) => lead(event.currentTarget.value)}
          />
        </label>
        {kind === 'ntfy' ? (
          <label class="field">
            <span>Access token, if it needs one</span>
            <input
              type="password"
              autocomplete="off"
              value={token}
              onInput={(event) => keep(event.currentTarget.value)}
            />
          </label>
        ) : null}
        <label class="field">
          <span>Name</span>
          <input
            value={name}
            maxLength={60}
            placeholder={kind}
            onInput={(event) => rename(event.currentTarget.value)}
          />
        </label>
        <Choices choice={choice} onChange={choose} />
        <p class="note">
          A server in your own network, or without TLS, must be named in <code>notify.allowed_hosts</code>.
        </p>
        <button type="submit" class="button-primary button-wide" disabled={choice.wants.length === 0}>
          Add
        </button>
      </form>
    </Sheet>
  );
}
