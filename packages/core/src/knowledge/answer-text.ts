/** A piece of an answer: what is said, and the numbers of what it rests on. */
export interface Said {
  text: string;
  cites: number[];
}

/** What stands behind a sentence that names nothing it rests on. */
const NO_SOURCE = '[no source]';

const segmenter = new Intl.Segmenter('und', { granularity: 'sentence' });
const MARK = /\[(\d{1,3})\]/g;
const MARKS_FIRST = /^(?:\s?\[\d{1,3}\])+[.,;:]?/;
/** A dot after these ends no sentence. */
const SHORT = /(?:^|[\s(])(?:\p{Lu}|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|Eq|vs|cf|ca|e\.g|i\.e|approx)\.\s+$/u;
/** What says nothing by itself: a heading, a rule, what only leads to the lines below it. */
const NO_CLAIM = /^\s*(?:#{1,6}\s|[-=*`|]{3,})|:\s*$/;

/** Takes what a model wrote apart into its sentences. Citations of what it was not given are left out. */
export function saidBy(written: string, count: number): Said[] {
  const known = written
    .replaceAll(/\[(\d{1,3}(?:\s*[,;]\s*\d{1,3})+)\]/g, (_, list: string) =>
      list.replaceAll(/\d+/g, '[$&]').replaceAll(/[,;\s]+/g, ' '),
    )
    .replaceAll(/\s?\[(\d{1,3})\]/g, (mark, n: string) => (Number(n) >= 1 && Number(n) <= count ? mark : ''))
    // Without a space the mark would be cut in two: it looks like a bracket that closes the sentence.
    .replaceAll(/(?<=\p{P})\[(?=\d{1,3}\])/gu, ' [');
  return sentencesOf(known.trim()).map((text) => ({
    text,
    cites: [...text.matchAll(MARK)].map(([, n]) => Number(n)),
  }));
}

/** True for an answer that says nothing but that there is none. */
export function saysNothing(written: string): boolean {
  return /^\W*not in the (?:documents|passages|threads)\b/i.test(written);
}

/** A sentence as it is shown: one that makes a claim and rests on nothing says so. */
export function shown({ text, cites }: Said): string {
  const claim = text.replaceAll(MARK, '');
  if (cites.length > 0 || NO_CLAIM.test(claim) || !/[\p{L}\p{N}]/u.test(claim)) return text;
  const end = text.trimEnd().length;
  return `${text.slice(0, end)} ${NO_SOURCE}${text.slice(end)}`;
}

/** Sentences with the white space behind them; marks behind the full stop belong to what they stand behind. */
function sentencesOf(text: string): string[] {
  const found: string[] = [];
  let isOpen = false;
  for (const { segment } of segmenter.segment(text)) {
    const last = found.at(-1);
    const marks = last === undefined || last.endsWith('\n') ? '' : (MARKS_FIRST.exec(segment)?.[0] ?? '');
    const rest = segment.slice(marks.length);
    if (last !== undefined && (isOpen || rest.trim() === '')) found[found.length - 1] = last + segment;
    else {
      if (last !== undefined) found[found.length - 1] = last + marks;
      found.push(rest);
    }
    isOpen = SHORT.test(segment);
  }
  return found;
}
