import { hash } from 'node:crypto';

import {
  DOCUMENT_TYPES,
  type DocumentMetadata,
  type DocumentType,
  LIMITS,
  ParleyError,
  fieldsOf,
  isOneOf,
} from '@parley/protocol';

import { invalid } from '../draft.ts';
import type { PutRecord } from '../records.ts';
import { contentKey, type DocumentRecord } from './document-records.ts';
import { linksIn, namesOf } from './links.ts';

type Fields = Record<string, unknown>;

/** What somebody wrote, once it was found to be a document. */
interface CheckedDocument {
  content: { mime_type: DocumentType; body: string };
  metadata: DocumentMetadata;
  is_human_readable: boolean;
}

/** Holds what a patch has left of a document against what a document must be. */
export function checkDocument({ content, metadata, is_human_readable = true }: Fields): CheckedDocument {
  const { mime_type, body } = fieldsOf(content);
  if (typeof body !== 'string') throw invalid('content.body', 'content.body: a document needs a text');
  if (Buffer.byteLength(body) > LIMITS.document_bytes)
    throw invalid('content.body', `content.body: is longer than ${LIMITS.document_bytes} bytes`);
  if (!isOneOf(DOCUMENT_TYPES, mime_type))
    throw invalid('content.mime_type', `content.mime_type: must be one of ${DOCUMENT_TYPES.join(', ')}`);
  if (typeof is_human_readable !== 'boolean')
    throw invalid('is_human_readable', 'is_human_readable: must be true or false');
  checkMetadata(fieldsOf(metadata));
  return {
    content: { mime_type, body },
    // Its fields were checked one by one.
    metadata: metadata as DocumentMetadata,
    is_human_readable,
  };
}

function checkMetadata(metadata: Fields): void {
  const { title, tags, source, last_editor } = metadata;
  checkText('title', title, LIMITS.title_bytes);
  if (source !== undefined) checkText('source', source, LIMITS.source_bytes);
  if (last_editor !== undefined) checkText('last_editor', last_editor, 128);
  if (tags !== undefined) {
    if (!Array.isArray(tags) || tags.length > LIMITS.tags)
      throw invalid('metadata.tags', `metadata.tags: must be a list of at most ${LIMITS.tags} texts`);
    for (const tag of tags) checkText('tags', tag, LIMITS.tag_bytes);
  }
  if (JSON.stringify(metadata).length > LIMITS.metadata_bytes)
    throw invalid('metadata', `metadata: is longer than ${LIMITS.metadata_bytes} bytes`);
}

function checkText(field: string, value: unknown, maxBytes: number): void {
  if (typeof value !== 'string' || value === '' || Buffer.byteLength(value) > maxBytes)
    throw invalid(`metadata.${field}`, `metadata.${field}: must be a text of 1 to ${maxBytes} bytes`);
}

/** What follows from a text and its metadata. */
export function derived(written: CheckedDocument, before?: DocumentRecord) {
  const { content, metadata, is_human_readable } = written;
  const { mime_type, body } = content;
  const sha256 = hash('sha256', body, 'hex');
  const names = namesOf(metadata);
  const held = before === undefined ? [] : [...before.former, ...namesOf(before.metadata)];
  return {
    metadata,
    is_human_readable,
    mime_type,
    bytes: Buffer.byteLength(body),
    sha256,
    links: mime_type === 'text/markdown' ? linksIn(body) : [],
    former: [...new Set(held)].filter((name) => !names.includes(name)).slice(-MAX_FORMER),
  };
}

const MAX_FORMER = 50;

/** The record that keeps a text. */
export function contentRecord(workspace_id: string, document: DocumentRecord, body: string): PutRecord {
  const { document_id, sha256, created_by } = document;
  const value = { document_id, sha256, body };
  const key = contentKey(document_id, sha256);
  return { kind: 'content', workspace_id, key, mark: '', owner: created_by, value };
}

/** The refusal to go on without a text that must be there. */
export function textMissing(id: string): ParleyError {
  return new ParleyError('INTERNAL', `the text of document ${id} is missing; run \`parley doctor\``);
}
