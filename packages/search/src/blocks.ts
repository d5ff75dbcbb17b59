/** A part of a text that belongs together: a paragraph, a list, a fence of code, with the headings above it. */
export interface Block {
  start: number;
  end: number;
  /** The outermost first. */
  headings: string[];
}

const HEADING = /^ {0,3}(#{1,6})[ \t]/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** As much of a heading as goes with each passage below it. */
const LONGEST_TITLE = 500;

/** Takes a text apart at its empty lines and headings. */
export function blocksOf(body: string, mime: string): Block[] {
  return mime === 'text/markdown' ? markdownBlocks(body) : plainBlocks(body);
}

function* lines(body: string): Generator<{ start: number; end: number; text: string }> {
  for (let start = 0; start < body.length;) {
    const stop = body.indexOf('\n', start);
    const end = stop < 0 ? body.length : stop;
    yield { start, end, text: body.slice(start, end).replace(/\r$/, '') };
    start = end + 1;
  }
}

function markdownBlocks(body: string): Block[] {
  const blocks: Block[] = [];
  const path: { level: number; title: string }[] = [];
  let open: Block | undefined;
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

function plainBlocks(body: string): Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const { start, end, text } of lines(body)) {
    if (text.trim() === '') open = undefined;
    else if (open === undefined) blocks.push((open = { start, end, headings: [] }));
    else open.end = end;
  }
  return blocks;
}
