export { createBuiltInEmbedder, type Embedder } from './embedder.ts';
export { createEndpointEmbedder } from './endpoint-embedder.ts';
export type { FindQuery, FoundPassage, IndexedDocument, KnownDocument, Sentence } from './index-words.ts';
export { type Finding, INDEX_FILES, openSearch, type Search } from './open-search.ts';
export type { QdrantPlace } from './qdrant.ts';
