import { createHash } from 'node:crypto';

import { fuse, leastNear, meaningCounts, PER_LEG } from './fuse.ts';
import type {
  Dropped,
  FindQuery,
  Found,
  FoundPassage,
  Index,
  IndexedDocument,
  KnownDocument,
  PassageKey,
} from './index-words.ts';
import type { AskedVector } from './model.ts';
import { withContext, wholePassagesOf } from './passages.ts';
import { type Qdrant, QdrantError } from './qdrant.ts';
import type { QdrantCollection } from './qdrant-collection.ts';
import type { SparseVector, TermCounter } from './term-counter.ts';
import type { Near } from './vectors.ts';

/** What stands beside the vectors of a passage. */
interface Payload extends Omit<FoundPassage, 'score' | 'passage' | 'document_id'> {
  workspace: string;
  document: string;
  version: string;
  number: number;
  tags: string[];
  group: string;
  embedded: boolean;
}

interface Point {
  id: string;
  payload: Payload;
  vector: { words: SparseVector };
}

interface Scored {
  points: { id: string; score: number }[];
}

/** The point that says up to where the collection has come; it belongs to no workspace. */
const PLACE = '00000000-0000-4000-8000-000000000000';
/** So much crosses to Qdrant at once. */
const AT_ONCE = 64;
const PAGE = 1_000;

const is = (key: string, value: unknown) => ({ key, match: { value } });
const isAny = (key: string, any: readonly string[]) => ({ key, match: { any } });

/** Documents in a collection of Qdrant: words as a sparse vector, meaning as a dense one, the workspace in every filter. */
export class QdrantIndex implements Index {
  readonly #call: Qdrant;
  readonly #collection: QdrantCollection;
  readonly #counter: TermCounter;
  /** Writes come one after the other: a vector must not be put beside a text that is just going. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(call: Qdrant, collection: QdrantCollection, counter: TermCounter) {
    this.#call = call;
    this.#collection = collection;
    this.#counter = counter;
  }

  async place(): Promise<number | undefined> {
    await this.#collection.prepare();
    const [point] = await this.#points([PLACE], ['place']);
    return point?.payload.place;
  }

  apply(puts: readonly IndexedDocument[], drops: readonly Dropped[], place?: number): Promise<void> {
    return this.#write(async () => {
      const points = puts.flatMap((document) => this.#pointsOf(document));
      for (let i = 0; i < points.length; i += AT_ONCE)
        await this.#ask('PUT', '/points?wait=true', { points: points.slice(i, i + AT_ONCE) });
      // The old passages go when the new ones are there: a document is never missing in between.
      const gone = [
        ...drops.map(({ workspace_id, document_id }) => ({
          must: [is('workspace', workspace_id), is('document', document_id)],
        })),
        ...puts.map(({ workspace_id, document_id, version }) => ({
          must: [is('workspace', workspace_id), is('document', document_id)],
          must_not: [is('version', version)],
        })),
      ];
      for (let i = 0; i < gone.length; i += AT_ONCE)
        await this.#ask('POST', '/points/delete?wait=true', {
          filter: { should: gone.slice(i, i + AT_ONCE) },
        });
      if (place === undefined) return;
      const point = { id: PLACE, payload: { place, embedded: true }, vector: {} };
      await this.#ask('PUT', '/points?wait=true', { points: [point] });
    });
  }

  dropBefore(revision: number): Promise<void> {
    return this.#write(async () => {
      const filter = { must: [{ key: 'revision', range: { lt: revision } }] };
      await this.#ask('POST', '/points/delete?wait=true', { filter });
    });
  }

  /** What was dropped is gone from every answer; Qdrant rewrites its files by itself. */
  forget(): void {}

  async workspaces(): Promise<string[]> {
    const found = await this.#ask<{ hits: { value: string }[] }>('POST', '/facet', {
      key: 'workspace',
      limit: 100_000,
      exact: true,
    });
    return found.hits.map(({ value }) => value);
  }

  async known(workspace_id: string): Promise<KnownDocument[]> {
    const known: KnownDocument[] = [];
    let offset: unknown;
    do {
      const page = await this.#ask<{ points: { payload: Payload }[]; next_page_offset?: unknown }>(
        'POST',
        '/points/scroll',
        {
          filter: { must: [is('workspace', workspace_id), is('number', 0)] },
          with_payload: ['document', 'version'],
          limit: PAGE,
          ...(offset === undefined ? {} : { offset }),
        },
      );
      for (const { payload } of page.points)
        known.push({ document_id: payload.document, version: payload.version });
      offset = page.next_page_offset ?? undefined;
    } while (offset !== undefined);
    return known;
  }

  async waiting(limit: number): Promise<{ passage: PassageKey; text: string }[]> {
    const { points } = await this.#ask<{ points: { id: string; payload: Payload }[] }>(
      'POST',
      '/points/scroll',
      {
        filter: { must: [is('embedded', false)] },
        with_payload: ['title', 'headings', 'text'],
        limit,
      },
    );
    return points.map(({ id, payload: { title, headings, text } }) => ({
      passage: id,
      text: withContext(title, headings, text),
    }));
  }

  embed(vectors: readonly { passage: PassageKey; vector: Float32Array | null }[]): Promise<void> {
    return this.#write(async () => {
      const there = await this.#points(
        vectors.map(({ passage }) => String(passage)),
        [],
      );
      const ids = new Set(there.map(({ id }) => id));
      const still = vectors.filter(({ passage }) => ids.has(String(passage)));
      const points = still.flatMap(({ passage, vector }) =>
        vector === null ? [] : [{ id: passage, vector: { dense: [...vector] } }],
      );
      if (points.length > 0) await this.#ask('PUT', '/points/vectors?wait=true', { points });
      const payload = { embedded: true };
      if (ids.size > 0) await this.#ask('POST', '/points/payload?wait=true', { payload, points: [...ids] });
    });
  }

  async find(query: FindQuery, asked: AskedVector | undefined, withinMs: number): Promise<Found> {
    const until = performance.now() + withinMs;
    const { workspace_id, tags, groups, limit, leg } = query;
    const inside = is('workspace', workspace_id);
    const filter = {
      must: [
        inside,
        ...tags.map((tag) => is('tags', tag)),
        ...(groups === undefined ? [] : [isAny('group', groups)]),
      ],
    };
    const words = leg === 'vectors' ? undefined : this.#counter.question(workspace_id, query.text);
    const meaning = leg === 'keyword' ? undefined : asked;
    const searches = [
      ...(words === undefined ? [] : [{ query: words, using: 'words', filter, limit: PER_LEG }]),
      ...(meaning === undefined
        ? []
        : [
            {
              query: [...meaning.vector],
              using: 'dense',
              filter,
              limit: PER_LEG,
              score_threshold: leastNear(meaning),
            },
          ]),
    ];
    const waiting = { filter: { must: [inside, is('embedded', false)] }, exact: true };
    const [found, { count: pending }] = await Promise.all([
      searches.length === 0
        ? Promise.resolve([])
        : this.#ask<Scored[]>('POST', '/points/query/batch', { searches }, withinMs),
      this.#ask<{ count: number }>('POST', '/points/count', waiting, withinMs),
    ]);
    const legs = found.map(({ points }) =>
      points.map(({ id, score }): Near<string> => ({ passage: id, score })),
    );
    const keyword = words === undefined ? [] : (legs.shift() ?? []);
    const near = meaningCounts(meaning, keyword) ? (legs.shift() ?? []) : [];
    const best = fuse([keyword, near]).slice(0, limit);
    return {
      passages: await this.#passages(best, until - performance.now()),
      keyword_hits: keyword.length,
      vector_hits: near.length,
      pending,
    };
  }

  close(): void {
    this.#counter.close();
  }

  async #passages(best: readonly Near<string>[], withinMs: number): Promise<FoundPassage[]> {
    const ids = best.map(({ passage }) => passage);
    const points = new Map((await this.#points(ids, true, withinMs)).map(({ id, payload }) => [id, payload]));
    return best.flatMap(({ passage, score }) => {
      const payload = points.get(passage);
      if (payload === undefined) return [];
      const { document: document_id, revision, title, number, start, end, headings, text } = payload;
      return [{ document_id, revision, title, passage: number, start, end, headings, text, score }];
    });
  }

  #pointsOf(document: IndexedDocument): Point[] {
    const { workspace_id: workspace, document_id, version, revision, title, tags, group = '' } = document;
    const passages = wholePassagesOf(document);
    const words = this.#counter.texts(
      workspace,
      passages.map(({ headings, text }) => withContext(title, headings, text)),
    );
    return passages.map(({ start, end, headings, text }, number) => ({
      id: pointId(workspace, document_id, version, number),
      payload: {
        workspace,
        document: document_id,
        version,
        revision,
        number,
        title,
        tags: [...tags],
        group,
        start,
        end,
        headings,
        text,
        embedded: false,
      },
      vector: { words: words[number] ?? { indices: [], values: [] } },
    }));
  }

  #points(
    ids: readonly string[],
    with_payload: boolean | string[],
    withinMs?: number,
  ): Promise<{ id: string; payload: Payload & { place?: number } }[]> {
    if (ids.length === 0) return Promise.resolve([]);
    return this.#ask('POST', '/points', { ids, with_payload, with_vector: false }, withinMs);
  }

  /** One that has gone is made anew only by who asks for its place: nobody else would know that it is empty. */
  async #ask<T>(method: 'POST' | 'PUT', path: string, body: unknown, withinMs?: number): Promise<T> {
    const name = await this.#collection.name();
    try {
      return await this.#call<T>(method, `/collections/${name}${path}`, body, withinMs);
    } catch (error) {
      if (error instanceof QdrantError && error.status === 404) this.#collection.lost();
      throw error;
    }
  }

  #write(work: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(work);
    this.#writing = done.catch(() => {});
    return done;
  }
}

/** The name of a passage of one version of a document: another version has others. */
function pointId(...parts: (string | number)[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
