import { createHash } from 'node:crypto';

import { fitOf, USUAL_CHANCE } from './fit.ts';
import { fuse, leastNear, meaningCounts, PER_LEG } from './fuse.ts';
import type {
  Dropped,
  EmbeddedPassage,
  FindQuery,
  Found,
  FoundPassage,
  Index,
  IndexedDocument,
  KnownDocument,
  Place,
  Renumbered,
  WaitingPassage,
} from './index-words.ts';
import type { AskedVector } from './index-words.ts';
import type { IndexForm } from './index-form.ts';
import { windowsOf, withContext, wholePassagesOf } from './passages.ts';
import type { Ruler } from './ruler.ts';
import { type Qdrant, QdrantError } from './qdrant.ts';
import type { QdrantCollection } from './qdrant-collection.ts';
import { everyTextOf, type SparseVector, type TermCounter } from './term-counter.ts';
import type { Near } from './vectors.ts';

/** What stands beside the vectors of a passage. */
interface Payload extends Omit<FoundPassage, 'score' | 'fit' | 'passage' | 'document_id'> {
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
  points: { id: string; score: number; vector?: { words: SparseVector } }[];
}

/** So much crosses to Qdrant at once. */
const AT_ONCE = 64;
const PAGE = 1_000;
/** Of so many it picks the nearest: with the usual hundred a tenth of them is missed where passages have several vectors. */
const LOOKED_AT = 512;

const is = (key: string, value: unknown) => ({ key, match: { value } });
const isAny = (key: string, any: readonly string[]) => ({ key, match: { any } });

/** What a word tells that stands in more than half of the passages; as in SQLite's bm25(). */
const LEAST_RARITY = 1e-6;

/** Documents in a collection of Qdrant: words as a sparse vector, meaning as a dense one, the workspace in every filter. */
export class QdrantIndex implements Index {
  readonly #call: Qdrant;
  readonly #collection: QdrantCollection;
  readonly #counter: TermCounter;
  /** Writes come one after the other: a vector must not be put beside a text that is just going. */
  #writing: Promise<unknown> = Promise.resolve();

  readonly #ruler: Ruler;
  readonly #form: IndexForm;

  constructor(
    call: Qdrant,
    collection: QdrantCollection,
    counter: TermCounter,
    ruler: Ruler,
    form: IndexForm,
  ) {
    this.#ruler = ruler;
    this.#form = form;
    this.#call = call;
    this.#collection = collection;
    this.#counter = counter;
  }

  async place(workspace_id: string): Promise<number | undefined> {
    await this.#collection.prepare();
    const [point] = await this.#points([placeId(workspace_id)], ['place', 'form']);
    return point?.payload.form === this.#form.id ? point.payload.place : undefined;
  }

  apply(puts: readonly IndexedDocument[], drops: readonly Dropped[], place?: Place): Promise<void> {
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
          must_not: [is('version', this.#form.seal(version))],
        })),
      ];
      for (let i = 0; i < gone.length; i += AT_ONCE)
        await this.#ask('POST', '/points/delete?wait=true', {
          filter: { should: gone.slice(i, i + AT_ONCE) },
        });
      if (place === undefined) return;
      const payload = { place: place.pos, form: this.#form.id, embedded: true };
      const point = { id: placeId(place.workspace_id), payload, vector: {} };
      await this.#ask('PUT', '/points?wait=true', { points: [point] });
    });
  }

  dropBefore(workspace_id: string, revision: number): Promise<void> {
    return this.#write(async () => {
      const older = { key: 'revision', range: { lt: revision } };
      const filter = { must: [is('workspace', workspace_id), older] };
      await this.#ask('POST', '/points/delete?wait=true', { filter });
    });
  }

  /** What was dropped is gone from every answer; Qdrant rewrites its files by itself. */
  forget(): void {}

  async workspaces(): Promise<string[]> {
    // Whoever begins asks this first: a collection that was lost is there again from here on.
    await this.#collection.prepare();
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
        known.push({ document_id: payload.document, version: this.#form.open(payload.version) });
      offset = page.next_page_offset ?? undefined;
    } while (offset !== undefined);
    return known;
  }

  async renumber(documents: readonly Renumbered[]): Promise<string[]> {
    const missing: string[] = [];
    await this.#write(async () => {
      for (const { workspace_id, document_id, revision, ...versions } of documents) {
        const [was, version] = [this.#form.seal(versions.was), this.#form.seal(versions.version)];
        const filter = {
          must: [is('workspace', workspace_id), is('document', document_id), is('version', was)],
        };
        const { count } = await this.#ask<{ count: number }>('POST', '/points/count', {
          filter,
          exact: true,
        });
        if (count === 0) missing.push(document_id);
        else await this.#ask('POST', '/points/payload?wait=true', { payload: { version, revision }, filter });
      }
    });
    return missing;
  }

  async waiting(limit: number): Promise<WaitingPassage[]> {
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
      texts: windowsOf(title, headings, text, this.#ruler),
    }));
  }

  embed(made: readonly EmbeddedPassage[]): Promise<void> {
    return this.#write(async () => {
      const there = await this.#points(
        made.map(({ passage }) => String(passage)),
        [],
      );
      const ids = new Set(there.map(({ id }) => id));
      const still = made.filter(({ passage, vectors }) => ids.has(String(passage)) && vectors.length > 0);
      const points = still.map(({ passage, vectors }) => ({
        id: passage,
        vector: { dense: vectors.map((one) => [...one]) },
      }));
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
    const terms = leg === 'vectors' ? undefined : this.#counter.question(workspace_id, query.text);
    const words = terms && (await this.#weighed(workspace_id, terms, withinMs));
    const meaning = leg === 'keyword' ? undefined : asked;
    const searches = [
      ...(words === undefined ? [] : [{ query: words, using: 'words', filter, limit: PER_LEG }]),
      ...(meaning === undefined
        ? []
        : [
            {
              query: [[...meaning.vector]],
              using: 'dense',
              filter,
              limit: PER_LEG,
              score_threshold: leastNear(meaning),
              params: { hnsw_ef: LOOKED_AT },
            },
          ]),
    ];
    const waiting = { filter: { must: [inside, is('embedded', false)] }, exact: true };
    const [found, { count: pending }] = await Promise.all([
      searches.length === 0
        ? Promise.resolve([])
        : this.#ask<Scored[]>('POST', '/points/query/batch', { searches }, until - performance.now()),
      this.#ask<{ count: number }>('POST', '/points/count', waiting, until - performance.now()),
    ]);
    const legs = found.map(({ points }) =>
      points.map(({ id, score }): Near<string> => ({ passage: id, score })),
    );
    const keyword = words === undefined ? [] : (legs.shift() ?? []);
    const near = meaningCounts(meaning, keyword) ? (legs.shift() ?? []) : [];
    const best = fuse([keyword, near]).slice(0, limit);
    const telling = this.#counter.telling(workspace_id, query.text);
    const cosines = new Map(near.map(({ passage, score }) => [passage, score]));
    const fit = (id: string, has: ReadonlySet<number>): number => {
      const covered = telling.filter((word) => [...word].some((index) => has.has(index))).length;
      const cosine = near.length === 0 ? undefined : (cosines.get(id) ?? 0);
      return fitOf(telling.length === 0 ? 0 : covered / telling.length, USUAL_CHANCE, cosine);
    };
    return {
      passages: await this.#passages(best, fit, until - performance.now()),
      keyword_hits: keyword.length,
      vector_hits: near.length,
      pending,
    };
  }

  close(): void {
    this.#counter.close();
  }

  /**
   * Words as heavy as they are rare in the workspace; undefined where it has none of them. Qdrant counts over all
   * workspaces: what it makes of a word is told by its score of a passage for that word alone, and is made up for.
   */
  async #weighed(
    workspace_id: string,
    { indices }: SparseVector,
    withinMs: number,
  ): Promise<SparseVector | undefined> {
    const filter = { must: [is('workspace', workspace_id)] };
    const searches = [everyTextOf(workspace_id), ...indices].map((index) => ({
      query: { indices: [index], values: [1] },
      using: 'words',
      filter,
      limit: 1,
      with_vector: ['words'],
    }));
    const found = await this.#ask<Scored[]>('POST', '/points/query/batch', { searches }, withinMs);
    const [every, ...counted] = found.map(({ points: [best] }, i) => {
      const { indices: of = [], values = [] } = best?.vector?.words ?? {};
      const index = searches[i]?.query.indices[0] ?? -1;
      return (best?.score ?? 0) / (values[of.indexOf(index)] ?? 1);
    });
    const there = indices.flatMap((index, i) => {
      const counts = counted[i] ?? 0;
      // So many times as many passages there are as have the word.
      const times = Math.exp(counts - (every ?? 0));
      const rarity = Math.max(LEAST_RARITY, Math.log(Math.max(0, times - 1)));
      return counts === 0 ? [] : [{ index, weight: rarity / counts }];
    });
    if (there.length === 0) return undefined;
    return { indices: there.map(({ index }) => index), values: there.map(({ weight }) => weight) };
  }

  async #passages(
    best: readonly Near<string>[],
    fitOfPoint: (id: string, words: ReadonlySet<number>) => number,
    withinMs: number,
  ): Promise<FoundPassage[]> {
    const ids = best.map(({ passage }) => passage);
    const found = await this.#points(ids, true, withinMs, ['words']);
    const points = new Map(found.map((point) => [point.id, point]));
    return best.flatMap(({ passage, score }) => {
      const point = points.get(passage);
      if (point === undefined) return [];
      const { document: document_id, revision, title, number, start, end, headings, text } = point.payload;
      const fit = fitOfPoint(passage, new Set(point.vector?.words.indices));
      return [{ document_id, revision, title, passage: number, start, end, headings, text, score, fit }];
    });
  }

  #pointsOf(document: IndexedDocument): Point[] {
    const { workspace_id: workspace, document_id, revision, title, tags, group = '' } = document;
    const version = this.#form.seal(document.version);
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
    with_vector: false | string[] = false,
  ): Promise<
    { id: string; payload: Payload & { place?: number; form?: string }; vector?: { words: SparseVector } }[]
  > {
    if (ids.length === 0) return Promise.resolve([]);
    return this.#ask('POST', '/points', { ids, with_payload, with_vector }, withinMs);
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

/** The point that says how far the log of a workspace was taken; the workspace is not among its words. */
function placeId(workspaceId: string): string {
  return pointId('place', workspaceId);
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
