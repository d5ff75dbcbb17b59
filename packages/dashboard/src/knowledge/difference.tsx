import { useMemo } from 'preact/hooks';

import { compareLines, compareWords, type Line } from './compare-texts.ts';

/** Lines that did not change, shown around those that did. */
const AROUND = 2;

/** What differs between two texts, line by line, and inside a changed line word by word. */
export function Difference({ before, after }: { before: string; after: string }) {
  const parts = useMemo(() => shorten(compareLines(before, after)), [before, after]);
  if (before === after) return <p class="meta">No difference in the text.</p>;
  return (
    <div class="diff scroll" tabIndex={0} role="group" aria-label="Difference">
      {parts.map((line, i) =>
        typeof line === 'number' ? (
          <div key={i} class="diff-gap">
            {line} {line === 1 ? 'line' : 'lines'} alike
          </div>
        ) : (
          <div
            key={i}
            class={`diff-line diff-${line.mark === '+' ? 'new' : line.mark === '-' ? 'old' : 'same'}`}
          >
            <span class="diff-mark" aria-hidden="true">
              {line.mark}
            </span>
            <span class="sr">{line.mark === '+' ? 'new: ' : line.mark === '-' ? 'old: ' : ''}</span>
            <span>
              <Words {...line} />
            </span>
          </div>
        ),
      )}
    </div>
  );
}

function Words({ mark, text, other }: Line) {
  if (other === undefined) return <>{text === '' ? '\u00A0' : text}</>;
  const [old, fresh] = mark === '-' ? [text, other] : [other, text];
  const words = compareWords(old, fresh);
  if (words === undefined) return <>{text}</>;
  return (
    <>
      {words
        .filter(({ added, removed }) => !(mark === '-' ? added : removed))
        .map(({ value, added, removed }, i) =>
          added || removed ? mark === '-' ? <del key={i}>{value}</del> : <ins key={i}>{value}</ins> : value,
        )}
    </>
  );
}

/** The lines without those far from any change; a number says how many were left out. */
function shorten(lines: readonly Line[]): (Line | number)[] {
  const near = new Set<number>();
  for (const [i, { mark }] of lines.entries())
    if (mark !== ' ') for (let k = i - AROUND; k <= i + AROUND; k++) near.add(k);
  const shown: (Line | number)[] = [];
  for (const [i, line] of lines.entries()) {
    const last = shown.at(-1);
    if (near.has(i)) shown.push(line);
    else if (typeof last === 'number') shown[shown.length - 1] = last + 1;
    else shown.push(1);
  }
  return shown;
}
