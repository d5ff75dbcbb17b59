import { useState } from 'preact/hooks';

import { attempt } from '../data/actions.ts';
import { call, newKey } from '../data/api.ts';
import { fleet } from '../data/state.ts';
import { go } from '../router.ts';
import { Avatar } from './avatar.tsx';
import { Sheet } from './sheet.tsx';

/** Starts a thread: what it is about, who takes part, and a first word. */
export function NewThread({
  onClose,
  beside,
}: {
  onClose: () => void;
  beside?: { thread_id: string; title: string; participants: readonly string[] };
}) {
  const [title, name] = useState('');
  const [text, write] = useState('');
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const known = fleet.value.map(({ agent_id }) => agent_id);
  const candidates = beside === undefined ? known : known.filter((id) => beside.participants.includes(id));
  const create = (): Promise<boolean> =>
    attempt(async () => {
      const participants = [...chosen];
      const { thread_id } =
        beside === undefined
          ? await call('create_thread', {
              title: title.trim(),
              type: 'workflow',
              participants,
              idempotency_key: newKey(),
            })
          : await call('open_side_channel', {
              thread_id: beside.thread_id,
              title: title.trim(),
              purpose: text.trim() || title.trim(),
              participants,
              idempotency_key: newKey(),
            });
      if (text.trim() !== '')
        await call('post_message', {
          thread_id,
          schema_version: 1,
          body: text.trim(),
          idempotency_key: newKey(),
        });
      onClose();
      go(`/t/${thread_id}`);
    });
  return (
    <Sheet title={beside === undefined ? 'New thread' : `Side channel of ${beside.title}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <label class="field">
          <span>What it is about</span>
          <input
            value={title}
            maxLength={200}
            required
            onInput={(event) => name(event.currentTarget.value)}
          />
        </label>
        <fieldset class="field">
          <legend>Who takes part</legend>
          <div class="picks">
            {candidates.length === 0 ? <span class="meta">No agent is known yet.</span> : null}
            {candidates.map((id) => (
              <label key={id} class="pick">
                <input
                  type="checkbox"
                  checked={chosen.has(id)}
                  onChange={() => {
                    const next = new Set(chosen);
                    if (!next.delete(id)) next.add(id);
                    choose(next);
                  }}
                />
                <Avatar name={id} size="s" /> {id}
              </label>
            ))}
          </div>
        </fieldset>
        <label class="field">
          <span>{beside === undefined ? 'First message' : 'What it is for'}</span>
          <textarea rows={3} value={text} onInput={(event) => write(event.currentTarget.value)} />
        </label>
        <button type="submit" class="button-primary button-wide" disabled={title.trim() === ''}>
          {beside === undefined ? 'Start the thread' : 'Open the side channel'}
        </button>
      </form>
    </Sheet>
  );
}
