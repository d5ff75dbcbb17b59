import * as z from 'zod';

import { DOCUMENT_ACTIONS, DOCUMENT_TYPES } from './document-words.ts';
import { Timestamp } from './entities.ts';
import { LIMITS } from './limits.ts';
import { isStorable, Name, storableText } from './text.ts';

export const DocumentId = z.uuid().toLowerCase();

/** Where something is to hang: a document, or `root`. Unknown ones are missing, not malformed. */
export const ParentId = z.string().min(1).max(128).describe('a document, or root');

export const DocumentContent = z.object({
  mime_type: z.enum(DOCUMENT_TYPES),
  body: storableText({ min: 0, maxBytes: LIMITS.document_bytes }),
});
export type DocumentContent = z.infer<typeof DocumentContent>;

/** Beside the four words that are known, whatever its writers want to keep. */
export const DocumentMetadata = z
  .looseObject({
    title: storableText({ maxBytes: LIMITS.title_bytes }),
    tags: z
      .array(storableText({ maxBytes: LIMITS.tag_bytes }))
      .max(LIMITS.tags)
      .optional(),
    source: storableText({ maxBytes: LIMITS.source_bytes }).optional(),
    last_editor: storableText({ maxBytes: 128 }).optional(),
  })
  .refine((value) => JSON.stringify(value).length <= LIMITS.metadata_bytes && isStorable(value), {
    error: `must be at most ${LIMITS.metadata_bytes} bytes of JSON without NUL or lone surrogates`,
  });
export type DocumentMetadata = z.infer<typeof DocumentMetadata>;

export const Revision = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** A document without its text. */
export const DocumentSummary = z
  .object({
    document_id: DocumentId,
    parent_id: z.string(),
    order: z.string().describe('sorts siblings, byte by byte; then by document_id'),
    revision: Revision,
    metadata: DocumentMetadata,
    mime_type: z.enum(DOCUMENT_TYPES),
    bytes: z.number().int().min(0),
    sha256: z.string().describe('of the text, in hex'),
    is_human_readable: z.boolean(),
    created_at: Timestamp,
    created_by: Name,
    updated_at: Timestamp,
    updated_by: Name,
    deleted: z.boolean().optional().describe('true once it is deleted'),
    delete_at: Timestamp.optional().describe('it is gone from then on, with all below it'),
    deleted_by: Name.optional(),
    delete_reason: z.string().optional(),
    delete_root: DocumentId.optional().describe('the document with which it goes: itself, or one above it'),
    purge_at: Timestamp.optional().describe('its text and its history are gone for good from then on'),
  })
  .meta({ id: 'DocumentSummary' });
export type DocumentSummary = z.infer<typeof DocumentSummary>;

/** Where a person reads a document in a browser that is signed in. */
export const WebUri = z.string().describe('where a person reads it in a browser, if it is human readable');

export const Document = DocumentSummary.extend({
  content: DocumentContent,
  web_uri: WebUri.optional(),
}).meta({ id: 'Document' });
export type Document = z.infer<typeof Document>;

/** One change of a document, and how it stood after it. */
export const DocumentRevision = z
  .object({
    document_id: DocumentId,
    revision: Revision,
    action: z.enum(DOCUMENT_ACTIONS),
    at: Timestamp,
    by: Name,
    seq: z.number().int().min(0).describe('of its entry in the log of the tree'),
    changed: z.array(z.string()).describe('the fields it changed'),
    parent_id: z.string(),
    metadata: DocumentMetadata,
    is_human_readable: z.boolean(),
    mime_type: z.enum(DOCUMENT_TYPES),
    bytes: z.number().int().min(0),
    sha256: z.string(),
    reason: z.string().optional(),
  })
  .meta({ id: 'DocumentRevision' });
export type DocumentRevision = z.infer<typeof DocumentRevision>;
