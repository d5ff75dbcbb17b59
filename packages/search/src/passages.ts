import type { IndexedDocument } from './index-words.ts';

/** A part of a document that is found and cited by itself. */
export interface Passage {
  /** Its place in the document's text: `body.slice(start, end)`. */
  start: number;
  end: number;
  /** The headings above it, the outermost first. */
  headings: string[];
}

/** About a page: what a reader takes in at once. */
const MOST = 2_000;
/** Sections shorter than this go together with what follows. */
const FEW = 400;

const HEADING = /^ {0,3}(#{1,6})[ \t]/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** As much of a heading as goes with each passage below it. */
const LONGEST_TITLE = 500;

/** Takes a text apart at its headings, paragraphs, sentences and spaces, in this order; nothing that is written is left out. */
export function passagesOf(body: string, mime: string): Passage[] {
  const blocks = mime === 'text/markdown' ? markdownBlocks(body) : plainBlocks(body);
  const passages: Passage[] = [];
  let open: Passage | undefined;
  for (const block of blocks.flatMap((one) => cut(body, one))) {
    const fits = open !== undefined && block.end - open.start <= MOST;
    const belongs = open !== undefined && (samePath(open, block) || open.end - open.start < FEW);
    if (open !== undefined && fits && belongs) open.end = block.end;
    else passages.push((open = { ...block }));
  }
  return passages;
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

function samePath(a: Passage, b: Passage): boolean {
  return a.headings.join('\n') === b.headings.join('\n');
}

function* lines(body: string): Generator<{ start: number; end: number; text: string }> {
  for (let start = 0; start < body.length;) {
    const stop = body.indexOf('\n', start);
    const end = stop < 0 ? body.length : stop;
    yield { start, end, text: body.slice(start, end).replace(/\r$/, '') };
    start = end + 1;
  }
}

function markdownBlocks(body: string): Passage[] {
  const blocks: Passage[] = [];
  const path: { level: number; title: string }[] = [];
  let open: Passage | undefined;
  let fence: string | undefined;
  for (const { start, end, text } of lines(body)) {
    const fencing = FENCE.exec(text)?.[1];
    const heading = fence === undefined ? HEADING.exec(text) : null;
    if (heading !== null) {
      const [mark = '', { length: level } = '#'] = heading;
      while ((path.at(-1)?.level ?? 0) >= level) path.pop();
      path.push({ level, title: titleOf(text.slice(mark.length)) });
      blocks.push((open = { start, end, headings: path.map(({ title }) => title) }));
    } else if (text.trim() === '' && fence === undefined) open = undefined;
    else if (open === undefined)
      blocks.push((open = { start, end, headings: path.map(({ title }) => title) }));
    else open.end = end;
    if (fencing === undefined) continue;
    if (fence === undefined) fence = fencing;
    else if (fencing.startsWith(fence)) fence = undefined;
  }
  return blocks;
}

/** What a heading says, without the marks that may close it. */
function titleOf(text: string): string {
  let end = text.length;
  while (end > 0 && ' \t#'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end).trimStart().slice(0, LONGEST_TITLE).toWellFormed();
}

function plainBlocks(body: string): Passage[] {
  const blocks: Passage[] = [];
  let open: Passage | undefined;
  for (const { start, end, text } of lines(body)) {
    if (text.trim() === '') open = undefined;
    else if (open === undefined) blocks.push((open = { start, end, headings: [] }));
    else open.end = end;
  }
  return blocks;
}

/** A block in parts that are short enough. */
function cut(body: string, { start, end, headings }: Passage): Passage[] {
  const parts: Passage[] = [];
  for (let at = start; at < end;) {
    const stop = end - at <= MOST ? end : at + placeToCut(body.slice(at, at + MOST));
    parts.push({ start: at, end: stop, headings });
    at = stop;
    while (at < end && /\s/.test(body.charAt(at))) at += 1;
  }
  return parts;
}

/** The best place to stop in a text that is too long: after a line, a sentence, a word, never inside a character. */
function placeToCut(text: string): number {
  for (const end of [/\n/g, /[.!?。！？](?=\s|$)/g, /\s/g]) {
    const places = [...text.matchAll(end)].map(({ index }) => index + 1);
    const last = places.at(-1) ?? 0;
    if (last > text.length / 2) return last;
  }
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last < 0xdc00 ? text.length - 1 : text.length;
}
