import { diffLines, diffWordsWithSpace } from 'diff';
import { useMemo } from 'preact/hooks';

/** Lines that did not change, shown around those that did. */
const AROUND = 2;
/** Longer lines are compared as a whole. */
const LONG_LINE = 2_000;

interface Line {
  mark: '+' | '-' | ' ';
  text: string;
  /** Its other half, where a line was only changed: then the words that differ are shown. */
  other?: string;
}

/** What differs between two texts, line by line, and inside a changed line word by word. */
export function Difference({ before, after }: { before: string; after: string }) {
  const parts = useMemo(() => shorten(linesOf(before, after)), [before, after]);
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
  return (
    <>
      {diffWordsWithSpace(old, fresh)
        .filter(({ added, removed }) => !(mark === '-' ? added : removed))
        .map(({ value, added, removed }, i) =>
          added || removed ? mark === '-' ? <del key={i}>{value}</del> : <ins key={i}>{value}</ins> : value,
        )}
    </>
  );
}

function linesOf(before: string, after: string): Line[] {
  const lines: Line[] = [];
  // A last line without its end would differ from the same line with one.
  const changes = diffLines(whole(before), whole(after));
  for (const [i, { value, added, removed }] of changes.entries()) {
    const texts = value.replace(/\n$/, '').split('\n');
    const next = changes[i + 1];
    const last = changes[i - 1];
    // As many lines old as new, side by side: they were changed, not put in another's place.
    const pair = removed && next?.added ? next : added && last?.removed ? last : undefined;
    const others = pair?.value.replace(/\n$/, '').split('\n');
    const paired = others !== undefined && others.length === texts.length;
    for (const [k, text] of texts.entries()) {
      const other = paired ? others[k] : undefined;
      const compared = other !== undefined && text.length < LONG_LINE && other.length < LONG_LINE;
      lines.push({
        mark: added ? '+' : removed ? '-' : ' ',
        text,
        ...(compared ? { other } : {}),
      });
    }
  }
  return lines;
}

function whole(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
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
