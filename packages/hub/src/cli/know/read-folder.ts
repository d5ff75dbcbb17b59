import { type Dirent, lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { isAbsolute, join, normalize } from 'node:path';

import { decodeJson, DocumentMetadata, LIMITS, ParleyError, issueWords } from '@parley/protocol';
import * as z from 'zod';

import { type FolderPage, idOfPlace, isPageFile, MANIFEST, typeOf } from './layout.ts';

/** What a folder holds, and what of it cannot become a document. */
export interface Folder {
  pages: FolderPage[];
  skipped: { path: string; reason: string }[];
}

const Manifest = z.object({
  version: z.literal(1),
  pages: z.array(
    z.object({
      path: z.string().refine((path) => !isAbsolute(path) && !normalize(path).startsWith('..'), {
        error: 'leads out of the folder',
      }),
      document_id: z.uuid(),
      parent_id: z.uuid().optional(),
      mime_type: z.enum(['text/markdown', 'text/plain', 'application/json']),
      metadata: DocumentMetadata,
      is_human_readable: z.boolean(),
    }),
  ),
});

/** Reads what is in a folder: by its list where an export left one, else by its files. Links are not followed. */
export function readFolder(folder: string, root: string): Folder {
  const stat = lstatSync(join(folder, MANIFEST), { throwIfNoEntry: false });
  if (stat?.isFile() !== true) return walkFolder(folder, root);
  const limits = { depth: 64, items: 50_000_000 };
  const manifest = decodeJson(readFileSync(join(folder, MANIFEST), 'utf8'), limits);
  const parsed = Manifest.safeParse(manifest);
  if (!parsed.success)
    throw new ParleyError(
      'VALIDATION_ERROR',
      `${MANIFEST}: ${parsed.error.issues[0]?.path.join('.') ?? ''} ${issueWords(parsed.error.issues[0], manifest)}`,
    );
  return {
    pages: parsed.data.pages.map((listed) => ({ ...listed, parent_id: listed.parent_id })),
    skipped: [],
  };
}

function walkFolder(folder: string, root: string): Folder {
  const found: Folder = { pages: [], skipped: [] };
  const open: { path: string; parent: string | undefined }[] = [{ path: '', parent: undefined }];
  for (let at = open.shift(); at !== undefined; at = open.shift()) {
    const entries = readdirSync(join(folder, at.path), { withFileTypes: true })
      .filter(({ name }) => !name.startsWith('.'))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const made = new Map<string, string>();
    for (const entry of entries) addFile(found, entry, at.path, at.parent, root, made);
    for (const entry of entries.filter((one) => one.isDirectory())) {
      const path = `${at.path}${entry.name}`;
      let id = made.get(entry.name);
      if (id === undefined) {
        id = idOfPlace(root, path);
        found.pages.push(page(undefined, id, at.parent, entry.name, path));
      }
      open.push({ path: `${path}/`, parent: id });
    }
  }
  return found;
}

function addFile(
  found: Folder,
  entry: Dirent,
  folder: string,
  parent: string | undefined,
  root: string,
  made: Map<string, string>,
): void {
  if (entry.isDirectory()) return;
  const path = `${folder}${entry.name}`;
  if (!entry.isFile()) found.skipped.push({ path, reason: 'it is no plain file' });
  else if (!isPageFile(entry.name)) found.skipped.push({ path, reason: 'it is no .md, .txt or .json' });
  else {
    const stem = entry.name.replace(/\.[^.]+$/, '');
    const id = idOfPlace(root, path);
    if (!made.has(stem)) made.set(stem, id);
    found.pages.push(page(path, id, parent, stem, path));
  }
}

function page(
  path: string | undefined,
  document_id: string,
  parent_id: string | undefined,
  title: string,
  source: string,
): FolderPage {
  return {
    path,
    document_id,
    parent_id,
    mime_type: typeOf(path ?? ''),
    metadata: { title: title.slice(0, 120), source: source.slice(-LIMITS.source_bytes / 4) },
    is_human_readable: true,
    nameless: true,
  };
}

/** The text of a page, and its first heading where it is Markdown; an error says why it cannot be taken. */
export function readPage(folder: string, path: string): { body: string; heading: string | undefined } {
  const file = join(folder, path);
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) throw new ParleyError('NOT_FOUND', 'it is not there, or no plain file');
  // A list of somebody else's may lead through a folder that is a link.
  if (realpathSync(file) !== join(realpathSync(folder), normalize(path)))
    throw new ParleyError('FORBIDDEN', 'the way to it leads through a link');
  if (stat.size > LIMITS.document_bytes)
    throw new ParleyError(
      'VALIDATION_ERROR',
      `it has ${stat.size} bytes, at most ${LIMITS.document_bytes} are taken`,
    );
  const bytes = readFileSync(file);
  let body: string;
  try {
    body = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ParleyError('VALIDATION_ERROR', 'it is not UTF-8');
  }
  const heading = typeOf(path) === 'text/markdown' ? /^#\s+(.+?)\s*#*\s*$/m.exec(body)?.[1] : undefined;
  return { body, heading: heading?.slice(0, 120) };
}
