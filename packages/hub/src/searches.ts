import { existsSync } from 'node:fs';
import { join } from 'node:path';

import {
  createBuiltInEmbedder,
  createEndpointEmbedder,
  type Embedder,
  INDEX_FILES,
  openSearch,
  type Search,
} from '@parley/search';

import type { Config } from './config/schema.ts';
import { readSecret } from './config/secret.ts';

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
  onNews: (text: string) => void,
): Searches {
  const { data: folder, search } = config;
  const { url, timeout_ms } = search.qdrant;
  const qdrant =
    url === '' ? undefined : { url, key: readSecret(search.qdrant, 'search.qdrant'), timeoutMs: timeout_ms };
  const embedder = createEmbedder(config, onFault);
  const common = { folder, embedder, qdrant, onFault, onNews };
  const documents = openSearch({ ...common, kind: 'documents' });
  const messages = openSearch({ ...common, kind: 'messages' });
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
  { knowledge, search: { embeddings } }: Config,
  onFault: (error: unknown) => void,
): Embedder {
  if (embeddings.endpoint === '') return createBuiltInEmbedder(knowledge.model_idle_ms, onFault);
  return createEndpointEmbedder({
    endpoint: embeddings.endpoint,
    model: embeddings.model,
    key: readSecret(embeddings, 'search.embeddings'),
    dimensions: embeddings.dimensions,
    timeoutMs: embeddings.timeout_ms,
    batch: embeddings.batch,
    englishOnly: embeddings.english_only,
    onFault,
  });
}
