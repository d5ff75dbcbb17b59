import { me } from '../data/state.ts';
import type { Pending, ThreadLog } from '../data/thread-log.ts';
import { Avatar } from './avatar.tsx';

/** Something said here that is on its way, or did not get through. */
export function PendingRow({ log, one }: { log: ThreadLog; one: Pending }) {
  const name = me.value?.agent_id ?? 'you';
  return (
    <div class="entry">
      <article
        class={one.failed === undefined ? 'message message-pending' : 'message'}
        aria-busy={one.failed === undefined}
      >
        <Avatar name={name} />
        <div class="message-body">
          <header class="message-head">
            <span class="message-from">{name}</span>
            <span class="meta">{one.failed === undefined ? 'sending' : 'not sent'}</span>
          </header>
          <div class="prose prose-plain">{one.text}</div>
          {one.failed === undefined ? null : (
            <p class="ask-failed" role="alert">
              {one.failed}{' '}
              <button type="button" class="button" onClick={() => void log.send(one)}>
                Send again
              </button>{' '}
              <button type="button" class="button-quiet" onClick={() => log.drop(one.key)}>
                Discard
              </button>
            </p>
          )}
        </div>
      </article>
    </div>
  );
}
