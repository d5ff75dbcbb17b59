import { hash } from 'node:crypto';
import { extname } from 'node:path';

import type { Document, DocumentType } from '@parley/protocol';

/** The list of what an exported folder holds: ids, order and metadata, so that it comes back as it went. */
export const MANIFEST = '.parley.json';

/** One document of a folder. */
export interface FolderPage {
  /** The file, from the top of the folder, with slashes; undefined for a folder without a text of its own. */
  path: string | undefined;
  document_id: string;
  /** Undefined at the top. */
  parent_id: string | undefined;
  mime_type: DocumentType;
  metadata: Document['metadata'];
  is_human_readable: boolean;
  /** The first heading of the text is a better title than the name of the file. */
  nameless?: true;
}

const TYPES: Record<string, DocumentType> = {
  '.md': 'text/markdown',
  '.markdown': 'text/markdown',
  '.txt': 'text/plain',
  '.json': 'application/json',
};
const ENDINGS: Record<DocumentType, string> = {
  'text/markdown': '.md',
  'text/plain': '.txt',
  'application/json': '.json',
};

/** What a file of this name is written in; Markdown where its name does not say. */
export function typeOf(path: string): DocumentType {
  return TYPES[extname(path).toLowerCase()] ?? 'text/markdown';
}

/** True for names of files that can become documents. */
export function isPageFile(name: string): boolean {
  return TYPES[extname(name).toLowerCase()] !== undefined;
}

/** The same id for the same place each time, so that a second import finds what the first one made. */
export function idOfPlace(root: string, path: string): string {
  const hex = hash('sha256', `${root}\n${path}`, 'hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Longer paths are more than file systems take. */
const PATH_MAX = 1_000;

/** Gives every document a file: children in the folder that is called like their parent; what hangs too deep stands aside. */
export function layOut(documents: readonly Document[]): (FolderPage & { path: string })[] {
  const byParent = new Map<string, Document[]>();
  for (const one of documents) {
    const siblings = byParent.get(one.parent_id);
    if (siblings === undefined) byParent.set(one.parent_id, [one]);
    else siblings.push(one);
  }
  const pages: (FolderPage & { path: string })[] = [];
  const open: { id: string; folder: string }[] = [{ id: 'root', folder: '' }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const taken = new Set<string>();
    const children = (byParent.get(at.id) ?? []).toSorted(byPlace);
    for (const one of children) {
      const name = freeName(one.metadata.title, taken);
      const whole = `${at.folder}${name}`;
      const stem = whole.length > PATH_MAX ? `deep/${one.document_id}` : whole;
      const { document_id, mime_type, metadata, is_human_readable } = one;
      const parent_id = at.id === 'root' ? undefined : at.id;
      const path = `${stem}${ENDINGS[mime_type]}`;
      pages.push({ path, document_id, parent_id, mime_type, metadata, is_human_readable });
      open.push({ id: document_id, folder: `${stem}/` });
    }
  }
  return pages;
}

function byPlace(a: Document, b: Document): number {
  if (a.order !== b.order) return a.order < b.order ? -1 : 1;
  return a.document_id < b.document_id ? -1 : 1;
}

/** A title as a name that every file system takes, once in its folder. */
function freeName(title: string, taken: Set<string>): string {
  const plain = title
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}._ -]+/gu, '-')
    .replaceAll(/^[.\s-]+|[.\s-]+$/g, '')
    .slice(0, 60);
  const base = plain === '' || /^(deep|con|nul|aux|prn)$/i.test(plain) ? `page-${plain}` : plain;
  let name = base;
  for (let n = 2; taken.has(name.toLowerCase()); n++) name = `${base}-${n}`;
  taken.add(name.toLowerCase());
  return name;
}
