import type { ShownRow, View } from '../data/seen.ts';
import { me } from '../data/state.ts';
import type { ThreadLog } from '../data/thread-log.ts';

/** The rows of a list that are there, and the part of the list that the screen shows: a keyboard may cover some of it. */
export function shownRows(frame: HTMLElement | null): { rows: ShownRow[]; view: View } {
  const scroll = frame?.querySelector('.message-scroll')?.getBoundingClientRect();
  if (frame === null || scroll === undefined) return { rows: [], view: { top: 0, bottom: 0 } };
  const screen = globalThis.visualViewport;
  const top = screen?.offsetTop ?? 0;
  const rows = [...frame.querySelectorAll<HTMLElement>('.entry[data-seq]')].map((row) => {
    const { top: upper, bottom } = row.getBoundingClientRect();
    // Where one ends of which a part is still to come, nobody knows.
    const isWhole = row.querySelector('[aria-busy]') === null;
    return { seq: Number(row.dataset['seq']), top: upper, bottom: isWhole ? bottom : Infinity };
  });
  return {
    rows: rows.toSorted((a, b) => a.seq - b.seq),
    view: {
      top: Math.max(scroll.top, top),
      bottom: Math.min(scroll.bottom, top + (screen?.height ?? innerHeight)),
    },
  };
}

/** True while somebody has this page before them and nothing lies over it. */
export function isLookedAt(): boolean {
  return (
    document.visibilityState === 'visible' &&
    document.hasFocus() &&
    document.querySelector('dialog[open]') === null
  );
}

/** Whatever can change what somebody sees without a move of the list. */
export function onLook(run: () => void): () => void {
  const screen = globalThis.visualViewport;
  const places: [EventTarget | null, string][] = [
    [document, 'visibilitychange'],
    // A dialog that goes; this event does not rise by itself.
    [document, 'close'],
    [globalThis.window, 'focus'],
    [globalThis.window, 'blur'],
    [screen, 'resize'],
    [screen, 'scroll'],
  ];
  for (const [target, change] of places) target?.addEventListener(change, run, true);
  return () => {
    for (const [target, change] of places) target?.removeEventListener(change, run, true);
  };
}

/** What the person wrote needs no reading. */
export function isOwn(log: ThreadLog, seq: number): boolean {
  return log.row(seq)?.from === me.value?.agent_id;
}

/** How many entries of others stand from one to another; what was not fetched counts. */
export function ofOthers(log: ThreadLog, from: number, to: number): number {
  let count = 0;
  for (let seq = from; seq <= to; seq++) if (!isOwn(log, seq)) count++;
  return count;
}
