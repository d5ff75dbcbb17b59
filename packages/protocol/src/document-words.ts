/** What stands above every document; it is none itself. The store's thread needs these words and not their schemas. */
export const TREE_ROOT = 'root';

/** What a document may be written in. */
export const DOCUMENT_TYPES = ['text/markdown', 'text/plain', 'application/json'] as const;
export type DocumentType = (typeof DOCUMENT_TYPES)[number];

/** What can happen to a document, each in one entry of the tree's log. */
export const DOCUMENT_ACTIONS = ['created', 'updated', 'moved', 'deleted', 'restored', 'reverted'] as const;
export type DocumentAction = (typeof DOCUMENT_ACTIONS)[number];

/** How a service says it is. */
export const HEALTH = ['healthy', 'degraded'] as const;
