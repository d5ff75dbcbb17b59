import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { writeWholeSync } from '@parley/files';
import { ParleyError } from '@parley/protocol';

import type { Embedder } from './embedder.ts';
import type {
  Dropped,
  EmbeddedPassage,
  FindQuery,
  Found,
  IndexedDocument,
  KnownDocument,
  Place,
  Renumbered,
  Sentence,
  WaitingPassage,
} from './index-words.ts';
import type { QdrantPlace } from './qdrant.ts';
import { ThreadPort, type ThreadStart } from './thread-port.ts';

/** What is searched: each kind has an index of its own. */
type Kind = 'documents' | 'messages';

export interface SearchOptions {
  folder: string;
  kind: Kind;
  /** Makes the vectors; it may serve others too, and is closed by who made it. */
  embedder: Embedder;
  /** Where the index is kept instead of in the folder. */
  qdrant?: QdrantPlace | undefined;
  onFault: (error: unknown) => void;
  /** Hears that the index was thrown away, and why: it is made anew. */
  onNews?: (text: string) => void;
}

/** What was found, and what was left out. */
interface Finding extends Found {
  /** What the answer lacks: the model gave no vector for the question, or passages have no vectors yet. */
  lacks: ('meaning' | 'vectors')[];
}

/** Texts found by their words and their meaning. Threads start with the first need. */
export interface Search {
  readonly backend: 'embedded' | 'qdrant';
  place(workspace_id: string): Promise<number | undefined>;
  workspaces(): Promise<string[]>;
  known(workspace_id: string): Promise<KnownDocument[]>;
  renumber(documents: readonly Renumbered[]): Promise<string[]>;
  apply(puts: readonly IndexedDocument[], drops: readonly Dropped[], place?: Place): Promise<void>;
  dropBefore(workspace_id: string, revision: number): Promise<void>;
  forget(workspace_id: string): Promise<void>;
  /** Answers within the time it is given, if need be without the vectors. */
  find(query: FindQuery, withinMs: number, meaningWithinMs?: number): Promise<Finding>;
  /** The sentences of some passages that answer a question. */
  sentences(question: string, passages: readonly string[], count: number): Promise<Sentence[]>;
  /** Resolves when every passage has its vector, or there is no model. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** The files of the embedded index. */
export const INDEX_FILES = { documents: 'search.db', messages: 'search-messages.db' } as const;
/** So many passages get their vectors at once. */
const AT_ONCE = 64;
/** How many searches may be under way: they are answered one after the other. */
const MOST_AT_ONCE = 32;
/** How long after vectors could not be made they are tried again. */
const RETRY_MS = 15_000;

/** The search of one kind of texts: its index can be thrown away and made anew. */
export function openSearch({ folder, kind, embedder, qdrant, onFault, onNews }: SearchOptions): Search {
  let port: ThreadPort | undefined;
  let embedding: Promise<void> | undefined;
  let retry: NodeJS.Timeout | undefined;
  let finding = 0;
  const closing = new AbortController();

  const index = (): ThreadPort => {
    if (port === undefined || port.isGone)
      port = new ThreadPort(threadStart(), ({ thrownAway }) =>
        onNews?.(`the search index of ${kind} is made anew (${thrownAway})`),
      );
    return port;
  };

  function threadStart(): ThreadStart {
    const start = { path: join(folder, INDEX_FILES[kind]), model: embedder.model, measure: embedder.measure };
    return qdrant === undefined ? start : { ...start, qdrant: { ...qdrant, kind, owner: ownerOf(folder) } };
  }

  async function embedWaiting(): Promise<void> {
    while (!closing.signal.aborted && embedder.fault === undefined) {
      const waiting = await index().call<WaitingPassage[]>('waiting', AT_ONCE);
      if (waiting.length === 0) return;
      const made = await embedder.embed(waiting.flatMap(({ texts }) => texts));
      if (made === undefined) return tryLater();
      let at = 0;
      const embedded = waiting.map(({ passage, texts }): EmbeddedPassage => {
        const parts = made.slice(at, (at += texts.length));
        return { passage, vectors: parts.filter((one) => one !== null) };
      });
      await index().call('embed', embedded);
    }
  }

  function tryLater(): void {
    if (closing.signal.aborted || embedder.fault !== undefined) return;
    clearTimeout(retry);
    retry = setTimeout(startEmbedding, RETRY_MS).unref();
  }

  function startEmbedding(): void {
    embedding ??= embedWaiting()
      .catch((error: unknown) => {
        onFault(error);
        tryLater();
      })
      .finally(() => (embedding = undefined));
  }

  async function findNow(query: FindQuery, withinMs: number, meaningWithinMs: number): Promise<Finding> {
    const started = performance.now();
    const made = await within(embedder.ask(query.text), meaningWithinMs);
    const vector = made === 'late' ? undefined : made;
    const left = withinMs - (performance.now() - started);
    const found = await index().call<Found>('find', query, vector ?? undefined, left);
    if (found.pending > 0) startEmbedding();
    const lacks: Finding['lacks'] = [];
    if (vector === undefined) lacks.push('meaning');
    if (found.pending > 0 && vector?.isSure === true) lacks.push('vectors');
    return { ...found, lacks };
  }

  return {
    backend: qdrant === undefined ? 'embedded' : 'qdrant',
    async place(workspace_id) {
      const place = await index().call<number | undefined>('place', workspace_id);
      // What waited for its vectors when the hub ended waits no longer.
      startEmbedding();
      return place;
    },
    workspaces: () => index().call('workspaces'),
    known: (workspace_id) => index().call('known', workspace_id),
    renumber: (documents) => index().call('renumber', documents),
    async apply(puts, drops, place) {
      await index().call('apply', puts, drops, place);
      if (puts.length > 0) startEmbedding();
    },
    dropBefore: (...args) => index().call('dropBefore', ...args),
    forget: (workspace_id) => index().call('forget', workspace_id),
    async find(query, withinMs, meaningWithinMs = withinMs / 2) {
      if (finding >= MOST_AT_ONCE)
        throw new ParleyError('UNAVAILABLE', 'too many searches are waiting; retry', {
          reason: 'busy',
          retry_after_ms: 500,
        });
      finding++;
      try {
        return await findNow(query, withinMs, meaningWithinMs);
      } finally {
        finding--;
      }
    },
    sentences: (...args) => index().call('sentences', ...args),
    async settled() {
      startEmbedding();
      await embedding;
    },
    async close() {
      closing.abort();
      clearTimeout(retry);
      await embedding;
      await port?.close();
    },
  };
}

/** A name by which this folder's collections are told from those of other hubs at the same Qdrant. */
function ownerOf(folder: string): string {
  const path = join(folder, 'search-owner');
  if (!existsSync(path)) writeWholeSync(path, randomBytes(6).toString('hex'));
  const owner = readFileSync(path, 'utf8').trim();
  if (!/^[0-9a-f]{12}$/.test(owner)) throw new Error(`${path} holds no name; delete it and start anew`);
  return owner;
}

async function within<T>(work: Promise<T>, ms: number): Promise<T | 'late'> {
  if (ms <= 0) return 'late';
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), ms)));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
