export type { FindQuery, FoundPassage, IndexedDocument, KnownDocument, Sentence } from './index-words.ts';
export { type Finding, INDEX_FILE, openSearch, type Search } from './open-search.ts';
