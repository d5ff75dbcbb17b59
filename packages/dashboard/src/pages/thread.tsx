import type { ThreadEvent } from '@parley/protocol';
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';

import { control, maySteer, setStatus } from '../data/actions.ts';
import { wordsOf } from '../data/api.ts';
import { loadThread } from '../data/replica.ts';
import { agentById, me, presence, threads, type ThreadRow, waiting } from '../data/state.ts';
import { threadLog } from '../data/thread-log.ts';
import { AskCard, AskStrip } from '../parts/ask-card.tsx';
import { Avatar } from '../parts/avatar.tsx';
import { Composer } from '../parts/composer.tsx';
import { Icon } from '../parts/icon.tsx';
import { later } from '../parts/later.tsx';
import { MessageList } from '../parts/message-list.tsx';
import { Empty, useTitle } from '../parts/page.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { ThreadList } from '../parts/thread-list.tsx';
import { pageKeys } from '../keys.ts';
import { go, goBack, place } from '../router.ts';
import { plural, STATUS_WORDS } from '../words.ts';

const PromoteSheet = later(async () => (await import('../knowledge/promote-sheet.tsx')).PromoteSheet);
const MessageSheet = later(async () => (await import('../parts/message-sheet.tsx')).MessageSheet);
const NewThread = later(async () => (await import('../parts/new-thread.tsx')).NewThread);
const ThreadPanel = later(async () => (await import('../parts/thread-panel.tsx')).ThreadPanel);
const ThreadMenu = later(async () => (await import('../parts/thread-menu.tsx')).ThreadMenu);

/** One thread: what was said, who is there, and where a person speaks. */
export function ThreadPage({ id, seq }: { id: string; seq: number | undefined }) {
  const thread = threads.value?.get(id);
  const [failed, fail] = useState<string | undefined>();
  useTitle(thread?.title ?? 'Thread');
  useEffect(() => {
    fail(undefined);
    loadThread(id).catch((error: unknown) => fail(wordsOf(error)));
  }, [id]);
  return (
    <div class={besides.value ? 'thread-layout' : 'thread-layout thread-alone'}>
      <aside class="thread-aside scroll" aria-label="Threads" tabIndex={0}>
        <h2 class="aside-title">Threads</h2>
        <ThreadList current={id} />
      </aside>
      {thread === undefined ? (
        <div class="thread-main">
          {failed === undefined ? null : <Empty title={failed}>{<a href="/threads">All threads</a>}</Empty>}
        </div>
      ) : (
        <Thread key={id} thread={thread} seq={seq} />
      )}
    </div>
  );
}

/** Whether what stands beside a thread is shown, where there is room. */
const besides = signal(true);

type Open = 'people' | 'menu' | 'promote' | 'asks' | 'side' | ThreadEvent | undefined;

function Thread({ thread, seq }: { thread: ThreadRow; seq: number | undefined }) {
  const { thread_id, title, status, paused = false, last_seq, participants } = thread;
  const log = threadLog(thread_id);
  log.reach(last_seq);
  const [readUpTo] = useState(thread.last_read_seq);
  const [open, show] = useState<Open>();
  const [replyTo, reply] = useState<ThreadEvent | undefined>();
  const rows = waiting.value.filter(({ ask }) => ask.thread_id === thread_id);
  const wish = place.value.query.get('reply');
  useEffect(() => {
    if (wish === null) return;
    const target = log.byId(wish.replace(/^msg_/, ''));
    if (target !== undefined) reply(target);
  }, [wish, log.version.value]);
  const close = (): void => show(undefined);
  const mayResolve = maySteer() && (status === 'active' || status === 'blocked');
  useEffect(() => {
    pageKeys.set('i', () => (besides.value = !besides.value));
    pageKeys.set('m', () => show('people'));
    if (mayResolve) pageKeys.set('e', () => void setStatus(thread_id, 'resolved', 'resolved by a person'));
    return () => pageKeys.clear();
  }, [thread_id, mayResolve]);
  return (
    <>
      <section class="thread-main" aria-label={title}>
        <header class="bar">
          <button
            type="button"
            class="button-quiet icon-button bar-back"
            aria-label="Back"
            onClick={() => goBack('/threads')}
          >
            <Icon name="back" />
          </button>
          <div class="bar-title">
            <h1>{title}</h1>
            <p class="meta">
              <span class={`status-word status-${status}`}>{paused ? 'Paused' : STATUS_WORDS[status]}</span>
              <span>{plural(last_seq, 'entry', 'entries')}</span>
              {thread.side_of === undefined ? null : (
                <a href={`/t/${thread.side_of}`}>
                  side channel of {threads.value?.get(thread.side_of)?.title ?? 'a thread'}
                </a>
              )}
            </p>
          </div>
          <button type="button" class="people-button" onClick={() => show('people')}>
            <span class="sr">{plural(participants.length, 'participant')}: show them</span>
            {participants.slice(0, 3).map((name) => (
              <Avatar key={name} name={name} size="s" state={agentById.value.get(name)?.state} />
            ))}
            {participants.length > 3 ? (
              <span class="meta" aria-hidden="true">
                +{participants.length - 3}
              </span>
            ) : null}
          </button>
          {maySteer() && status !== 'closed' ? (
            <button
              type="button"
              class="button-quiet icon-button"
              aria-label={paused ? 'Let the thread go on' : 'Pause the thread'}
              onClick={() =>
                void control(
                  thread_id,
                  { pause: { on: !paused } },
                  paused ? 'The thread goes on.' : 'Paused: only people may post.',
                )
              }
            >
              <Icon name={paused ? 'play' : 'pause'} />
            </button>
          ) : null}
          <button
            type="button"
            class="button-quiet icon-button"
            aria-label="More about this thread"
            onClick={() => show('menu')}
          >
            <Icon name="more" />
          </button>
        </header>
        {paused ? (
          <p class="banner">
            <Icon name="pause" size={16} /> Paused: agents may listen, only people may post.
          </p>
        ) : null}
        <MessageList log={log} readUpTo={readUpTo} wanted={seq} onActions={show} />
        <Presence threadId={thread_id} />
        {rows.length === 0 ? null : <AskStrip rows={rows} onOpen={() => show('asks')} />}
        <Composer
          log={log}
          participants={participants.filter((name) => name !== me.value?.agent_id)}
          shut={shutReason(thread)}
          replyTo={replyTo}
          onReplied={() => {
            reply(undefined);
            if (wish !== null) go(`/t/${thread_id}`, 'replace');
          }}
        />
      </section>
      <aside class="thread-side scroll" aria-label="About this thread" tabIndex={0}>
        <ThreadPanel thread={thread} onSide={() => show('side')} />
      </aside>
      {open === 'people' ? (
        <Sheet title={title} onClose={close} wide>
          <ThreadPanel thread={thread} onSide={() => show('side')} />
        </Sheet>
      ) : null}
      {open === 'menu' ? (
        <ThreadMenu
          thread={thread}
          onClose={close}
          onStatus={(next, reason) => void setStatus(thread_id, next, reason)}
          onSide={() => show('side')}
          onPeople={() => show('people')}
          onPromote={() => show('promote')}
        />
      ) : null}
      {open === 'promote' ? <PromoteSheet thread={thread} onClose={close} /> : null}
      {open === 'side' ? <NewThread onClose={close} beside={thread} /> : null}
      {open === 'asks' ? (
        <Sheet title={plural(rows.length, 'request')} onClose={close} wide>
          <div class="stack">
            {rows.map((row) => (
              <AskCard key={row.ask.ask_id} row={row} />
            ))}
          </div>
        </Sheet>
      ) : null}
      {typeof open === 'object' ? (
        <MessageSheet
          event={open}
          onClose={close}
          onReply={() => {
            reply(open);
            close();
          }}
        />
      ) : null}
    </>
  );
}

/** Who is thinking or typing here at this moment. */
function Presence({ threadId }: { threadId: string }) {
  const busy = [...(presence.value.get(threadId) ?? [])].filter(
    ([name, state]) => name !== me.value?.agent_id && (state === 'thinking' || state === 'typing'),
  );
  return (
    <p class="presence" aria-live="off">
      {busy.length === 0 ? null : (
        <>
          <span class="pulse" aria-hidden="true" />
          {busy.map(([name, state]) => `${name} is ${state}`).join(', ')}
        </>
      )}
    </p>
  );
}

function shutReason({ status }: ThreadRow): string | undefined {
  if (!maySteer()) return 'This device may only look.';
  return status === 'closed' ? 'This thread is closed. Reopen it to go on.' : undefined;
}
