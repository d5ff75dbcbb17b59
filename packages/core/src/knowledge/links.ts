import { LIMITS } from '@parley/protocol';

const WIKI = /\[\[([^[\]|#\n]{1,500})(?:[#|][^[\]\n]*)?\]\]/g;
const MARKDOWN = /\]\(<?([^()\s<>]{1,1000})>?(?:\s+"[^"\n]*")?\)/g;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The names of other documents that a text links to, as [[name]] or as a Markdown link to a .md file or an id. */
export function linksIn(body: string): string[] {
  const names = new Set<string>();
  for (const [, name = ''] of body.matchAll(WIKI)) add(names, name);
  for (const [, target = ''] of body.matchAll(MARKDOWN)) add(names, fileName(target));
  return [...names].slice(0, LIMITS.document_links);
}

/** The names by which a document is found: its title, and the file it came from. */
export function namesOf(metadata: { title: string; source?: unknown }): string[] {
  const { title, source } = metadata;
  const names = new Set([nameKey(title)]);
  if (typeof source === 'string') names.add(nameKey(stem(source)));
  names.delete('');
  return [...names];
}

/** One spelling for all ways to write a name. */
function nameKey(name: string): string {
  return name.normalize('NFC').trim().replaceAll(/\s+/g, ' ').toLowerCase().slice(0, 200);
}

/** True for a name that can only be an id. */
export function isDocumentId(name: string): boolean {
  return UUID.test(name);
}

function add(names: Set<string>, name: string | undefined): void {
  const key = name === undefined ? '' : nameKey(name);
  if (key !== '') names.add(key);
}

/** The document that a link's target names; undefined for one that leads elsewhere. */
function fileName(target: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target) || target.startsWith('//')) return undefined;
  const [path = ''] = target.split(/[?#]/);
  const name = stem(decode(path));
  return /\.(md|markdown)$/i.test(path) || isDocumentId(name.toLowerCase()) ? name : undefined;
}

function stem(path: string): string {
  return (path.split(/[/\\]/).at(-1) ?? '').replace(/\.(md|markdown|txt|json)$/i, '');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
