import { existsSync } from 'node:fs';
import { join } from 'node:path';

import {
  chooseModel,
  createModelEmbedder,
  createEndpointEmbedder,
  type Embedder,
  INDEX_FILES,
  openSearch,
  type Search,
} from '@parley/search';

import type { Config } from './config/schema.ts';
import { readKey } from './config/secret.ts';

/** What texts are found by, as the configuration wants it; all of it starts with the first need. */
export interface Searches {
  documents: Search;
  messages: Search;
  /** Whether the index of messages is to be kept level from the start. */
  keepsMessages: boolean;
  close(): Promise<void>;
}

/** Opens the search of documents and that of messages over one model. */
export function openSearches(
  config: Config,
  onFault: (error: unknown) => void,
  onThrownAway: (kind: 'documents' | 'messages', text: string) => void,
): Searches {
  const { data: folder, search } = config;
  const { url, timeout_ms } = search.qdrant;
  const qdrant =
    url === '' ? undefined : { url, key: readKey(search.qdrant, 'search.qdrant'), timeoutMs: timeout_ms };
  const embedder = createEmbedder(config, onFault);
  const open = (kind: 'documents' | 'messages'): Search =>
    openSearch({ folder, kind, embedder, qdrant, onFault, onNews: (text) => onThrownAway(kind, text) });
  const documents = open('documents');
  const messages = open('messages');
  const wasAsked = existsSync(join(folder, INDEX_FILES.messages));
  return {
    documents,
    messages,
    keepsMessages: search.messages.index === 'always' || (search.messages.index === 'asked' && wasAsked),
    async close() {
      await embedder.close();
      await Promise.all([documents.close(), messages.close()]);
    },
  };
}

/** What makes the vectors. */
export function createEmbedder(
  { knowledge, search: { embeddings, model } }: Config,
  onFault: (error: unknown) => void,
): Embedder {
  if (embeddings.endpoint === '') {
    const { folder, tokens, pooling, ask_prefix: ask, text_prefix: text, english_only: isEnglish } = model;
    const own = folder === '' ? undefined : chooseModel({ folder, tokens, pooling, ask, text, isEnglish });
    return createModelEmbedder(knowledge.model_idle_ms, onFault, own);
  }
  return createEndpointEmbedder({
    endpoint: embeddings.endpoint,
    model: embeddings.model,
    key: readKey(embeddings, 'search.embeddings'),
    dimensions: embeddings.dimensions,
    timeoutMs: embeddings.timeout_ms,
    batch: embeddings.batch,
    englishOnly: embeddings.english_only,
    onFault,
  });
}
