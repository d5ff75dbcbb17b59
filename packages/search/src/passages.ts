import { type Block, blocksOf } from './blocks.ts';
import type { IndexedDocument } from './index-words.ts';
import { byLetters, type Ruler } from './ruler.ts';
import { sentencesOf } from './sentences.ts';

/** A part of a document that is found and cited by itself: `body.slice(start, end)`. */
export type Passage = Block;

/** A sentence, a line, or what is left of one that is too long, and how much of a passage's room it takes. */
interface Piece extends Block {
  size: number;
}

type Measure = (text: string) => number;

/** About a page: what a reader takes in at once. No passage is longer, whatever the model reads. */
const MOST_LETTERS = 2_000;
/** Sections that take less room than this go together with what follows. */
const FEW = 0.2;
/** A passage that is at least so full ends before a paragraph that does not fit whole. */
const ENOUGH = 0.4;
/** So much of the end of a passage is said again in the next: what spans both is whole in one of them. */
const OVERLAP = 0.2;

/**
 * Takes a text apart at its headings, paragraphs, sentences and spaces, in this order; nothing that is written is left
 * out. Passages of one section overlap by a sentence or two.
 */
export function passagesOf(body: string, mime: string, ruler: Ruler = byLetters, title = ''): Passage[] {
  const blocks = blocksOf(body, mime);
  const context = blocks.map(({ headings }) => contextOf(title, headings)).reduce(longer, '');
  const most = Math.max(1, ruler.most - ruler.tokensOf(context));
  const byTokens: Measure = (text) => Math.max(inLetters(text), ruler.tokensOf(text) / most);
  const passages: Passage[] = [];
  let open: Piece[] = [];
  let filled = 0;

  const fits = ({ size, end }: Piece): boolean =>
    filled + size <= 1 && end - (open[0]?.start ?? end) <= MOST_LETTERS;

  function close(next: Piece): void {
    passages.push(joined(open));
    open = samePath(open.at(-1), next) ? tailOf(open, next) : [];
    filled = sizeOf(open);
  }

  for (const block of blocks) {
    const measure = ruler.reads(body.slice(block.start, block.end)) ? byTokens : inLetters;
    const pieces = piecesOf(body, block, measure);
    const [first] = pieces;
    if (first === undefined) continue;
    const isOver = filled >= FEW && !samePath(open[0], block);
    if (isOver || (filled >= ENOUGH && filled + sizeOf(pieces) > 1)) close(first);
    for (const piece of pieces) {
      if (open.length > 0 && !fits(piece)) close(piece);
      if (open.length > 0 && !fits(piece)) [open, filled] = [[], 0];
      open.push(piece);
      filled += piece.size;
    }
  }
  if (open.length > 0) passages.push(joined(open));
  // A foreign paragraph among others is seldom long, but the model reads it all the same.
  const short = passages.flatMap((one) =>
    ruler.reads(body.slice(one.start, one.end))
      ? cut(body, one, byTokens).map(({ start, end }) => ({ ...one, start, end }))
      : [one],
  );
  return withoutRepeats(short);
}

/** Without the parts of a passage that was cut again which are whole in the one before or after them. */
function withoutRepeats(passages: readonly Passage[]): Passage[] {
  const kept: Passage[] = [];
  for (const one of passages) {
    if (one.end <= (kept.at(-1)?.end ?? -1)) continue;
    while ((kept.at(-1)?.start ?? -1) >= one.start) kept.pop();
    kept.push(one);
  }
  return kept;
}

/** The passages of a document with their texts; what has a title alone is found by it. */
export function wholePassagesOf({
  body,
  mime_type,
}: Pick<IndexedDocument, 'body' | 'mime_type'>): (Passage & { text: string })[] {
  const parts = passagesOf(body, mime_type);
  const all = parts.length > 0 ? parts : [{ start: 0, end: 0, headings: [] }];
  return all.map((one) => ({ ...one, text: body.slice(one.start, one.end) }));
}

/** A passage with what stands above it: often it is the title that says what it is about. */
export function withContext(title: string, headings: readonly string[], text: string): string {
  const above = headings.filter((heading) => !text.includes(heading));
  return [title, ...above, text].filter((part) => part !== '').join('\n');
}

/** The same as the model is to read it, with no more above it than leaves room for the text itself. */
export function forModel(title: string, headings: readonly string[], text: string): string {
  return withContext(
    contextOf(
      title,
      headings.filter((heading) => !text.includes(heading)),
    ),
    [],
    text,
  );
}

/** A passage as the model is given it: in parts that it reads to their end, each with what stands above them. */
export function windowsOf(title: string, headings: readonly string[], text: string, ruler: Ruler): string[] {
  const parts = passagesOf(text, 'text/plain', ruler, contextOf(title, headings));
  if (parts.length <= 1) return [forModel(title, headings, text)];
  return parts.map(({ start, end }) => forModel(title, headings, text.slice(start, end)));
}

/** Of what stands above a passage the model reads this many letters. */
const MOST_CONTEXT = 200;

function contextOf(title: string, headings: readonly string[]): string {
  const above = [title, ...headings].filter((part) => part !== '');
  const each = Math.floor(MOST_CONTEXT / Math.max(1, above.length)) - 1;
  const all = above.join('\n');
  if (all.length <= MOST_CONTEXT) return all;
  return above.map((part) => part.slice(0, each).toWellFormed()).join('\n');
}

const longer = (a: string, b: string): string => (b.length > a.length ? b : a);

function samePath(a: Block | undefined, b: Block): boolean {
  return a !== undefined && a.headings.join('\n') === b.headings.join('\n');
}

function joined(pieces: readonly Piece[]): Passage {
  const [first] = pieces;
  return { start: first?.start ?? 0, end: pieces.at(-1)?.end ?? 0, headings: first?.headings ?? [] };
}

const inLetters: Measure = (text) => text.length / MOST_LETTERS;

function sizeOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { size }) => sum + size, 0);
}

/** The last sentences of a full passage, which are said again before the next where there is room for them. */
function tailOf(pieces: readonly Piece[], next: Piece): Piece[] {
  const tail: Piece[] = [];
  let size = 0;
  for (const piece of pieces.slice(1).toReversed()) {
    size += piece.size;
    if (!samePath(piece, next) || size > OVERLAP || size + next.size > 1) break;
    tail.unshift(piece);
  }
  return tail;
}

/** No sentence goes past the end of its line. What the segmenter gets is short: it copies all of it for each sentence. */
const STRETCH = /[^\n]{0,4000}(?:\s|$)|[^\n]{1,4000}/gu;

function piecesOf(body: string, { start, end, headings }: Block, measure: Measure): Piece[] {
  const stretches = body.slice(start, end).matchAll(STRETCH);
  return [...stretches].flatMap(({ 0: stretch, index: at }) =>
    sentencesOf(stretch).flatMap(({ segment, index }) => {
      const from = start + at + index;
      return cut(body, { start: from, end: from + segment.length, headings }, measure);
    }),
  );
}

/** A piece in parts that are short enough, without the white space around them. */
function cut(body: string, { start, end, headings }: Block, measure: Measure): Piece[] {
  const text = body.slice(start, end);
  const [from, to] = [start + text.length - text.trimStart().length, start + text.trimEnd().length];
  if (from >= to) return [];
  const size = to - from > MOST_LETTERS ? Infinity : measure(body.slice(from, to));
  if (size <= 1 || to - from < 2) return [{ start: from, end: to, headings, size }];
  const half = from + placeToCut(body.slice(from, from + Math.ceil((to - from) / 2)));
  return [
    ...cut(body, { start: from, end: half, headings }, measure),
    ...cut(body, { start: half, end: to, headings }, measure),
  ];
}

/** The best place to stop in a text that is too long: after a word, never inside a character. */
function placeToCut(text: string): number {
  const last = text.search(/\s\S*$/);
  if (last > text.length / 2) return last + 1;
  const unit = text.charCodeAt(text.length - 1);
  return unit >= 0xd800 && unit < 0xdc00 && text.length > 1 ? text.length - 1 : text.length;
}
