import { decodeJson, type OutputOf } from '@parley/protocol';

import { escapeHtml, type FindLink, toMarkup } from './markup.ts';
import { pageOf } from './page.ts';

export type Shown = OutputOf<'get_document'>['document'];
type Neighbour = Pick<Shown, 'document_id' | 'metadata'>;

/** How much of a text one page shows: what a browser and the hub both take in their stride. */
const PART_CHARS = 65_536;

/** What stands around a document. */
export interface Around {
  parent: Neighbour | undefined;
  children: readonly Neighbour[];
  findLink: FindLink;
  /** The revision that was asked for, if it is not the newest. */
  revision: number | undefined;
}

/** The address of a document's page. */
export const pageAddress = (documentId: string): string => `/d/${documentId}`;

/** Where each part of a text begins: at the beginning of a line, where there is one. */
export function partsOf(text: string): number[] {
  const starts = [0];
  for (let at = 0; text.length - at > PART_CHARS;) {
    const end = text.lastIndexOf('\n', at + PART_CHARS);
    at = end > at ? end + 1 : at + PART_CHARS;
    starts.push(at);
  }
  return starts;
}

/** A document as a page; a long one in parts. */
export function documentPage(document: Shown, part: number, around: Around): string {
  const { metadata, content, revision, updated_at, updated_by, document_id } = document;
  const starts = partsOf(content.body);
  const text = content.body.slice(starts[part - 1], starts[part]);
  const { parent, children } = around;
  const tags = (metadata.tags ?? []).map((tag) => `<span class="tag">${escapeHtml(tag)}</span>`).join('');
  const asked = around.revision === undefined ? [] : [`revision=${around.revision}`];
  const toPart = (n: number, words: string): string =>
    `<a href="${escapeHtml(`${pageAddress(document_id)}?${[...asked, `part=${n}`].join('&')}`)}">${words}</a>`;
  const pager =
    starts.length === 1
      ? ''
      : `<nav>Part ${part} of ${starts.length} ${part > 1 ? toPart(part - 1, '← Part before') : ''} ${part < starts.length ? toPart(part + 1, 'Next part →') : ''}</nav>`;
  return pageOf(
    metadata.title,
    [
      '<header>',
      parent === undefined ? '' : `<nav>${link(parent)}</nav>`,
      `<h1>${escapeHtml(metadata.title)}</h1>`,
      `<p>Revision ${revision}${around.revision === undefined ? '' : ' (not the newest)'} · ${escapeHtml(updated_by)} · <time datetime="${updated_at}">${updated_at.slice(0, 16).replace('T', ' ')} UTC</time></p>`,
      tags === '' ? '' : `<p>${tags}</p>`,
      '</header>',
      pager,
      `<article>${bodyOf(content.mime_type, text, around.findLink)}</article>`,
      pager,
      children.length === 0 ? '' : `<footer>Below it<br>${children.map(link).join('<br>')}</footer>`,
    ].join('\n'),
  );
}

function link({ document_id, metadata }: Neighbour): string {
  return `<a href="${pageAddress(document_id)}">${escapeHtml(metadata.title)}</a>`;
}

function bodyOf(type: Shown['mime_type'], text: string, findLink: FindLink): string {
  const markup = type === 'text/markdown' ? toMarkup(text, findLink) : undefined;
  return (
    markup ?? `<pre class="plain">${escapeHtml(type === 'application/json' ? pretty(text) : text)}</pre>`
  );
}

/** Beyond this depth the lines would be longer by their indent than by what they say. */
const PRETTY = { depth: 64, items: 20_000 };

function pretty(text: string): string {
  try {
    return JSON.stringify(decodeJson(text, PRETTY), null, 2);
  } catch {
    return text;
  }
}
