import type { ThreadStatus } from '@parley/protocol';

import { attempt, control, maySteer } from '../data/actions.ts';
import { call, newKey } from '../data/api.ts';
import { markRead } from '../data/replica.ts';
import type { ThreadRow } from '../data/state.ts';
import { useState } from 'preact/hooks';
import { copy } from './code-line.tsx';
import { Icon, type IconName } from './icon.tsx';
import { Sheet } from './sheet.tsx';

interface MenuProps {
  thread: ThreadRow;
  onClose: () => void;
  onStatus: (status: ThreadStatus, reason: string) => void;
  onSide: () => void;
  onPeople: () => void;
  onPromote: () => void;
}

/** What a person can do with a thread as a whole. */
export function ThreadMenu({ thread, onClose, onStatus, onSide, onPeople, onPromote }: MenuProps) {
  const { thread_id, status, side_of, last_seq, done = false } = thread;
  const [title, rename] = useState(thread.title);
  const item = (icon: IconName, label: string, note: string, run: () => void) => (
    <button
      type="button"
      class="choice choice-icon"
      onClick={() => {
        onClose();
        run();
      }}
    >
      <Icon name={icon} />
      <strong>{label}</strong>
      <span>{note}</span>
    </button>
  );
  const steer = maySteer();
  return (
    <Sheet title="This thread" onClose={onClose}>
      {steer ? (
        <form
          class="invite"
          onSubmit={(event) => {
            event.preventDefault();
            onClose();
            void attempt(
              () => call('rename_thread', { thread_id, title: title.trim(), idempotency_key: newKey() }),
              'Renamed.',
            );
          }}
        >
          <label class="field">
            <span>Title</span>
            <input value={title} maxLength={200} onInput={(event) => rename(event.currentTarget.value)} />
          </label>
          <button type="submit" class="button" disabled={title.trim() === '' || title === thread.title}>
            Rename
          </button>
        </form>
      ) : null}
      <div class="choices">
        {item('people', 'Participants and summary', 'Who is here, what is open, side channels', onPeople)}
        {steer && status === 'closed'
          ? item('play', 'Reopen', 'Messages can be posted again', () => onStatus('active', 'reopened'))
          : null}
        {steer && (status === 'active' || status === 'blocked')
          ? item('check', 'Resolve', 'The work is done', () => onStatus('resolved', 'resolved by a person'))
          : null}
        {steer && status === 'active'
          ? item('warn', 'Mark as blocked', 'It cannot go on by itself', () =>
              onStatus('blocked', 'blocked by a person'),
            )
          : null}
        {steer && (status === 'blocked' || status === 'resolved')
          ? item('play', 'Make active again', 'Work goes on', () => onStatus('active', 'taken up again'))
          : null}
        {steer && (status === 'resolved' || status === 'closed')
          ? item('page', 'Make a document', 'Keeps the results where they can be looked up', onPromote)
          : null}
        {steer && status !== 'closed'
          ? item('cross', 'Close', 'Nothing more can be posted', () =>
              onStatus('closed', 'closed by a person'),
            )
          : null}
        {steer && status !== 'closed'
          ? item(
              done ? 'play' : 'bell',
              done ? 'Agents may respond again' : 'Tell agents to stop responding',
              'People may still post',
              () =>
                void control(
                  thread_id,
                  { done: !done },
                  done ? 'Agents may respond.' : 'Agents were told to stop.',
                ),
            )
          : null}
        {steer && side_of === undefined && status !== 'closed'
          ? item('side', 'Open a side channel', 'For details that not everybody needs to read', onSide)
          : null}
        {item('check', 'Mark as read', 'Nothing here counts as new', () => markRead(thread_id, last_seq))}
        {item('copy', 'Copy link', 'To this thread', () => void copy(`${location.origin}/t/${thread_id}`))}
      </div>
    </Sheet>
  );
}
