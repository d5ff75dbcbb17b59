import type { ThreadEvent } from '@parley/protocol';
import { useComputed } from '@preact/signals';
import type { ComponentType, Ref } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { VList as ReactVList, type VListHandle } from 'virtua';

import { maySteer } from '../data/actions.ts';
import { markRead } from '../data/replica.ts';
import { createSeen, rowsInView } from '../data/seen.ts';
import type { ThreadLog } from '../data/thread-log.ts';
import { EventRow } from './event-row.tsx';
import { Icon } from './icon.tsx';
import { PendingRow } from './pending-row.tsx';
import { isLookedAt, isOwn, ofOthers, onLook, shownRows } from './shown-rows.ts';

interface VListProps {
  ref: Ref<VListHandle>;
  class: string;
  data: ArrayLike<unknown>;
  onScroll: (offset: number) => void;
  children: (item: unknown, index: number) => preact.VNode;
  [name: string]: unknown;
}

// The list is written for React; Preact stands in for it in the bundle.
const VList = ReactVList as unknown as ComponentType<VListProps>;

/** Nearer to the end than this, the list follows what comes. */
const AT_END_PX = 120;

/** So much that is new is read from where it begins; of more, the end is of interest. */
const BACKLOG = 200;

/** Rows that are fetched beyond those in sight. */
const MARGIN = 40;

/** So much of the screen stays above what is new, for where it follows on. */
const ABOVE = 0.25;

/** By then the list is where it was sent. */
const ARRIVE_MS = 300;

/** So many frames a row that was added is waited for: it may have to be fetched first. */
const FRAMES = 600;

interface ListProps {
  log: ThreadLog;
  /** The last message that the person had taken in when the page was opened. */
  readUpTo: number;
  /** A message that the address names. */
  wanted: number | undefined;
  onActions: (event: ThreadEvent) => void;
}

/** A thread from its first entry to its last: only the rows in sight are there, and the place never jumps. */
export function MessageList({ log, readUpTo, wanted, onActions }: ListProps) {
  const frame = useRef<HTMLDivElement>(null);
  const list = useRef<VListHandle>(null);
  const atEnd = useRef(true);
  const later = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const drawing = useRef(0);
  /** The row that the list is on its way to; what it passes meanwhile is not in sight. */
  const heading = useRef<number | undefined>(undefined);
  const [seen] = useState(() => createSeen(readUpTo, (seq) => isOwn(log, seq)));
  const [ready, begin] = useState(false);
  const [below, setBelow] = useState(0);
  const [above, setAbove] = useState(0);
  void log.version.value;
  const last = log.last.value;
  const pending = log.pending.value;
  const total = useComputed(() => log.last.value + 1 + log.pending.value.length).value;
  const [opensAt] = useState(readUpTo < last && last - readUpTo <= BACKLOG ? readUpTo + 1 : undefined);
  let firstNew = readUpTo + 1;
  while (isOwn(log, firstNew)) firstNew++;

  useEffect(() => {
    const start = wanted ?? opensAt ?? last;
    let gone = false;
    void log.ensure(start - MARGIN, Math.min(last, start + MARGIN)).finally(() => {
      if (!gone) begin(true);
    });
    return () => {
      gone = true;
    };
  }, [log, wanted]);

  useLayoutEffect(() => {
    if (!ready) return undefined;
    const start = wanted ?? opensAt;
    atEnd.current = start === undefined;
    heading.current = start ?? total - 1;
    if (start === undefined) follow();
    else goTo(start);
    const arrived = setTimeout(() => {
      heading.current = undefined;
      look(list.current?.scrollOffset ?? 0);
    }, ARRIVE_MS);
    return () => clearTimeout(arrived);
  }, [ready, wanted]);

  useLayoutEffect(() => {
    if (!ready) return;
    if (atEnd.current || pending.some(({ seq, failed }) => seq === undefined && failed === undefined))
      follow();
    look(list.current?.scrollOffset ?? 0);
  }, [total, last, ready]);

  useEffect(() => {
    const stop = onLook(note);
    return () => {
      stop();
      clearTimeout(later.current);
      cancelAnimationFrame(drawing.current);
    };
  }, []);

  /** Shows a row with a little of what came before it. */
  function goTo(index: number): void {
    const room = list.current?.viewportSize ?? 0;
    list.current?.scrollToIndex(index, { align: 'start', offset: -room * ABOVE });
  }

  /** Shows the last row: its end, or where it begins when it is longer than the screen. */
  function follow(): void {
    const end = log.last.peek() + log.pending.peek().length;
    list.current?.scrollToIndex(end, { align: 'end' });
    cancelAnimationFrame(drawing.current);
    awaitDrawn(end, FRAMES);
  }

  /** How long a row is shows only once it is there; the list itself guesses until then. */
  function awaitDrawn(seq: number, frames: number): void {
    drawing.current = requestAnimationFrame(() => {
      const row = frame.current?.querySelector(`.entry[data-seq="${seq}"]`) ?? undefined;
      if (row === undefined) {
        if (frames > 0) awaitDrawn(seq, frames - 1);
      } else if (row.getBoundingClientRect().height > (list.current?.viewportSize ?? Infinity)) {
        list.current?.scrollToIndex(seq, { align: 'start' });
      }
    });
  }

  /** The person has the list in hand: it goes nowhere of itself. */
  function letGo(): void {
    cancelAnimationFrame(drawing.current);
  }

  /** Fetches what is in sight, and notes how far the person has come. */
  function look(offset: number): void {
    const handle = list.current;
    if (handle === null) return;
    const first = handle.findItemIndex(offset);
    const final = handle.findItemIndex(offset + handle.viewportSize);
    if (heading.current !== undefined && (heading.current < first || heading.current > final)) return;
    atEnd.current = handle.scrollSize - offset - handle.viewportSize < AT_END_PX;
    void log.ensure(first - MARGIN, Math.min(log.last.peek(), final + MARGIN)).catch(() => {});
    note();
  }

  /** Notes which rows stand on the screen, and looks again when one of them has stood there for a moment. */
  function note(): void {
    clearTimeout(later.current);
    const end = log.last.peek();
    const { rows, view } = shownRows(frame.current);
    const inView = rowsInView(rows, view);
    const next = seen.look(isLookedAt() ? inView : [], performance.now());
    const isPartial = rows.some(({ bottom }) => bottom === Infinity);
    if (next !== undefined || isPartial) later.current = setTimeout(note, next ?? ARRIVE_MS);
    const reached = Math.min(seen.reached(), end);
    markRead(log.id, reached, ofOthers(log, reached + 1, end));
    const top = rows.find((row) => row.bottom > view.top + 1)?.seq ?? 0;
    // One that is longer than the screen has its end below, and is none of those after it.
    setBelow(rows.length === 0 ? 0 : Math.max(0, end - (inView.at(-1) ?? top)));
    setAbove(reached + 1 < top ? ofOthers(log, reached + 1, top - 1) : 0);
  }

  if (!ready) return <div class="messages" aria-busy="true" />;
  return (
    <div class="messages" ref={frame}>
      <VList
        ref={list}
        class="message-scroll"
        data={{ length: total }}
        onScroll={look}
        onResize={() => look(list.current?.scrollOffset ?? 0)}
        onWheel={letGo}
        onTouchMove={letGo}
        onKeyDown={letGo}
        tabIndex={0}
        role="log"
        aria-label="Messages"
        aria-live="off"
      >
        {(_item, index) => {
          const waiting = pending[index - last - 1];
          if (waiting !== undefined) return <PendingRow key={waiting.key} log={log} one={waiting} />;
          const event = log.row(index);
          if (event === undefined) return <div key={index} class="entry-blank" aria-hidden="true" />;
          return (
            <EventRow
              key={index}
              event={event}
              before={log.row(index - 1)}
              log={log}
              firstNew={index === firstNew}
              marked={index === wanted}
              onActions={onActions}
            />
          );
        }}
      </VList>
      {above > 0 ? (
        <div class="jump jump-up">
          <button type="button" onClick={() => goTo(seen.reached() + 1)}>
            <Icon name="up" size={16} /> {above.toLocaleString()} unread above
          </button>
          {maySteer() ? (
            <button type="button" onClick={() => pass()}>
              <Icon name="check" size={16} /> Mark as read
            </button>
          ) : null}
        </div>
      ) : null}
      {below > 0 ? (
        <div class="jump jump-down">
          <button
            type="button"
            onClick={() => {
              atEnd.current = true;
              follow();
            }}
          >
            <Icon name="down" size={16} /> {below.toLocaleString()} more below
          </button>
        </div>
      ) : null}
    </div>
  );

  /** The person says that what stands above need not be read. */
  function pass(): void {
    const { rows, view } = shownRows(frame.current);
    seen.pass((rowsInView(rows, view)[0] ?? 1) - 1);
    note();
    const reached = seen.reached();
    markRead(log.id, reached, ofOthers(log, reached + 1, log.last.peek()));
  }
}
