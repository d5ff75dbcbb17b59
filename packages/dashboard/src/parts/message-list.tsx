import type { ThreadEvent } from '@parley/protocol';
import { useComputed } from '@preact/signals';
import type { ComponentType, Ref } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { VList as ReactVList, type VListHandle } from 'virtua';

import { markRead } from '../data/replica.ts';
import type { ThreadLog } from '../data/thread-log.ts';
import { plural } from '../words.ts';
import { EventRow } from './event-row.tsx';
import { Icon } from './icon.tsx';
import { PendingRow } from './pending-row.tsx';

interface VListProps {
  ref: Ref<VListHandle>;
  class: string;
  data: ArrayLike<unknown>;
  onScroll: (offset: number) => void;
  children: (item: unknown, index: number) => preact.VNode;
  [name: string]: unknown;
}

/** The list is written for React; Preact stands in for it in the bundle. */
const VList = ReactVList as unknown as ComponentType<VListProps>;

/** Nearer to the end than this, the list follows what comes. */
const AT_END_PX = 120;

/** So much that is new is read from where it begins; of more, the end is of interest. */
const BACKLOG = 200;

/** Rows that are fetched beyond those in sight. */
const MARGIN = 40;

/** By then the list is where it was sent. */
const ARRIVE_MS = 300;

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
  const list = useRef<VListHandle>(null);
  const atEnd = useRef(true);
  const seen = useRef(readUpTo);
  /** The row that the list is on its way to; what it passes meanwhile is not in sight. */
  const heading = useRef<number | undefined>(undefined);
  const [ready, begin] = useState(false);
  const [behind, fall] = useState(0);
  void log.version.value;
  const last = log.last.value;
  const pending = log.pending.value;
  const total = useComputed(() => log.last.value + 1 + log.pending.value.length).value;
  const firstNew = readUpTo < last ? readUpTo + 1 : undefined;
  const [firstUnread] = useState(last - readUpTo <= BACKLOG ? firstNew : undefined);

  useEffect(() => {
    const start = wanted ?? firstUnread ?? last;
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
    const start = wanted ?? firstUnread;
    atEnd.current = start === undefined;
    heading.current = start ?? total - 1;
    list.current?.scrollToIndex(heading.current, { align: start === undefined ? 'end' : 'center' });
    const arrived = setTimeout(() => {
      heading.current = undefined;
      look(list.current?.scrollOffset ?? 0);
    }, ARRIVE_MS);
    return () => clearTimeout(arrived);
  }, [ready, wanted]);

  useLayoutEffect(() => {
    if (!ready) return;
    if (atEnd.current || pending.some(({ seq, failed }) => seq === undefined && failed === undefined))
      list.current?.scrollToIndex(total - 1, { align: 'end' });
    look(list.current?.scrollOffset ?? 0);
  }, [total, last, ready]);

  /** Fetches what is in sight, and notes how far the person has come. */
  function look(offset: number): void {
    const handle = list.current;
    if (handle === null) return;
    const first = handle.findItemIndex(offset);
    const final = handle.findItemIndex(offset + handle.viewportSize);
    if (heading.current !== undefined && (heading.current < first || heading.current > final)) return;
    atEnd.current = handle.scrollSize - offset - handle.viewportSize < AT_END_PX;
    void log.ensure(first - MARGIN, Math.min(log.last.peek(), final + MARGIN)).catch(() => {});
    const reached = Math.min(log.last.peek(), atEnd.current ? log.last.peek() : final);
    if (reached > seen.current && !document.hidden) {
      seen.current = reached;
      markRead(log.id, reached);
    }
    fall(atEnd.current ? 0 : Math.max(0, log.last.peek() - reached));
  }

  useEffect(() => {
    const shown = (): void => look(list.current?.scrollOffset ?? 0);
    document.addEventListener('visibilitychange', shown);
    return () => document.removeEventListener('visibilitychange', shown);
  }, []);

  if (!ready) return <div class="messages" aria-busy="true" />;
  return (
    <div class="messages">
      <VList
        ref={list}
        class="message-scroll"
        data={{ length: total }}
        onScroll={look}
        onResize={() => look(list.current?.scrollOffset ?? 0)}
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
      {behind > 0 ? (
        <button
          type="button"
          class="latest"
          onClick={() => {
            atEnd.current = true;
            list.current?.scrollToIndex(total - 1, { align: 'end' });
          }}
        >
          <Icon name="down" size={16} /> {plural(behind, 'more message')}
        </button>
      ) : null}
    </div>
  );
}
