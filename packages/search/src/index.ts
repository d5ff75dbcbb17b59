export { createModelEmbedder, type Embedder } from './embedder.ts';
export { createEndpointEmbedder } from './endpoint-embedder.ts';
export type { IndexedDocument } from './index-words.ts';
export { askEndpoint, type ModelEndpoint } from './model-endpoint.ts';
export { chooseModel } from './model-files.ts';
export { checkIndex, dropIndex } from './open-index.ts';
export { INDEX_FILES, openSearch, type Search } from './open-search.ts';
export { checkQdrant } from './qdrant.ts';
