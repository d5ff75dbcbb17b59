import type { Client } from '@parley/client';
import { type DocumentSummary, ParleyError, TREE_ROOT } from '@parley/protocol';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Every document right under a parent, over as many pages as that takes. */
export async function* childrenOf(
  client: Client,
  parent_id: string,
  deleted = false,
): AsyncGenerator<DocumentSummary> {
  let after: string | null = '';
  while (after !== null) {
    const page: { documents: DocumentSummary[]; next_after: string | null } = await client.list_documents({
      parent_id,
      deleted,
      limit: 200,
      ...(after === '' ? {} : { after }),
    });
    yield* page.documents;
    after = page.next_after;
  }
}

/** The id that a word on the command line means: an id, `root`, or a path of titles such as Guide/Setup. */
export async function resolve(client: Client, word: string): Promise<string> {
  const { id, missing } = await walk(client, word);
  if (missing.length > 0)
    throw new ParleyError(
      'NOT_FOUND',
      `there is no document ${word}: nothing is called ${missing[0] ?? ''} there`,
    );
  return id;
}

/** The id of a document; the tree itself is none. */
export async function resolveDocument(client: Client, word: string): Promise<string> {
  const id = await resolve(client, word);
  if (id !== TREE_ROOT) return id;
  throw new ParleyError('VALIDATION_ERROR', 'name a document: a title, a path such as Guide/Setup, or an id');
}

/** As far as a path leads, and the titles that nothing has. */
export async function walk(client: Client, word: string): Promise<{ id: string; missing: string[] }> {
  if (UUID.test(word)) return { id: word.toLowerCase(), missing: [] };
  const titles = word === TREE_ROOT ? [] : word.split('/').filter((title) => title !== '');
  let id: string = TREE_ROOT;
  for (const [i, title] of titles.entries()) {
    const child = await childNamed(client, id, title);
    if (child === undefined) return { id, missing: titles.slice(i) };
    id = child.document_id;
  }
  return { id, missing: [] };
}

async function childNamed(
  client: Client,
  parent: string,
  title: string,
): Promise<DocumentSummary | undefined> {
  const { documents } = await client.list_documents({ parent_id: parent, title, limit: 1 });
  return documents[0];
}
