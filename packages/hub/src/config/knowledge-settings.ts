import { ENVELOPE_ACTIONS, keysOf } from '@parley/protocol';
import * as z from 'zod';

import { group, ms, plainUrl, secret, whole } from './setting-kinds.ts';

const Deprecated = z.strictObject({
  action: z.enum(keysOf(ENVELOPE_ACTIONS)),
  ends_at: z.iso.datetime({ offset: true }),
  use: z.string().min(1).max(200).optional().describe('what takes its place'),
});

/** Services and documents: envelopes, the queue, artifacts, search, and models that write. */
export const KNOWLEDGE = {
  envelope: group({
    requests_per_minute: whole(6_000, 1, 'envelopes a caller may send in a minute'),
    max_payload_bytes: whole(131_072, 1_024, 'size of the payload of an envelope'),
    max_query_bytes: whole(65_536, 1_024, 'size of the payload of an envelope that asks the documents'),
    max_artifact_bytes: whole(8_388_608, 1_024, 'size of arguments that an envelope names by artifact_uri'),
    kept_read_bytes: whole(
      1_073_741_824,
      0,
      'answers of reads that are kept of one workspace in a day for repeats under the same key, in bytes',
    ),
    max_concurrent: whole(10, 1, 'calls of one action that a workspace may have running at once'),
    max_waiting: whole(100, 0, 'calls of one action that may wait for their turn'),
    max_wait_ms: ms(5_000, 'how long they wait'),
    deprecated: z
      .array(Deprecated)
      .default([])
      .describe(
        'actions that are to end: `action`, `ends_at`, `use`; never within 30 days of telling who uses them',
      ),
  }),
  artifacts: group({
    max_bytes: whole(104_857_600, 1, 'size of an artifact'),
    types: z
      .array(z.string().regex(/^[a-z0-9]+\/[a-z0-9.+-]+$/, { error: 'must be a MIME type in lower case' }))
      .default([
        'text/plain',
        'text/markdown',
        'text/csv',
        'application/json',
        'application/pdf',
        'application/zip',
        'application/gzip',
        'image/png',
        'image/jpeg',
        'image/gif',
        'image/webp',
      ])
      .describe('MIME types that are taken; pages, SVG and programs do not belong here'),
    bucket: z
      .string()
      .regex(/^$|^(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*-agent-data(-[a-z0-9]+)+-[a-z0-9]+$/, {
        error:
          'must be named <prefix>-agent-data-<purpose>-<env>, in 63 lower-case letters, digits and dashes',
      })
      .default('')
      .describe('bucket that holds the bytes; empty: the data folder does'),
    service: z
      .enum(['gcs', 's3'])
      .default('gcs')
      .describe('how the bucket is spoken to: as Google Cloud Storage, or as S3'),
    endpoint: plainUrl('where the bucket is served; empty: by Google, or for s3 by Amazon in its region'),
    region: z
      .string()
      .regex(/^[a-z0-9-]{1,64}$/, { error: 'must be the name of a region, such as eu-central-1' })
      .default('us-east-1')
      .describe('region of a bucket of S3'),
    credentials: z
      .string()
      .default('')
      .describe(
        'JSON file that signs for the bucket: of a service account, or for s3 with access_key_id and secret_access_key',
      ),
  }),
  queue: group({
    tenant_concurrent: whole(8, 1, 'deliveries of one workspace that are carried out at once'),
    concurrent: whole(64, 1, 'deliveries that are carried out at once in all'),
    max_waiting: whole(50_000, 1, 'deliveries of one workspace that may wait'),
    ack_deadline_ms: z
      .number()
      .int()
      .min(10)
      .max(600_000)
      .default(30_000)
      .describe('how long carrying one out may take before it is tried again, in milliseconds'),
    max_attempts: whole(6, 1, 'attempts before a delivery is a dead letter'),
    retry_ms: z
      .number()
      .int()
      .min(1)
      .default(1_000)
      .describe('longest wait after the first failure, in milliseconds; each further one doubles it'),
    retry_max_ms: z
      .number()
      .int()
      .min(1)
      .max(86_400_000)
      .default(60_000)
      .describe('longest wait between two attempts, in milliseconds'),
    keep_done_ms: ms(86_400_000, 'how long the answer of a delivery is kept'),
    keep_dead_ms: ms(2_592_000_000, 'how long a dead letter is kept'),
  }),
  knowledge: group({
    agents_create_under: z
      .array(z.string().min(1))
      .default(['*'])
      .describe(
        'documents under which agents may create others; * is under any but not at the top, root is everywhere, an empty list nowhere',
      ),
    sweep_ms: z
      .number()
      .int()
      .min(50)
      .default(3_600_000)
      .describe(
        'how often what has had its time is swept, such as documents deleted 90 days ago, in milliseconds',
      ),
    model_idle_ms: z
      .number()
      .int()
      .min(1_000)
      .max(2_147_483_647)
      .default(300_000)
      .describe('how long the search model stays in memory after its last use, in milliseconds'),
    allow_noop: z
      .boolean()
      .default(false)
      .describe('let callers ask query_knowledge for no search (noop_qdrant), to test themselves'),
  }),
  search: group({
    qdrant: group({
      url: plainUrl('Qdrant that keeps the index instead of the data folder; empty: none'),
      ...secret('Qdrant'),
      timeout_ms: ms(10_000, 'how long Qdrant may take for what is not a question'),
    }),
    embeddings: group({
      endpoint: plainUrl(
        'OpenAI-compatible base URL that makes the vectors; empty: the model that comes with the hub',
      ),
      model: z.string().default('').describe('model name for vectors; another one has all vectors made anew'),
      dimensions: z
        .number()
        .int()
        .min(1)
        .max(16_384)
        .default(1_536)
        .describe('how many numbers its vectors have; others are refused'),
      ...secret('the endpoint'),
      timeout_ms: ms(20_000, 'how long the endpoint may take'),
      batch: z.number().int().min(1).max(1_024).default(32).describe('how many texts it is sent at once'),
      english_only: z
        .boolean()
        .default(false)
        .describe('its model knows English alone: other texts are left to their words'),
    }),
    model: group({
      folder: z
        .string()
        .default('')
        .describe(
          'folder of an ONNX model of your own that makes the vectors (config.json, tokenizer.json, onnx/model.onnx); empty: the one that comes with the hub',
        ),
      tokens: whole(256, 16, 'how many tokens of a text it is given; passages are cut to fit'),
      pooling: z
        .enum(['mean', 'first'])
        .default('mean')
        .describe('how the vectors of the tokens become one: their mean, or the first of them'),
      ask_prefix: z.string().default('').describe('what it wants to stand before a question'),
      text_prefix: z.string().default('').describe('what it wants to stand before a text'),
      english_only: z
        .boolean()
        .default(false)
        .describe('it knows English alone: other texts are left to their words'),
    }),
    messages: group({
      index: z
        .enum(['asked', 'always', 'never'])
        .default('asked')
        .describe('when messages are indexed by meaning: from the first hybrid search on, always, or never'),
      keep: whole(20_000, 100, 'how many of the newest entries of each workspace that index holds'),
    }),
  }),
  answer: group({
    endpoint: z
      .string()
      .default('')
      .describe(
        'OpenAI-compatible base URL that may write answers from documents; empty: their own sentences',
      ),
    model: z.string().default('').describe('model name for answers'),
    api_key_env: z.string().default('').describe('environment variable that holds the key for the endpoint'),
  }),
  summary: group({
    endpoint: z
      .string()
      .default('')
      .describe('OpenAI-compatible base URL that may write summaries; empty: none'),
    model: z.string().default('').describe('model name for summaries'),
    api_key_env: z.string().default('').describe('environment variable that holds the key for the endpoint'),
    timeout_ms: ms(20_000, 'how long the model may take before the rules write the summary'),
  }),
};
