import { setTimeout as pause } from 'node:timers/promises';

import type { Client } from '@parley/client';
import { type InputOf, LIMITS, type OutputOf, ParleyError } from '@parley/protocol';

import type { FolderPage } from './layout.ts';
import { createCounter } from '../progress.ts';
import { type Folder, readPage } from './read-folder.ts';

type Wanted = InputOf<'import_documents'>['documents'][number];
type Result = OutputOf<'import_documents'>['results'][number];

/** How much goes in one call, which the hub writes in its order. */
const BATCH_BYTES = 524_288;
/** How long it waits at least for the quota: long enough for many documents. */
const REST_MS = 1_000;

/** So many calls are on their way at once: while the hub writes one, the next is read and packed. */
const WORKERS = 4;

/**
 * Sends the pages of a folder, many in one call and several calls at once. Nothing of what is there is asked for first:
 * the hub itself tells what is new, what has changed and what is so already. What cannot become a document is added to
 * `skipped`. A document goes after what it hangs under, and after the siblings that stand before it.
 */
export async function sendPages(
  client: Client,
  { folder, to, pages, skipped }: Folder & { folder: string; to: string },
): Promise<Record<'created' | 'updated' | 'unchanged', number>> {
  const counts = { created: 0, updated: 0, unchanged: 0 };
  const progress = createCounter('imported', pages.length);
  const pathsById = new Map(pages.map((page) => [page.document_id, page.path ?? page.metadata.title]));
  let done = 0;

  async function send(documents: Wanted[]): Promise<void> {
    for await (const { document_id, outcome, error } of imported(client, documents)) {
      if (outcome !== 'refused') counts[outcome] += 1;
      else skipped.push({ path: pathsById.get(document_id) ?? '', reason: error?.message ?? '' });
      progress.reached(++done);
    }
  }
  async function sendShare(share: readonly FolderPage[]): Promise<void> {
    let batch: Wanted[] = [];
    let bytes = 0;
    for (const page of share) {
      let wanted: Wanted;
      try {
        wanted = wantedOf(folder, to, page);
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        skipped.push({ path: page.path ?? page.metadata.title, reason: error.message });
        done += 1;
        continue;
      }
      const size = Buffer.byteLength(wanted.content.body);
      if (batch.length === LIMITS.documents_at_once || (batch.length > 0 && bytes + size > BATCH_BYTES)) {
        await send(batch);
        [batch, bytes] = [[], 0];
      }
      batch.push(wanted);
      bytes += size;
    }
    if (batch.length > 0) await send(batch);
  }

  for (const shares of stagesOf(pages)) await Promise.all(shares.map(sendShare));
  progress.end();
  return counts;
}

/** What is sent one after another, each in rows that go at once; where one row follows one row, they are one. */
function stagesOf(pages: readonly FolderPage[]): FolderPage[][][] {
  const stages: FolderPage[][][] = [];
  for (const level of byDepth(pages)) {
    const shares = sharesOf(level);
    const [before, ...more] = stages.at(-1) ?? [];
    const [only, ...others] = shares;
    if (before !== undefined && only !== undefined && more.length === 0 && others.length === 0)
      before.push(...only);
    else stages.push(shares);
  }
  return stages;
}

/** The pages of one depth in a few rows of about the same length; siblings stay together, in their order. */
function sharesOf(level: readonly FolderPage[]): FolderPage[][] {
  if (level.length <= LIMITS.documents_at_once) return [[...level]];
  const families = new Map<string | undefined, FolderPage[]>();
  for (const page of level) {
    const family = families.get(page.parent_id);
    if (family === undefined) families.set(page.parent_id, [page]);
    else family.push(page);
  }
  const shares: FolderPage[][] = Array.from({ length: WORKERS }, () => []);
  for (const family of families.values()) {
    const shortest = shares.reduce((a, b) => (b.length < a.length ? b : a));
    shortest.push(...family);
  }
  return shares.filter((share) => share.length > 0);
}

/** The pages in the order of their depth; those of a circle, which has no top, come last and are refused by the hub. */
function byDepth(pages: readonly FolderPage[]): FolderPage[][] {
  const here = new Map(pages.map((page) => [page.document_id, page]));
  const depths = new Map<string, number>();
  const depthOf = (page: FolderPage): number => {
    const way: FolderPage[] = [];
    let at: FolderPage | undefined = page;
    while (at !== undefined && !depths.has(at.document_id) && way.length <= pages.length) {
      way.push(at);
      at = at.parent_id === undefined ? undefined : here.get(at.parent_id);
    }
    let depth = at === undefined ? -1 : (depths.get(at.document_id) ?? pages.length);
    for (const one of way.toReversed()) depths.set(one.document_id, ++depth);
    return depths.get(page.document_id) ?? 0;
  };
  const levels = new Map<number, FolderPage[]>();
  for (const page of pages) {
    const depth = depthOf(page);
    const level = levels.get(depth);
    if (level === undefined) levels.set(depth, [page]);
    else level.push(page);
  }
  return [...levels].toSorted(([a], [b]) => a - b).map(([, level]) => level);
}

/** What a folder wants of one document. */
function wantedOf(folder: string, to: string, page: FolderPage): Wanted {
  const { path, document_id, mime_type, is_human_readable } = page;
  const { body, heading } = path === undefined ? { body: '', heading: undefined } : readPage(folder, path);
  const named = page.nameless === true && heading !== undefined ? { title: heading } : {};
  const metadata = { ...page.metadata, ...named };
  return {
    document_id,
    parent_id: page.parent_id ?? to,
    content: { mime_type, body },
    metadata,
    is_human_readable,
  };
}

/** What became of each; where the quota is used up it waits, and goes on with the rest. */
async function* imported(client: Client, documents: Wanted[]): AsyncGenerator<Result> {
  for (let left = documents; left.length > 0;) {
    const results = await importAll(client, left);
    const over = results.findIndex(({ error }) => error?.code === 'RATE_LIMITED');
    const lost = results.find(({ error }) => error?.code === 'UNAVAILABLE');
    if (lost !== undefined) throw new ParleyError('UNAVAILABLE', lost.error?.message ?? '');
    yield* over < 0 ? results : results.slice(0, over);
    if (over < 0) return;
    await pause(Math.max(REST_MS, results[over]?.error?.retry_after_ms ?? 0));
    left = left.slice(over);
  }
}

/** A call is refused as a whole for one document that is none: halves are tried until that one stands alone. */
async function importAll(client: Client, documents: Wanted[]): Promise<Result[]> {
  try {
    return (await client.import_documents({ documents })).results;
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'VALIDATION_ERROR') throw error;
    const [only] = documents;
    if (only !== undefined && documents.length === 1) {
      const { code, message } = error;
      const reason = message.replace('documents.0.', '');
      return [{ document_id: only.document_id, outcome: 'refused', error: { code, message: reason } }];
    }
    const half = Math.ceil(documents.length / 2);
    const first = await importAll(client, documents.slice(0, half));
    return [...first, ...(await importAll(client, documents.slice(half)))];
  }
}
