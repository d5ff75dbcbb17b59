import { isBoundedMarkdown } from '@parley/protocol';
import { Lexer, Marked, Parser, type Tokens } from 'marked';

/** Where a link leads that is written as [[name]] or ](file.md); undefined where there is nothing of that name. */
export type FindLink = (written: string) => string | undefined;

/** A run of text longer than this, or with more marks than anyone writes by hand, is shown as it is: to parse it takes
 * time that grows with the square of their number, and would hold up the hub. */
const RUN_CHARS = 20_000;
const RUN_MARKS = 600;
/** A text that defines more links is shown as it is as a whole. */
const MAX_DEFINITIONS = 500;

const SAFE_ADDRESS = /^(?:https?:|mailto:)/i;

export const escapeHtml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');

/**
 * Markdown of others as markup that can do nothing: HTML in it is shown, not obeyed; a picture becomes a link to it; a
 * link leads to the web, to mail or to another document. What is not parsed is undefined: it is better shown as it is.
 */
export function toMarkup(text: string, findLink: FindLink): string | undefined {
  const source = text.replaceAll(/\r\n?/g, '\n');
  if (!isBoundedMarkdown(source)) return undefined;
  const marked = new Marked({ gfm: true, async: false });
  marked.use({
    renderer: {
      html: ({ block, text: shown }) => (block ? `<pre>${escapeHtml(shown)}</pre>` : escapeHtml(shown)),
      image: ({ href, text: shown }) =>
        anchor(addressOf(href, findLink), escapeHtml(shown === '' ? href : shown)),
      link({ href, tokens }) {
        return anchor(addressOf(href, findLink), this.parser.parseInline(tokens));
      },
      checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    },
    extensions: [
      {
        name: 'documentLink',
        level: 'inline',
        start: (rest) => rest.indexOf('[['),
        tokenizer(rest) {
          const match = /^\[\[([^[\]|#\n]{1,200})(#[^[\]|\n]{0,200})?(?:\|([^[\]\n]{1,200}))?\]\]/.exec(rest);
          if (match === null) return undefined;
          const [raw, name = '', , shown = name] = match;
          return { type: 'documentLink', raw, name: name.trim(), text: shown.trim() };
        },
        renderer: ({ name, text: shown }) =>
          anchor(findLink(`[[${name}]]`), escapeHtml(String(shown)), 'no document of this name yet'),
      },
    ],
  });
  const lexer = new Lexer(marked.defaults);
  const tokens = lexer.blockTokens(source, lexer.tokens);
  if (Object.keys(lexer.tokens.links).length > MAX_DEFINITIONS) return undefined;
  for (const run of lexer.inlineQueue) {
    if (isParsed(run.src)) lexer.inlineTokens(run.src, run.tokens);
    else run.tokens.push({ type: 'text', raw: run.src, text: run.src, escaped: false } satisfies Tokens.Text);
  }
  const markup = Parser.parse(tokens, marked.defaults);
  // No text can hold a tag of its own any more, so these are ours.
  return markup
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>');
}

function isParsed(text: string): boolean {
  return text.length <= RUN_CHARS && (text.match(/[*_[\]~`<]/g)?.length ?? 0) <= RUN_MARKS;
}

function addressOf(href: string, findLink: FindLink): string | undefined {
  if (SAFE_ADDRESS.test(href) && URL.canParse(href)) return href;
  return findLink(`](${href})`);
}

/** A link that tells the other side nothing of where it stood; without an address just its text. */
function anchor(address: string | undefined, inner: string, lack = 'leads nowhere that is allowed'): string {
  if (address === undefined) return `<span class="dead" title="${lack}">${inner}</span>`;
  const rel = address.startsWith('/') ? '' : ' rel="noopener noreferrer nofollow" target="_blank"';
  return `<a href="${escapeHtml(address)}"${rel}>${inner}</a>`;
}
