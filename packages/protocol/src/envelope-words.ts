import { keysOf } from './read-unknown.ts';

/** Words of the envelope that the schemas of operations need as well. */
/** The ten codes of the envelope with their HTTP statuses. */
export const ENVELOPE_STATUS = {
  INVALID_ARGUMENT: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  UNPROCESSABLE_ENTITY: 422,
  CONFLICT: 409,
  RATE_LIMIT_EXCEEDED: 429,
  EXPIRED: 440,
  UNAVAILABLE: 503,
  INTERNAL: 500,
} as const;

export const ENVELOPE_CODES = keysOf(ENVELOPE_STATUS);

export type EnvelopeCode = keyof typeof ENVELOPE_STATUS;

/** The actions of the envelope and the operation behind each; its version is the operation's. */
export const ENVELOPE_ACTIONS = {
  'knowledge.create_document': 'create_document',
  'knowledge.update_document': 'update_document',
  'knowledge.delete_document': 'delete_document',
  'knowledge.move_document': 'move_document',
  'knowledge.restore_document': 'restore_document',
  'knowledge.revert_document': 'revert_document',
  'knowledge.query_knowledge': 'query_knowledge',
  'knowledge.get_document': 'get_document',
  'knowledge.list_documents': 'list_documents',
  'knowledge.get_document_history': 'get_document_history',
  'knowledge.get_document_links': 'get_document_links',
  'artifact.put': 'put_artifact',
  'artifact.get': 'get_artifact',
  'artifact.list': 'list_artifacts',
  'artifact.sign': 'sign_artifact_url',
  'registry.heartbeat': 'report_health',
  'registry.list': 'list_services',
  'queue.get': 'get_delivery',
  'queue.list': 'list_deliveries',
  'queue.redrive': 'redrive_deliveries',
} as const;

export type EnvelopeAction = keyof typeof ENVELOPE_ACTIONS;

export const ENVELOPE_ACTION_NAMES = keysOf(ENVELOPE_ACTIONS);
