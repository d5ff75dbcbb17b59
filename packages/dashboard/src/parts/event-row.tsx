import { type ThreadEvent, plainWords } from '@parley/protocol';

import { maySteer } from '../data/actions.ts';
import { asks, me, threads } from '../data/state.ts';
import type { ThreadLog } from '../data/thread-log.ts';
import { clockTime, dayName, fullTime } from '../time.ts';
import { reportedAs, textOf } from '../words.ts';
import { Avatar } from './avatar.tsx';
import { CallLine } from './call-line.tsx';
import { EventCard } from './event-card.tsx';
import { Icon } from './icon.tsx';
import { describe } from './system-words.ts';
import { Text } from './text.tsx';

/** Messages of one speaker within this time stand under one name. */
const TOGETHER_MS = 300_000;

interface RowProps {
  event: ThreadEvent;
  before: ThreadEvent | undefined;
  log: ThreadLog;
  firstNew: boolean;
  marked: boolean;
  onActions: (event: ThreadEvent) => void;
}

/** One entry of a thread: something said, something reported, or a quiet line about what was done. */
export function EventRow({ event, before, log, firstNew, marked, onActions }: RowProps) {
  const newDay = before === undefined || dayName(before.ts) !== dayName(event.ts);
  return (
    <div class={`entry${marked ? ' entry-marked' : ''}`} data-seq={event.meta.seq}>
      {newDay ? <div class="day">{dayName(event.ts)}</div> : null}
      {firstNew ? (
        <div class="new-mark" role="separator">
          New
        </div>
      ) : null}
      {isSpoken(event) ? (
        <Spoken
          event={event}
          follows={!newDay && !firstNew && follows(event, before)}
          log={log}
          onActions={onActions}
        />
      ) : (
        <Quiet event={event} />
      )}
    </div>
  );
}

function Spoken({
  event,
  follows: together,
  log,
  onActions,
}: {
  event: ThreadEvent;
  follows: boolean;
  log: ThreadLog;
  onActions: (event: ThreadEvent) => void;
}) {
  const { from, to, ts, meta, content, type } = event;
  // What the log knows beside the event (the message it answers, that it called nobody) may come after it.
  void log.version.value;
  const onComment = maySteer()
    ? (text: string) => void log.say(text, event.id === undefined ? undefined : `msg_${event.id}`)
    : undefined;
  const answered = meta.reply_to === undefined ? undefined : log.byId(meta.reply_to);
  return (
    <article
      class={together ? 'message message-together' : 'message'}
      aria-label={`${from}, ${clockTime(ts)}`}
    >
      {together ? null : <Avatar name={from} />}
      <div class="message-body">
        {together ? null : (
          <header class="message-head">
            <a class="message-from" href={`/agents/${encodeURIComponent(from)}`}>
              {from}
            </a>
            {meta.human === true ? (
              <span class="tag">{from === me.value?.agent_id ? 'you' : 'person'}</span>
            ) : null}
            {to === 'all' ? null : <span class="meta">to {to}</span>}
            <time class="meta" dateTime={ts} title={fullTime(ts)}>
              {clockTime(ts)}
            </time>
          </header>
        )}
        {answered === undefined ? null : (
          <a class="quoted-line" href={`/t/${event.thread}/${answered.meta.seq ?? 0}`}>
            <Icon name="reply" size={16} /> <b>{answered.from}</b>{' '}
            <span dir="auto">{plainWords(textOf(answered.content)).slice(0, 140)}</span>
          </a>
        )}
        {type === 'message' && reportedAs(event) === '' ? (
          <Text text={String(content)} onComment={onComment} />
        ) : (
          <EventCard event={event} onComment={onComment} />
        )}
        <CallLine event={event} calledNobody={log.calledNobody.has(meta.seq ?? 0)} />
      </div>
      <button
        type="button"
        class="button-quiet icon-button message-more"
        aria-label={`Message ${meta.seq ?? ''} of ${from}: reply, evidence and more`}
        onClick={() => onActions(event)}
      >
        <Icon name="more" />
      </button>
    </article>
  );
}

/** What was done, in one line; a request leads to its answer. */
function Quiet({ event }: { event: ThreadEvent }) {
  const { icon, text, tone, askId, side } = describe(event, me.value?.agent_id ?? '');
  const open = askId !== undefined && asks.value.get(askId)?.ask.status === 'open';
  return (
    <p class={`quiet quiet-${tone}`}>
      <Icon name={icon} size={16} />
      <span>
        {text}{' '}
        {side === undefined ? null : (
          <a href={`/t/${side}`}>{threads.value?.get(side)?.title ?? 'open it'}</a>
        )}
        {open ? <a href={`/asks/${askId}`}>Answer</a> : null}
      </span>
      <time class="meta" dateTime={event.ts} title={fullTime(event.ts)}>
        {clockTime(event.ts)}
      </time>
    </p>
  );
}

function isSpoken({ type }: ThreadEvent): boolean {
  return type === 'message' || type === 'task' || type === 'result';
}

function follows(event: ThreadEvent, before: ThreadEvent | undefined): boolean {
  return (
    before !== undefined &&
    isSpoken(before) &&
    before.from === event.from &&
    before.to === event.to &&
    Date.parse(event.ts) - Date.parse(before.ts) < TOGETHER_MS
  );
}
