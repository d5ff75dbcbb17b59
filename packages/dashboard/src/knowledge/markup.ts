import DOMPurify from 'dompurify';
import { Marked, type Tokens } from 'marked';

import { ALLOWED, isParsed, QUIET_RENDERER } from '../markdown.ts';

/** A piece of a document as it is shown, and where it stands in the text. */
export interface Block {
  from: number;
  to: number;
  text: string;
  /** Undefined where the text is better shown as it is. */
  markup: string | undefined;
}

/** Leads from a name, as it is written in a text, to a document. */
export type Resolve = (name: string) => string | undefined;

const WIKI = /^\[\[([^[\]|#\n]{1,500})(?:#[^[\]|\n]*)?(?:\|([^[\]\n]*))?\]\]/;
const HEADING = /^#{1,6}\s/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const DEFINITION = /^ {0,3}\[[^\]\n]{1,200}\]:[ \t]+\S+.*$/;
const MAX_DEFINITIONS = 50;

/** A link inside the tree may stay in the app; all else is as in a message. */
const ALLOWED_HERE = {
  ...ALLOWED,
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|artifact:[0-9A-Za-z_]{1,64}$|\/know\/[0-9a-f-]{36}$)/i,
};

/** The blocks of a Markdown text, parsed section by section so that no part of it holds up the page. */
export function toBlocks(body: string, resolve: Resolve): Block[] {
  const marked = reader(resolve);
  const sections = [...sectionsOf(body)];
  const definitions = body
    .split('\n')
    .filter((line) => DEFINITION.test(line))
    .slice(0, MAX_DEFINITIONS)
    .join('\n');
  return sections.flatMap(({ from, text }) => {
    if (!DOMPurify.isSupported || !isParsed(text, 'whole'))
      return [{ from, to: from + text.length, text, markup: undefined }];
    return blocksOf(marked, text, definitions, from);
  });
}

function blocksOf(marked: Marked, text: string, definitions: string, start: number): Block[] {
  try {
    const tokens = marked.lexer(definitions === '' ? text : `${text}\n\n${definitions}`);
    let at = start;
    const blocks: Block[] = [];
    for (const token of tokens) {
      const from = at;
      at += token.raw.length;
      if (token.type === 'space' || token.type === 'def' || from >= start + text.length) continue;
      const markup = DOMPurify.sanitize(marked.parser([token]), ALLOWED_HERE);
      blocks.push({ from, to: at, text: token.raw, markup });
    }
    return blocks;
  } catch {
    return [{ from: start, to: start + text.length, text, markup: undefined }];
  }
}

/** The parts of a text that begin with a heading; what stands in a fence begins none. */
function* sectionsOf(body: string): Generator<{ from: number; text: string }> {
  let from = 0;
  let at = 0;
  let fence: string | undefined;
  for (const line of body.split('\n')) {
    const mark = FENCE.exec(line)?.[1];
    if (fence === undefined && HEADING.test(line) && at > from) {
      yield { from, text: body.slice(from, at) };
      from = at;
    }
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence)))
      fence = fence === undefined ? mark : undefined;
    at += line.length + 1;
  }
  if (from < body.length) yield { from, text: body.slice(from) };
}

/** Reads Markdown with [[names]] of documents in it. */
function reader(resolve: Resolve): Marked {
  const marked = new Marked({ gfm: true, async: false });
  let above = 1;
  const lead = (name: string, shown: string): string => {
    const id = resolve(name);
    const words = escape(shown);
    return id === undefined
      ? `<em title="No document has this name yet">${words}</em>`
      : `<a href="/know/${id}">${words}</a>`;
  };
  marked.use({
    renderer: {
      ...QUIET_RENDERER,
      // The page has a heading of its own above those of the text, and none is left out on the way down.
      heading({ tokens, depth }: Tokens.Heading) {
        const level = Math.min(6, depth + 1, above + 1);
        above = level;
        return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
      },
      link(token: Tokens.Link) {
        const words = this.parser.parseInline(token.tokens);
        const id = /^[a-z][a-z0-9+.-]*:|^\/\//i.test(token.href) ? undefined : resolve(nameIn(token.href));
        return `<a href="${escape(id === undefined ? token.href : `/know/${id}`)}">${words}</a>`;
      },
    },
    extensions: [
      {
        name: 'wiki',
        level: 'inline',
        start: (text) => text.indexOf('[['),
        tokenizer(text) {
          const match = WIKI.exec(text);
          if (match === null) return undefined;
          const [raw, name = '', shown = name] = match;
          return { type: 'wiki', raw, name, shown };
        },
        renderer: (token) => lead(String(token['name']), String(token['shown'])),
      },
    ],
  });
  return marked;
}

/** The document that a link to a file means: the name of the file. */
function nameIn(href: string): string {
  const [path = ''] = href.split(/[?#]/);
  const file = path.split(/[/\\]/).at(-1) ?? '';
  try {
    return decodeURIComponent(file).replace(/\.(md|markdown|txt|json)$/i, '');
  } catch {
    return file;
  }
}

/** One spelling for all ways to write a name, as the hub has it. */
export function nameKey(name: string): string {
  return name.normalize('NFC').trim().replaceAll(/\s+/g, ' ').toLowerCase().slice(0, 200);
}

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
