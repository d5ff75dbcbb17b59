import * as z from 'zod';

import { contract, READS, WRITES } from './contract.ts';
import { TREE_ROOT } from './document-words.ts';
import {
  Document,
  DocumentContent,
  DocumentId,
  DocumentMetadata,
  DocumentRevision,
  DocumentSummary,
  ParentId,
  Revision,
  WebUri,
} from './documents.ts';
import { IdempotencyKey, ThreadId, Timestamp } from './entities.ts';
import { ERROR_CODES } from './errors.ts';
import { LIMITS } from './limits.ts';
import { After, Limit, NextAfter } from './pages.ts';
import { storableText } from './text.ts';

const LastKnown = Revision.optional().describe('refused if the document has another revision by now');

/** What every change of a document answers. */
const Changed = z.object({ id: DocumentId, revision: Revision });

const createDocument = contract({
  name: 'create_document',
  version: '1.0.0',
  title: 'Create a document',
  description: 'A new document of the knowledge tree, the last one under its parent.',
  input: z.object({
    document_id: DocumentId.describe('a UUID of your choice'),
    parent_id: ParentId,
    content: DocumentContent,
    metadata: DocumentMetadata,
    is_human_readable: z.boolean().default(true),
    created_at: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('when it was written, if that was before now'),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Changed.extend({ web_uri: WebUri.optional() }),
  annotations: WRITES,
  essential: false,
  cost: 'message',
  holdsDocuments: true,
});

const importDocuments = contract({
  name: 'import_documents',
  version: '1.0.0',
  title: 'Import documents',
  description:
    'Brings documents to what is given: made, moved or rewritten; what is so already is left alone. Parents come before their children.',
  input: z.object({
    documents: z
      .array(
        z.object({
          document_id: DocumentId,
          parent_id: ParentId,
          content: DocumentContent,
          metadata: DocumentMetadata,
          is_human_readable: z.boolean().default(true),
        }),
      )
      .min(1)
      .max(LIMITS.documents_at_once),
  }),
  output: z.object({
    results: z
      .array(
        z.object({
          document_id: DocumentId,
          outcome: z.enum(['created', 'updated', 'unchanged', 'refused']),
          revision: Revision.optional(),
          error: z
            .object({
              code: z.enum(ERROR_CODES),
              message: z.string(),
              retry_after_ms: z.number().optional(),
            })
            .optional(),
        }),
      )
      .describe('in the order of the documents'),
  }),
  annotations: WRITES,
  essential: false,
  cost: 'write',
  holdsDocuments: true,
});

const promoteThread = contract({
  name: 'promote_thread',
  version: '1.0.0',
  title: 'Promote a thread to a document',
  description:
    'A settled thread becomes a document: findings and what became of them, work, course, words; each statement cites its entry.',
  input: z.object({
    thread_id: ThreadId.describe('a resolved or closed thread'),
    parent_id: ParentId.default(TREE_ROOT),
    document_id: DocumentId.optional().describe('a UUID of your choice; else one that belongs to the thread'),
    title: storableText({ maxBytes: LIMITS.title_bytes }).optional().describe("else the thread's own"),
    tags: z
      .array(storableText({ maxBytes: LIMITS.tag_bytes }))
      .max(LIMITS.tags)
      .optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Changed.extend({
    web_uri: WebUri.optional(),
    thread_id: ThreadId,
    cited: z.number().int().min(0).describe('entries it rests on'),
  }),
  annotations: WRITES,
  essential: false,
  cost: 'message',
});

const updateDocument = contract({
  name: 'update_document',
  version: '1.0.0',
  title: 'Update a document',
  description:
    'JSON Merge Patch: null removes a field. Only what update_mask names changes; a named field that the patch lacks is removed.',
  input: z.object({
    document_id: DocumentId,
    patch: z.object({
      content: z.record(z.string(), z.unknown()).nullable().optional(),
      metadata: z.record(z.string(), z.unknown()).nullable().optional(),
      is_human_readable: z.boolean().nullable().optional(),
    }),
    update_mask: z
      .array(z.string().min(1).max(256))
      .min(1)
      .max(LIMITS.mask_paths)
      .describe('such as content.body, metadata.tags, metadata'),
    last_known_revision: LastKnown,
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Changed,
  annotations: WRITES,
  essential: false,
  cost: 'message',
  strict: true,
  holdsDocuments: true,
});

const deleteDocument = contract({
  name: 'delete_document',
  version: '1.0.0',
  title: 'Delete a document',
  description: 'It and all below it go, now or at delete_at; they can be restored for 90 days.',
  input: z.object({
    document_id: DocumentId,
    reason: storableText({ maxBytes: LIMITS.reason_bytes }).optional(),
    delete_at: z.iso.datetime({ offset: true }).optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Changed.extend({ deleted: z.boolean(), delete_at: Timestamp, purge_at: Timestamp }),
  annotations: { ...WRITES, destructiveHint: true },
  essential: false,
  cost: 'message',
  strict: true,
});

const restoreDocument = contract({
  name: 'restore_document',
  version: '1.0.0',
  title: 'Restore a deleted document',
  description: 'Brings back a deleted document and what went with it, or calls off a planned deletion.',
  input: z.object({ document_id: DocumentId, idempotency_key: IdempotencyKey.optional() }),
  output: Changed,
  annotations: WRITES,
  essential: false,
  cost: 'message',
  strict: true,
});

const moveDocument = contract({
  name: 'move_document',
  version: '1.0.0',
  title: 'Move a document',
  description:
    'Under another parent or to another place among its siblings; last unless position says where.',
  input: z.object({
    document_id: DocumentId,
    new_parent_id: ParentId,
    position: z
      .object({
        ordering: z.number().int().min(0).max(1_000_000).optional().describe('0 is the first place'),
        before: z.string().min(1).max(128).optional().describe('a sibling; counts before ordering'),
      })
      .optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Changed.extend({ parent_id: z.string(), order: z.string() }),
  annotations: WRITES,
  essential: false,
  cost: 'message',
  strict: true,
});

const getDocument = contract({
  name: 'get_document',
  version: '1.0.0',
  title: 'Get a document',
  description: 'A document with its text, as it is or as it was in a revision.',
  input: z.object({ document_id: DocumentId, revision: Revision.optional() }),
  output: z.object({
    document: Document,
    path: z
      .array(z.object({ document_id: DocumentId, title: z.string() }))
      .describe('the documents above it, the topmost first'),
    thread_id: ThreadId.describe('the log of the tree: follow it to hear of every change'),
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/documents/{document_id}' },
  essential: false,
});

const listDocuments = contract({
  name: 'list_documents',
  version: '1.0.0',
  title: 'List documents',
  description: 'The documents right under a parent, in their order, without their texts.',
  input: z.object({
    parent_id: ParentId.default(TREE_ROOT),
    deleted: z.boolean().default(false).describe('those that are deleted, instead of those that are there'),
    title: storableText({ maxBytes: LIMITS.title_bytes }).optional().describe('only those of this title'),
    limit: Limit,
    after: After,
  }),
  output: z.object({
    documents: z.array(
      DocumentSummary.extend({
        has_children: z.boolean().describe('others hang below it, of the kind that was asked for'),
      }),
    ),
    next_after: NextAfter,
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/documents' },
  essential: false,
});

const exportDocuments = contract({
  name: 'export_documents',
  version: '1.0.0',
  title: 'Export all documents',
  description: 'Every document that is there, with its text, page by page, in the order of their ids.',
  input: z.object({ limit: Limit, after: After }),
  output: z.object({ documents: z.array(Document), next_after: NextAfter }),
  annotations: READS,
  essential: false,
});

const getDocumentHistory = contract({
  name: 'get_document_history',
  version: '1.0.0',
  title: 'Get the history of a document',
  description: 'Every change of a document, the newest first.',
  input: z.object({ document_id: DocumentId, limit: Limit, after: After }),
  output: z.object({
    revisions: z.array(DocumentRevision),
    deleted: z.boolean().optional().describe('true: the document is deleted'),
    next_after: NextAfter,
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/documents/{document_id}/history' },
  essential: false,
});

const revertDocument = contract({
  name: 'revert_document',
  version: '1.0.0',
  title: 'Revert a document to a revision',
  description: 'Text, metadata and readability as they were in a revision, as a new revision.',
  input: z.object({
    document_id: DocumentId,
    revision: Revision,
    last_known_revision: LastKnown,
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: Changed,
  annotations: WRITES,
  essential: false,
  cost: 'message',
  strict: true,
});

const getDocumentLinks = contract({
  name: 'get_document_links',
  version: '1.0.0',
  title: 'Get the links of a document',
  description: 'Where a document links to, and which documents link to it.',
  input: z.object({ document_id: DocumentId, limit: Limit, after: After }),
  output: z.object({
    links: z.array(
      z.object({
        name: z.string().describe('as it is written: a title, a file name or an id'),
        document_id: DocumentId.nullable().describe('null while nothing has that name'),
        title: z.string().nullable(),
      }),
    ),
    backlinks: z.array(z.object({ document_id: DocumentId, title: z.string() })),
    next_after: NextAfter,
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/documents/{document_id}/links' },
  essential: false,
});

/** By name: the table of contracts takes them from here. */
export const documentContracts = {
  create_document: createDocument,
  promote_thread: promoteThread,
  update_document: updateDocument,
  delete_document: deleteDocument,
  restore_document: restoreDocument,
  move_document: moveDocument,
  get_document: getDocument,
  list_documents: listDocuments,
  import_documents: importDocuments,
  export_documents: exportDocuments,
  get_document_history: getDocumentHistory,
  revert_document: revertDocument,
  get_document_links: getDocumentLinks,
};
