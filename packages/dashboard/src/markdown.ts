import { isBoundedMarkdown } from '@parley/protocol';
import DOMPurify from 'dompurify';
import { Marked } from 'marked';

/** Longer texts, and those with more marks than anyone writes by hand, are shown as they are: to parse them takes time
 * that grows with the square of their number, and would hold up the page. */
const PARSED_CHARS = 20_000;
const PARSED_MARKS = 600;

const marked = new Marked({ gfm: true, breaks: true, async: false });

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

// HTML is shown, not obeyed, and a picture becomes a link to it: nothing is loaded because somebody mentions it.
export const QUIET_RENDERER = {
  html: ({ text }: { text: string }): string => escape(text),
  // An artifact is the hub's own: it is shown once somebody looks at the message.
  image: ({ href, text }: { href: string; text: string }): string =>
    `<a href="${escape(href)}">${escape(text === '' ? href : text)}</a>`,
};
marked.use({ renderer: QUIET_RENDERER });

/** What may be left of the words of others, wherever they are shown. */
export const ALLOWED = {
  ALLOWED_TAGS: [
    'p',
    'br',
    'strong',
    'em',
    'del',
    'code',
    'pre',
    'blockquote',
    'ul',
    'ol',
    'li',
    'a',
    'h1',
    'h2',
    'h3',
    'h4',
    'h5',
    'h6',
    'hr',
    'table',
    'thead',
    'tbody',
    'tr',
    'th',
    'td',
    'input',
  ],
  ALLOWED_ATTR: ['href', 'title', 'start', 'type', 'checked', 'disabled', 'align', 'class', 'dir'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|artifact:[0-9A-Za-z_]{1,64}$)/i,
  // The pattern is for addresses; these hold none.
  ADD_URI_SAFE_ATTR: ['title', 'start', 'type', 'checked', 'disabled', 'align', 'class', 'dir'],
  RETURN_TRUSTED_TYPE: true,
};

/** What is read in the direction of its own letters. */
const SPOKEN = new Set(['P', 'LI', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'TH', 'TD', 'BLOCKQUOTE']);

// Links leave the app behind, but for those to a document; nobody can tick a box in what another has said.
DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName === 'A' && node.getAttribute('href')?.startsWith('/know/') !== true) {
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noopener noreferrer nofollow');
  }
  // Of classes only the language of a piece of code is of use.
  const kept = node.nodeName === 'CODE' ? /^language-[\w+#-]{1,30}$/.exec(node.className)?.[0] : undefined;
  if (kept === undefined) node.removeAttribute('class');
  if (SPOKEN.has(node.nodeName)) node.setAttribute('dir', 'auto');
  if (node.nodeName === 'PRE') node.setAttribute('dir', 'ltr');
  // What may be wider than its place can be moved by keys too.
  if (node.nodeName === 'TABLE' || node.nodeName === 'PRE') node.setAttribute('tabindex', '0');
  if (node.nodeName === 'INPUT') {
    if (node.getAttribute('type') === 'checkbox') {
      node.setAttribute('disabled', '');
      node.setAttribute('aria-label', node.hasAttribute('checked') ? 'Done' : 'To do');
    } else {
      node.remove();
    }
  }
});

/** Words of others as markup that can do nothing; undefined where they are better shown as plain text. */
export function toMarkup(text: string): string | undefined {
  if (!DOMPurify.isSupported || !isParsed(text)) return undefined;
  try {
    return DOMPurify.sanitize(marked.parse(text, { async: false }), ALLOWED);
  } catch {
    return undefined;
  }
}

/** Whether a text is worth parsing, and can be without holding up the page; a text with no mark needs none. */
export function isParsed(text: string, which: 'marked' | 'whole' = 'marked'): boolean {
  if (text.length > PARSED_CHARS || (which === 'marked' && !/[*_`#[\]|>\-\n~<:]/.test(text))) return false;
  return (text.match(/[*_[\]~`]/g)?.length ?? 0) <= PARSED_MARKS && isBoundedMarkdown(text);
}
