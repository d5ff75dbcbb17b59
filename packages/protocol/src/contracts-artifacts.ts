import * as z from 'zod';

import { contract, READS, WRITES } from './contract.ts';
import { IdempotencyKey, Timestamp } from './entities.ts';
import { LIMITS } from './limits.ts';
import { Name, storableText } from './text.ts';

const ArtifactId = z.string().min(1).max(64);
const Sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/i, { error: 'must be a SHA-256 in 64 hex digits' })
  .toLowerCase();
const Bytes = z.number().int().min(0);

/** A file that is kept under the hash of its bytes. */
export const Artifact = z
  .object({
    artifact_id: ArtifactId,
    name: z.string(),
    mime_type: z.string(),
    bytes: Bytes,
    sha256: Sha256,
    created_at: Timestamp,
    created_by: Name,
  })
  .meta({ id: 'Artifact' });
export type Artifact = z.infer<typeof Artifact>;

const putArtifact = contract({
  name: 'put_artifact',
  version: '1.0.0',
  title: 'Keep a file',
  description:
    'Keeps a small file as an artifact. Larger ones go as they are to POST /v1/artifacts?name=…, with their type as Content-Type.',
  input: z.object({
    name: storableText({ maxBytes: LIMITS.artifact_name_bytes }).describe('such as report.pdf'),
    mime_type: z.string().min(1).max(128).describe('one of those that the hub takes, such as text/plain'),
    content: z.string().optional().describe('the text'),
    content_base64: z.base64().optional().describe('or the bytes, in base64'),
    sha256: Sha256.optional().describe('refused if the bytes have another one'),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ artifact: Artifact }),
  annotations: WRITES,
  essential: false,
  cost: 'message',
});

const getArtifact = contract({
  name: 'get_artifact',
  version: '1.0.0',
  title: 'Get what is known of an artifact',
  description: 'Name, type, size and hash of an artifact; sign_artifact_url leads to its bytes.',
  input: z.object({ artifact_id: ArtifactId }),
  output: z.object({ artifact: Artifact }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/artifacts/{artifact_id}' },
  essential: false,
});

const listArtifacts = contract({
  name: 'list_artifacts',
  version: '1.0.0',
  title: 'List artifacts',
  description: 'The artifacts of the workspace, the newest first.',
  input: z.object({
    limit: z.number().int().min(1).max(LIMITS.page_max).default(LIMITS.page_default),
    after: z.string().min(1).max(64).optional().describe('next_after of the page before this one'),
  }),
  output: z.object({
    artifacts: z.array(Artifact),
    next_after: z.string().nullable().describe('where the next page begins; null: there is none'),
  }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/artifacts' },
  essential: false,
});

const signArtifactUrl = contract({
  name: 'sign_artifact_url',
  version: '1.0.0',
  title: 'Sign a URL for an artifact',
  description: 'A URL that needs no token and is good for GET alone, for 15 minutes at most.',
  input: z.object({
    artifact_id: ArtifactId,
    ttl_sec: z
      .number()
      .int()
      .min(1)
      .default(LIMITS.signed_url_sec)
      .describe(`how long it is good; more than ${LIMITS.signed_url_sec} is cut down to that`),
  }),
  output: z.object({
    artifact_uri: z.string(),
    artifact_hash: Sha256,
    method: z.literal('GET'),
    ttl_sec: z.number().int(),
    expires_at: Timestamp,
    artifact: Artifact,
  }),
  annotations: READS,
  essential: false,
});

/** By name: the table of contracts takes them from here. */
export const artifactContracts = {
  put_artifact: putArtifact,
  get_artifact: getArtifact,
  list_artifacts: listArtifacts,
  sign_artifact_url: signArtifactUrl,
};
