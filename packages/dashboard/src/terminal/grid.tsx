import { Component } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { piecesOf } from './line-marks.ts';
import type { Line, Terminal } from './open-terminal.ts';

/** The height of a row, and how far the letters may shrink before the screen is scrolled instead. */
const ROW_EM = 1.25;
const SIZES = { least: 5, readable: 9, most: 15, smallest: 4, largest: 24 };
/** How wide a letter is, as a part of its size, until it was measured. */
const USUAL_RATIO = 0.602;

/** One row; drawn again only when it has changed. */
class Row extends Component<{ line: Line }> {
  override shouldComponentUpdate({ line }: { line: Line }): boolean {
    return line !== this.props.line;
  }

  override render({ line }: { line: Line }) {
    return (
      <div class="t-row">
        {piecesOf(line.text, line.runs).map((piece, at) => {
          const { text, color, background, cells } = piece;
          const classes = [piece.class, cells === undefined ? '' : `t-cell-${cells}`]
            .filter(Boolean)
            .join(' ');
          if (classes === '' && color === undefined && background === undefined) return text;
          return (
            <span
              key={at}
              class={classes}
              // Set by script on the element itself, which the policy for styles allows.
              style={{ ...(color && { color }), ...(background && { background }) }}
            >
              {text}
            </span>
          );
        })}
      </div>
    );
  }
}

/** The rows of a terminal, as large as fits, with its cursor; follows the cursor of whoever types. */
export function Grid({
  terminal,
  name,
  zoom,
  children,
  onPress,
}: {
  terminal: Terminal;
  name: string;
  /** Steps that a person made it larger or smaller. */
  zoom: number;
  children: preact.ComponentChildren;
  onPress: () => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const probe = useRef<HTMLSpanElement>(null);
  const [width, measure] = useState(0);
  const [ratio, learn] = useState(USUAL_RATIO);
  const { cols = 80, cursor } = terminal.head.value ?? {};
  const held = terminal.mine.value !== undefined;
  // Who looks sees all columns; who types, or wants them larger, reads, and the view follows the cursor.
  const least = held ? SIZES.readable : SIZES.least;
  const fitting = Math.min(SIZES.most, Math.max(least, width / cols / ratio));
  const wanted = (zoom > 0 ? Math.max(fitting, SIZES.readable - 1) : fitting) + zoom;
  // Rounded up, the last column might not fit.
  const size = Math.floor(Math.min(SIZES.largest, Math.max(SIZES.smallest, wanted)) * 10) / 10;

  useLayoutEffect(() => {
    const watched = box.current;
    if (watched === null) return undefined;
    const read = (): void => {
      const style = getComputedStyle(watched);
      measure(
        watched.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight),
      );
      const letters = probe.current;
      if (letters !== null) {
        const found =
          letters.getBoundingClientRect().width / 100 / Number.parseFloat(getComputedStyle(letters).fontSize);
        if (found > 0) learn(found);
      }
    };
    const observer = new ResizeObserver(read);
    observer.observe(watched);
    read();
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (held && box.current !== null && cursor !== undefined)
      bringIntoView(box.current, (cursor.x + 1) * ratio * size, (cursor.y + 1) * ROW_EM * size);
  }, [held, cursor?.x, cursor?.y, size]);

  return (
    <div ref={box} class="t-screen scroll" onClick={onPress}>
      <pre
        class="screen t-grid"
        tabIndex={0}
        aria-label={`Screen of ${name}`}
        style={{ fontSize: `${size}px` }}
      >
        {terminal.lines.value.map((line, y) => (
          <Row key={y} line={line} />
        ))}
        {cursor?.visible === true ? (
          <span
            class={held ? 't-cursor t-cursor-held' : 't-cursor'}
            aria-hidden="true"
            style={{ left: `${cursor.x}ch`, top: `${cursor.y * ROW_EM}em` }}
          />
        ) : null}
        <span ref={probe} class="t-probe" aria-hidden="true">
          {'0'.repeat(100)}
        </span>
      </pre>
      {children}
    </div>
  );
}

const MARGIN = 24;

function bringIntoView(box: HTMLElement, right: number, bottom: number): void {
  if (right + MARGIN > box.scrollLeft + box.clientWidth) box.scrollLeft = right + MARGIN - box.clientWidth;
  else if (right - MARGIN < box.scrollLeft) box.scrollLeft = Math.max(0, right - MARGIN);
  if (bottom + MARGIN > box.scrollTop + box.clientHeight) box.scrollTop = bottom + MARGIN - box.clientHeight;
  else if (bottom - MARGIN < box.scrollTop) box.scrollTop = Math.max(0, bottom - MARGIN);
}
