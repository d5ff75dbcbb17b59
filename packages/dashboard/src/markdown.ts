import DOMPurify from 'dompurify';
import { Marked } from 'marked';

/** Longer texts are shown as they are: to parse them could hold up the page. */
const PARSED_CHARS = 40_000;

const marked = new Marked({ gfm: true, breaks: true, async: false });

const ALLOWED = {
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
  ALLOWED_ATTR: ['href', 'title', 'start', 'type', 'checked', 'disabled', 'align'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  RETURN_TRUSTED_TYPE: true,
};

// Nothing is loaded from elsewhere, links leave the app behind, and headings stay below those of the page.
DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName === 'A') {
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noopener noreferrer nofollow');
  }
  if (node.nodeName === 'INPUT') {
    if (node.getAttribute('type') === 'checkbox') node.setAttribute('disabled', '');
    else node.remove();
  }
});

/** Words of others as markup that can do nothing; undefined where they are better shown as plain text. */
export function toMarkup(text: string): string | undefined {
  if (!DOMPurify.isSupported || text.length > PARSED_CHARS || !/[*_`#[\]|>\-\n~<:]/.test(text))
    return undefined;
  return DOMPurify.sanitize(marked.parse(text, { async: false }), ALLOWED);
}
