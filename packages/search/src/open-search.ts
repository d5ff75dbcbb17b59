import { join } from 'node:path';

import { createEmbedder } from './embedder.ts';
import type { FindQuery, Found, IndexedDocument, KnownDocument, Sentence } from './index-words.ts';
import type { Dropped } from './passage-index.ts';
import { ThreadPort } from './thread-port.ts';

export interface SearchOptions {
  folder: string;
  /** How long the model stays in memory after its last use. */
  modelIdleMs?: number;
  onFault: (error: unknown) => void;
}

/** What was found, and what was left out for lack of time. */
export interface Finding extends Found {
  /** What the answer lacks: the model was not ready, or passages have no vectors yet. */
  lacks: ('meaning' | 'vectors')[];
}

/** Documents found by their words and their meaning. Threads start with the first need. */
export interface Search {
  place(): Promise<number | undefined>;
  workspaces(): Promise<string[]>;
  known(workspace_id: string): Promise<KnownDocument[]>;
  apply(puts: readonly IndexedDocument[], drops: readonly Dropped[], place?: number): Promise<void>;
  forget(workspace_id: string): Promise<void>;
  /** Answers within the time it is given, if need be without the vectors. */
  find(query: FindQuery, withinMs: number): Promise<Finding>;
  /** The sentences of some passages that answer a question. */
  sentences(question: string, passages: readonly string[], count: number): Promise<Sentence[]>;
  /** Resolves when every passage has its vector, or there is no model. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export const INDEX_FILE = 'search.db';
const AT_ONCE = 16;

/** The search of one data folder: its index is a file of its own beside the log, and can be thrown away. */
export function openSearch({ folder, modelIdleMs = 300_000, onFault }: SearchOptions): Search {
  const embedder = createEmbedder(modelIdleMs, onFault);
  let port: ThreadPort | undefined;
  let embedding: Promise<void> | undefined;
  const closing = new AbortController();

  const index = (): ThreadPort => {
    if (port === undefined || port.isGone) port = new ThreadPort({ path: join(folder, INDEX_FILE) });
    return port;
  };

  async function embedWaiting(): Promise<void> {
    while (!closing.signal.aborted && embedder.fault === undefined) {
      const waiting = await index().call<{ passage: number; text: string }[]>('waiting', AT_ONCE);
      if (waiting.length === 0) return;
      const made = await Promise.all(
        waiting.map(async ({ passage, text }) => ({
          passage,
          vector: await embedder.embed(text),
        })),
      );
      const vectors = made.filter(({ vector }) => vector !== undefined);
      if (vectors.length > 0) await index().call('embed', vectors);
    }
  }

  function startEmbedding(): void {
    embedding ??= embedWaiting()
      .catch(onFault)
      .finally(() => (embedding = undefined));
  }

  return {
    place: () => index().call('place'),
    workspaces: () => index().call('workspaces'),
    known: (workspace_id) => index().call('known', workspace_id),
    async apply(puts, drops, place) {
      await index().call('apply', puts, drops, place);
      if (puts.length > 0) startEmbedding();
    },
    forget: (workspace_id) => index().call('forget', workspace_id),
    async find(query, withinMs) {
      startEmbedding();
      const asked = embedder.ask(query.text);
      const made = await within(asked, withinMs);
      const vector = made === 'late' ? undefined : made;
      const found = await index().call<Found>('find', query, vector ?? undefined);
      const lacks: Finding['lacks'] = [];
      if (made === 'late') lacks.push('meaning');
      if (found.pending > 0 && vector?.isSure === true) lacks.push('vectors');
      return { ...found, lacks };
    },
    sentences: (...args) => index().call('sentences', ...args),
    async settled() {
      startEmbedding();
      await embedding;
    },
    async close() {
      closing.abort();
      await embedder.close();
      await embedding;
      await port?.close();
    },
  };
}

async function within<T>(work: Promise<T>, ms: number): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), ms)));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
