import type { DocumentContent, DocumentMetadata, OutputOf } from '@parley/protocol';

import type { InThread } from '../command.ts';
import type { Order } from '../envelope/commands.ts';
import type { Ignored } from '../results.ts';

/** `thread_id` of all that concerns documents is the log of the workspace's tree. */
type InTree<T extends string, I, R> = InThread<T, I, R | Ignored> & { order?: Order };
export type CreateDocument = InTree<
  'create_document',
  {
    document_id: string;
    parent_id: string;
    content: DocumentContent;
    metadata: DocumentMetadata;
    is_human_readable: boolean;
    created_at?: string;
  },
  OutputOf<'create_document'>
> & {
  /** The documents under which agents may make others. */
  agents_create_under: readonly string[];
};
export type UpdateDocument = InTree<
  'update_document',
  {
    document_id: string;
    patch: Record<string, unknown>;
    update_mask: readonly string[];
    last_known_revision?: number;
  },
  OutputOf<'update_document'>
>;
export type DeleteDocument = InTree<
  'delete_document',
  { document_id: string; reason?: string; delete_at?: string },
  OutputOf<'delete_document'>
>;
export type RestoreDocument = InTree<
  'restore_document',
  { document_id: string },
  OutputOf<'restore_document'>
>;
export type MoveDocument = InTree<
  'move_document',
  { document_id: string; new_parent_id: string; position?: { ordering?: number; before?: string } },
  OutputOf<'move_document'>
>;
export type RevertDocument = InTree<
  'revert_document',
  { document_id: string; revision: number; last_known_revision?: number },
  OutputOf<'revert_document'>
>;
/** The hub itself gives a document and those around it short keys when its key has grown long. */
export type TidyOrder = InThread<'tidy_order', { document_id: string }>;
/** The hub itself forgets what was deleted long ago, a part at a time. */
export type PurgeDocument = InThread<
  'purge_document',
  { document_id: string },
  { purged: number; more: boolean }
>;

/** What changes the tree of documents. */
export type DocumentCommands =
  | CreateDocument
  | UpdateDocument
  | DeleteDocument
  | RestoreDocument
  | MoveDocument
  | RevertDocument
  | TidyOrder
  | PurgeDocument;
